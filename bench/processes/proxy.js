// A proxy in front of the origin in the second argument: ours, or one that only passes requests on. Sends its URL to the parent, then its memory in bytes on each message.
import { Agent, createServer, request } from 'node:http';
import { createProxy } from '../../dist/proxy.js';
import { listen, serveParent } from './child-process.js';

const [, , kind, origin = '', tokenUrl = ''] = process.argv;
const { port } = new URL(origin);

async function startOurs() {
  const options = { origins: [origin] };
  const api = { type: 'custom', url: tokenUrl, grant_type: 'client_credentials', client_id: 'bench', options };
  return (await createProxy('api', { data: { api }, store: 'memory' })).url;
}

/** The lower bound: no token, no checks, no errors. */
function startBare() {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, response) => {
    const { url: path, method, headers } = incoming;
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent }, (received) => {
      response.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  return listen(server);
}

const url = await (kind === 'ours' ? startOurs() : startBare());
serveParent(() => process.memoryUsage.rss(), url);
