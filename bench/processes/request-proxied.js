// Sends GET requests to the URL of each task, for a time. Prepared requests on plain sockets leave the processor to the proxy.
import { once } from 'node:events';
import { connect } from 'node:net';
import { serveParent } from './child-process.js';

/** Sends a request on an idle connection. @param {import('node:net').Socket} socket @param {string} request */
function send(socket, request) {
  return /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      let text = '';
      const onData = (/** @type {string} */ chunk) => {
        text += chunk;
        const end = text.indexOf('\r\n\r\n');
        if (end < 0 || text.length < end + 4 + Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? Number.NaN)) return;
        socket.off('data', onData);
        if (text.startsWith('HTTP/1.1 200 ')) resolve();
        else reject(new Error(`unexpected response: ${text}`));
      };
      socket.on('data', onData);
      socket.write(request);
    })
  );
}

/** @param {{ url: string, concurrency: number, durationMs: number }} task */
async function measure({ url, concurrency, durationMs }) {
  const { host, hostname, port } = new URL(url);
  const request = `GET /v1.0/me?x=1 HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: bench\r\nAccept: application/json\r\n\r\n`;
  const startedAt = performance.now();
  let count = 0;
  const caller = async () => {
    const socket = connect(Number(port), hostname).setEncoding('latin1').setNoDelay();
    await once(socket, 'connect');
    while (performance.now() - startedAt < durationMs) {
      await send(socket, request);
      count++;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return (count * 1000) / (performance.now() - startedAt);
}

serveParent(measure);
