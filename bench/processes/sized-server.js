// An API: responds to GET /<size> with so many bytes, to any other GET with a small object, and to PUT with the number of bytes it received. Sends its origin to the parent.
import { createServer } from 'node:http';
import { listen, serveParent } from './child-process.js';

const body = JSON.stringify({ id: '1', displayName: 'Ada Lovelace', mail: 'ada@example.com' });
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
const chunk = Buffer.alloc(65_536);

const server = createServer((request, response) => {
  const size = Number(request.url?.slice(1));
  let received = 0;
  request.on('data', (data) => {
    received += data.length;
  });
  request.on('end', () => {
    if (request.method === 'PUT') return void response.end(String(received));
    if (!(size > 0)) return void response.writeHead(200, headers).end(body);
    let left = size;
    const write = () => {
      while (left > 0) {
        left -= chunk.length;
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on('drain', write);
    write();
  });
});
server.keepAliveTimeout = 120_000;
serveParent(() => undefined, await listen(server));
