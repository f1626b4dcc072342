import { form } from '../fixtures.js';

/** @type {import('../clients.js').Client['request']} */
export function request(url) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  const body = form().toString();
  return async () => {
    const response = await fetch(url, { method: 'POST', headers, body });
    return /** @type {{access_token: string}} */ (await response.json()).access_token;
  };
}
