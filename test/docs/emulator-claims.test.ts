import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { basic, profiles, sendRequest, tokenUrls, useEmulator } from '../emulator/fixture.ts';
import { readPage } from './blocks.ts';

const page = readPage('docs/reference/emulator-claims.md');

/** The claims that the table of a provider lists for a kind of token. */
function listedClaims(provider: string, kind: 'access' | 'id'): string[] {
  const [, section = ''] = new RegExp(`^## ${provider}$(.*?)(?=^## |^\\[)`, 'ms').exec(page) ?? [];
  const rows = [...section.matchAll(/^\| (`[^|]*`) \|([^|]*)\|([^|]*)\|/gm)];
  return rows
    .filter(([, , access = '', id = '']) => (kind === 'access' ? access : id).trim() === '✓')
    .flatMap(([, names = '']) => names.replaceAll('`', '').split(', '))
    .sort();
}

const scope = 'openid profile email';
const user = { grant_type: 'password', username: 'bob@acme.test', password: 'pw-bob-acme' };
const requests = {
  microsoft: { form: { ...user, client_id: 'ms', client_secret: 'ms~secret', scope: `${scope} api://orders/read` } },
  okta: { form: { ...user, scope: `${scope} read` }, headers: basic('o', 'o-secret') },
  google: {
    form: { grant_type: 'refresh_token', refresh_token: 'g-rt', client_id: 'g', client_secret: 'g-secret', scope },
  },
  gitlab: { form: { ...user, client_id: 'l', client_secret: 'gloas-secret', scope } },
  custom: { form: { ...user, client_id: 'c', client_secret: 'c secret', scope } },
};

describe('docs/reference/emulator-claims.md lists exactly the claims of', () => {
  const server = useEmulator({
    profiles,
    users: { 'bob@acme.test': { password: 'pw-bob-acme', groups: ['builders'], roles: ['Task.Write'] } },
    signing: { alg: 'ES256' },
  });

  const claimsOf = (token: string): string[] => Object.keys(decodeJwt(token));

  it.each(Object.keys(requests) as (keyof typeof requests)[])('%s', async (provider) => {
    const url = tokenUrls[provider];
    const { json } = await sendRequest(server.emulator, url, requests[provider]);
    // The nonce comes with an authorization request, which the control API replaces here.
    const issued = await sendRequest(server.emulator, `${server.emulator.url}/_emulator/tokens`, {
      body: JSON.stringify({ host: new URL(url).host, type: 'id_token', user: 'bob@acme.test', scope, nonce: 'n' }),
      headers: { 'Content-Type': 'application/json' },
    });
    const idClaims = new Set([...claimsOf(json.id_token), ...claimsOf(issued.json.token)]);
    expect([...idClaims].sort()).toEqual(listedClaims(provider, 'id'));
    const isJwt = json.access_token.split('.').length === 3;
    expect(isJwt ? claimsOf(json.access_token).sort() : []).toEqual(listedClaims(provider, 'access'));
  });
});
