import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { createDpop } from '../../src/http/dpop.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { createTokenSource } from '../../src/token-source.ts';
import { useEmulator } from './fixture.ts';

const api = {
  type: 'custom',
  url: 'https://id.example.com/token',
  grant_type: 'client_credentials',
  client_id: 'robot',
  client_secret: 'robot-secret',
  options: { dpop: 'true' },
};
const userinfo = 'https://id.example.com/userinfo';

describe('the emulated custom server with DPoP', () => {
  const server = useEmulator({ profiles: { api }, clock: Date.now });
  const { options: _, type: __, url, ...form } = api;
  const dpop = createDpop({ now: Date.now });
  const key = dpop.createKey();
  const proof = (method: string, target: string, token?: string): string =>
    dpop.createProof(key, method, new URL(target), token === undefined ? undefined : new Secret(token)).reveal();

  it('issues a token that is bound to the key, and accepts it only with a proof', async () => {
    const { json } = await server.post(url, form, { DPoP: proof('POST', url) });
    expect(json.token_type).toBe('DPoP');
    expect(decodeJwt(json.access_token)).toMatchObject({ cnf: { jkt: dpop.thumbprint(key) } });
    const Authorization = `DPoP ${json.access_token}`;
    const call = (headers: Record<string, string>) => server.get(userinfo, headers).then(({ status }) => status);
    expect(await call({ Authorization, DPoP: proof('GET', userinfo, json.access_token) })).toBe(200);
    expect(await call({ Authorization })).toBe(401);
    expect(await call({ Authorization, DPoP: proof('GET', userinfo) })).toBe(401);
    expect(await call({ Authorization, DPoP: proof('POST', userinfo, json.access_token) })).toBe(401);
    expect(await call({ Authorization: `Bearer ${json.access_token}` })).toBe(401);
    const other = dpop.createProof(dpop.createKey(), 'GET', new URL(userinfo), new Secret(json.access_token)).reveal();
    expect(await call({ Authorization, DPoP: other })).toBe(401);
  });

  it.each([
    ['another method', proof('GET', url)],
    ['another URL', proof('POST', 'https://id.example.com/other')],
    ['a signature that does not match', `${proof('POST', url).slice(0, -6)}AAAAAA`],
    ['no content', ''],
  ])('rejects a proof with %s', async (_, DPoP) => {
    const { status, json } = await server.post(url, form, { DPoP });
    expect([status, json.error]).toEqual([400, 'invalid_dpop_proof']);
  });

  it('serves a profile with options.dpop', async () => {
    const options = { data: { api }, emulator: server.emulator, origins: ['https://id.example.com'] };
    expect((await createTokenSource('api', options).fetch(userinfo)).status).toBe(200);
  });
});
