import { afterAll, beforeAll } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/config.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { type ReceivedResponse, sendRequest } from '../support/send-request.ts';

type Fields = Record<string, string>;

/** An emulator that runs for all tests of a `describe` block, with a clock that only the tests advance. */
export interface EmulatorFixture {
  readonly emulator: Emulator;
  /** Epoch milliseconds. */
  now: number;
  get(url: string, headers?: Fields): Promise<ReceivedResponse>;
  post(url: string, form: Fields, headers?: Fields): Promise<ReceivedResponse>;
}

/** Starts an emulator before the tests of the block and closes it after them. */
export function useEmulator(options: EmulatorOptions = { profiles }): EmulatorFixture {
  let running: Emulator | undefined;
  beforeAll(async () => {
    running = await startEmulator({ clock: () => fixture.now, ...options });
  });
  afterAll(() => running?.close());
  const fixture: EmulatorFixture = {
    get emulator() {
      if (running === undefined) throw new Error('the emulator is not running yet');
      return running;
    },
    now: Date.parse('2026-01-01T00:00:00Z'),
    get: (url, headers = {}) => sendRequest(fixture.emulator, url, { headers }),
    post: (url, form, headers = {}) => sendRequest(fixture.emulator, url, { form, headers }),
  };
  return fixture;
}

/** A profile for each provider, with everything that the emulator can know. */
export const profiles = {
  graph: {
    type: 'microsoft',
    tenant_id: 'contoso.com',
    client_id: 'ms',
    client_secret: 'ms~secret',
    username: 'ada@contoso.com',
    password: 'pw-ada',
    refresh_token: 'ms-rt',
  },
  public: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'ms-public' },
  drive: { type: 'google', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' },
  org: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'o',
    client_secret: 'o-secret',
    username: 'bob',
    password: 'pw-bob',
    refresh_token: 'o-rt',
    scope: 'openid offline_access',
  },
  lab: {
    type: 'gitlab',
    client_id: 'l',
    client_secret: 'gloas-secret',
    username: 'root',
    password: 'pw-root',
    refresh_token: 'l-rt',
  },
  x: { type: 'twitter', client_id: 'key', client_secret: 'x-secret' },
  acme: {
    type: 'custom',
    url: 'https://login.example.test/oauth/token',
    client_id: 'c',
    client_secret: 'c secret',
    username: 'eve',
    password: 'pw-eve',
    refresh_token: 'c-rt',
  },
};

/** The token endpoint of each provider. */
export const tokenUrls = {
  microsoft: 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token',
  google: 'https://accounts.google.com/o/oauth2/token',
  okta: 'https://acme.okta.com/oauth2/default/v1/token',
  gitlab: 'https://gitlab.com/oauth/token',
  twitter: 'https://api.twitter.com/oauth2/token',
  custom: 'https://login.example.test/oauth/token',
};
