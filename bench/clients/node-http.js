import http from 'node:http';
import { form } from '../fixtures.js';

/** The fastest possible request: body and headers are built once; no timeout, no size limit, no check of the response. @type {import('../clients.js').Client['request']} */
export function request(url) {
  const { hostname, port, pathname } = new URL(url);
  const body = form().toString();
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    Accept: 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  const options = {
    agent: new http.Agent({ keepAlive: true }),
    method: 'POST',
    host: hostname,
    port,
    path: pathname,
    headers,
  };
  return () =>
    new Promise((resolve, reject) => {
      const sent = http.request(options, (response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString()).access_token);
          } catch (error) {
            reject(error);
          }
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
}
