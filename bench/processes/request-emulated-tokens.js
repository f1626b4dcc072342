// Requests signed tokens from an emulator: for a time, or a number of them. Prepared requests on plain sockets leave the processor to
// the emulator.
import { once } from 'node:events';
import { connect } from 'node:net';
import { form } from '../fixtures.js';
import { serveParent } from './child-process.js';

const { hostname, port, host, pathname } = new URL(process.argv[2] ?? '');
const body = form().toString();
const request = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends a request on an idle connection and returns the token. @param {import('node:net').Socket} socket @returns {Promise<string>} */
function requestToken(socket) {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (/** @type {string} */ chunk) => {
      text += chunk;
      const [head = '', content = ''] = text.split('\r\n\r\n');
      if (content.length < Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN)) return;
      socket.off('data', onData);
      const [, token] = /"access_token":"([^"]+)"/.exec(content) ?? [];
      if (token === undefined) reject(new Error(`the emulator did not return a token: ${text}`));
      else resolve(token);
    };
    socket.on('data', onData);
    socket.write(request);
  });
}

/** @param {{ concurrency: number, durationMs?: number, count?: number }} task */
async function measure({ concurrency, durationMs = Number.MAX_VALUE, count: wanted = Number.MAX_VALUE }) {
  const startedAt = performance.now();
  let count = 0;
  const tokens = new Set();
  const caller = async () => {
    const socket = connect(Number(port), hostname).setEncoding('latin1').setNoDelay();
    await once(socket, 'connect');
    while (performance.now() - startedAt < durationMs && count < wanted) {
      count++;
      const token = await requestToken(socket);
      if (token.split('.').length !== 3 || tokens.has(token)) throw new Error('the emulator returned a wrong token');
      // Enough to notice a token that is issued twice.
      if (tokens.size < 1000) tokens.add(token);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return { count, rate: (count * 1000) / (performance.now() - startedAt) };
}

serveParent(measure);
