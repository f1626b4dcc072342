import { describe, expect, it } from 'vitest';
import { TransportError } from '../../src/errors.ts';
import { findMetadata } from '../../src/flows/read-metadata.ts';
import type { ApiLimits, CallApi } from '../../src/ports.ts';
import { fakePorts } from '../support/ports.ts';
import { loginProfileOf } from '../support/profiles.ts';

const origin = 'https://id.example.com';
const login = loginProfileOf({
  type: 'custom',
  url: `${origin}/realms/demo/token`,
  client_id: 'app',
  options: { authorization_url: `${origin}/realms/demo/authorize` },
});
const document = { issuer: origin, authorization_endpoint: `${origin}/realms/demo/authorize` };
const inRealm = { ...document, issuer: `${origin}/realms/demo` };
const locations = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server/realms/demo',
  '/realms/demo/.well-known/openid-configuration',
] as const;
const [first, second, inserted, appended] = locations;
const failure = new TransportError('connection_failed', 'no network', { sent: false });

/** Finds the metadata if these paths have documents; an error fails the request. */
async function find(paths: Readonly<Record<string, unknown>>, signal?: AbortSignal) {
  const requests: [path: string, limits: ApiLimits][] = [];
  const callApi: CallApi = async ({ url: { pathname } }, limits) => {
    requests.push([pathname, limits]);
    const published = paths[pathname];
    if (published instanceof Error) throw published;
    const body = new TextEncoder().encode(JSON.stringify(published ?? document));
    return { status: published === undefined ? 404 : 200, statusText: '', headers: {}, body };
  };
  const found = await findMetadata(login, { callApi, ports: fakePorts() }, signal);
  return { found, requests, paths: requests.map(([path]) => path) };
}

describe('the metadata of a login', () => {
  it.each([
    ['at the root of the host', { [first]: document }, [first]],
    ['at the second URL if the first has no document', { [second]: document }, [first, second]],
    [
      'at the second URL if the first has the document of another server',
      { [first]: { ...document, issuer: 'https://evil.example' }, [second]: document },
      [first, second],
    ],
    ['with the path of the issuer inserted', { [inserted]: inRealm }, [first, second, inserted]],
    ['with the path of the issuer appended', { [second]: inRealm, [appended]: inRealm }, locations],
    [
      'at the last URL if those before it fail',
      { [second]: failure, [inserted]: failure, [appended]: inRealm },
      locations,
    ],
  ])('is found %s', async (_, published, expected) => {
    const { found, paths } = await find(published);
    expect(found?.issuer).toMatch(/^https:\/\/id\.example\.com(?:\/realms\/demo)?$/);
    expect(paths).toEqual(expected);
  });

  it('is unknown without a document; the requests share ten seconds and the signal of the caller', async () => {
    const { signal } = new AbortController();
    const { found, requests } = await find({}, signal);
    expect(found).toBeUndefined();
    expect(requests).toHaveLength(6);
    for (const [, limits] of requests) expect(limits).toMatchObject({ timeoutMs: 10_000, signal });
  });

  it('is an error if the server cannot be reached', async () => {
    await expect(find({ [first]: failure })).rejects.toBe(failure);
  });
});
