import { describe, expect, it } from 'vitest';
import { findIssuer } from '../../../src/flows/login/find-issuer.ts';
import type { Limits } from '../../../src/ports.ts';
import { fakePorts } from '../../support/fake-ports.ts';
import { loginProfileOf } from '../../support/profile-of.ts';

const server = 'https://id.example.com';
const login = loginProfileOf({
  type: 'custom',
  url: `${server}/token`,
  client_id: 'app',
  options: { authorization_url: `${server}/authorize` },
});
const document = { issuer: server, authorization_endpoint: `${server}/authorize` };
const first = '/.well-known/oauth-authorization-server';
const second = '/.well-known/openid-configuration';

/** Looks where each path has a document, or none. */
async function find(paths: Readonly<Record<string, unknown>>, signal?: AbortSignal) {
  const asked: [string, Limits][] = [];
  const readDocument = async ({ pathname }: URL, _: unknown, bounds: Limits): Promise<unknown> => {
    asked.push([pathname, bounds]);
    return paths[pathname];
  };
  return { found: await findIssuer(login, fakePorts(), { readDocument }, signal), asked };
}

describe('the issuer of a sign-in', () => {
  it.each([
    ['at the first address', { [first]: document }, [first]],
    ['at the second where the first has nothing', { [second]: document }, [first, second]],
    [
      'at the second where the first is about another server',
      { [first]: { ...document, issuer: 'https://evil.example' }, [second]: document },
      [first, second],
    ],
  ])('is found %s', async (_, paths, expected) => {
    const { found, asked } = await find(paths);
    expect(found?.issuer).toBe(server);
    expect(asked.map(([path]) => path)).toEqual(expected);
  });

  it('is asked for within five seconds each, and not for who has left', async () => {
    const { signal } = new AbortController();
    const { found, asked } = await find({}, signal);
    expect(found).toBeUndefined();
    expect(asked.map(([, bounds]) => bounds)).toEqual(Array(2).fill({ timeoutMs: 5_000, signal }));
  });
});
