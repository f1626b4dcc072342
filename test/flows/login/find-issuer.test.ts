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

/** Finds the issuer if these paths have documents. An error is thrown. */
async function find(paths: Readonly<Record<string, unknown>>, signal?: AbortSignal) {
  const requests: [path: string, limits: Limits][] = [];
  const ports = fakePorts();
  const readDocument = async ({ pathname }: URL, _: unknown, limits: Limits): Promise<unknown> => {
    requests.push([pathname, limits]);
    if (paths[pathname] instanceof Error) throw paths[pathname];
    return paths[pathname];
  };
  const found = await findIssuer(login, ports, { readDocument }, signal);
  return { found, requests, lines: ports.lines };
}

describe('the issuer of a login', () => {
  it.each([
    ['at the first URL', { [first]: document }, [first]],
    ['at the second URL if the first has no document', { [second]: document }, [first, second]],
    [
      'at the second URL if the first has the document of another server',
      { [first]: { ...document, issuer: 'https://evil.example' }, [second]: document },
      [first, second],
    ],
    ['at the second URL if the first fails', { [first]: new Error('no'), [second]: document }, [first, second]],
  ])('is found %s', async (_, paths, expected) => {
    const { found, requests } = await find(paths);
    expect(found?.issuer).toBe(server);
    expect(requests.map(([path]) => path)).toEqual(expected);
  });

  it('is unknown without a document; each request has five seconds and the signal of the caller', async () => {
    const { signal } = new AbortController();
    const { found, requests } = await find({}, signal);
    expect(found).toBeUndefined();
    expect(requests.map(([, limits]) => limits)).toEqual(Array(2).fill({ timeoutMs: 5_000, signal }));
  });

  it('is unknown if every request fails, and the failures are logged', async () => {
    const { found, lines } = await find({ [first]: new Error('no network'), [second]: new Error('no network') });
    expect(found).toBeUndefined();
    expect(lines).toEqual([expect.stringContaining(first), expect.stringContaining(second)]);
  });
});
