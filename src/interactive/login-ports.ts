import { createHash, randomBytes } from 'node:crypto';
import type { CallApi, EmulatorEndpoint, Environment, LoginPorts } from '../ports.ts';
import { openBrowser } from './browser.ts';
import { listenForRedirect } from './loopback-server.ts';

/** Creates the ports of an interactive login. With an emulator, the pages of the provider are the emulator's. */
export function createLoginPorts(
  env: Environment,
  callApi: CallApi,
  emulator: EmulatorEndpoint | undefined,
): LoginPorts {
  return {
    randomString: () => randomBytes(32).toString('base64url'),
    sha256: (value) => createHash('sha256').update(value.reveal()).digest('base64url'),
    listen: listenForRedirect,
    openBrowser: (url) => openBrowser(url, env),
    pageUrl({ href, host, pathname, searchParams }) {
      if (emulator === undefined) return href;
      const query = new URLSearchParams(searchParams);
      // The emulator then redirects as the real provider would, although its page has another URL.
      query.set('oauth_profile_page', '1');
      return `http://127.0.0.1:${emulator.port}/${host}${pathname}?${query}`;
    },
    callApi,
  };
}
