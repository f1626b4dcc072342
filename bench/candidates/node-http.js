import { Agent, request } from 'node:http';
import { form } from '../profile.js';

/** The floor: body and headers made once, no time-out, no limit, no check. @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const { hostname, port, pathname } = new URL(url);
  const body = form().toString();
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    Accept: 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  const options = {
    agent: new Agent({ keepAlive: true }),
    method: 'POST',
    host: hostname,
    port,
    path: pathname,
    headers,
  };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
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
