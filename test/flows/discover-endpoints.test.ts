import { beforeEach, describe, expect, it } from 'vitest';
import { TransportError } from '../../src/errors.ts';
import { discoverEndpoints, type MetadataUse } from '../../src/flows/discover-endpoints.ts';
import type { ApiRequest } from '../../src/ports.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { fakePorts } from '../support/ports.ts';
import { parsedProfileOf } from '../support/profiles.ts';

const issuer = 'https://id.example.com';
const document = { issuer, token_endpoint: `${issuer}/token` };
const { options, name } = parsedProfileOf('svc', { type: 'oidc', issuer, client_id: 'app', client_secret: 's3cret' });

describe('discoverEndpoints()', () => {
  let now: number;
  let store: MemoryStore;
  let published: unknown;
  let status: number;
  let requests: ApiRequest[];
  beforeEach(() => {
    now = 1_000_000_000_000;
    store = new MemoryStore({ now: () => now });
    published = document;
    status = 200;
    requests = [];
  });

  const discover = (use: MetadataUse = 'cached') =>
    discoverEndpoints(
      { name, options, issuer },
      {
        ports: fakePorts({ clock: { now: () => now, sleep: async () => {} } }),
        openStore: async () => store,
        async callApi(request) {
          requests.push(request);
          if (published instanceof Error) throw published;
          return { status, statusText: '', headers: {}, body: new TextEncoder().encode(JSON.stringify(published)) };
        },
      },
      use,
      undefined,
    );

  it('reads the metadata once while it is valid, and sends nothing of the profile', async () => {
    expect(await discover()).toMatchObject({ tokenUrl: `${issuer}/token` });
    expect(await discover()).toMatchObject({ tokenUrl: `${issuer}/token` });
    expect(requests).toMatchObject([{ method: 'GET', body: undefined }]);
    expect(requests[0]?.headers.map(([header]) => header)).toEqual(['Accept', 'User-Agent']);
    now += 3_600_001;
    await discover();
    expect(requests).toHaveLength(2);
  });

  it('reads it again with reload, and stores nothing with unstored', async () => {
    await discover('unstored');
    expect(await store.list()).toEqual([]);
    await discover();
    published = { ...document, token_endpoint: `${issuer}/token2` };
    expect(await discover('reload')).toMatchObject({ tokenUrl: `${issuer}/token2` });
    expect(await discover()).toMatchObject({ tokenUrl: `${issuer}/token2` });
  });

  it('sends nothing with offline', async () => {
    expect(await discover('offline')).toBeUndefined();
    expect(requests).toEqual([]);
    await discover();
    now += 7_200_000;
    expect(await discover('offline')).toMatchObject({ tokenUrl: `${issuer}/token` });
    expect(requests).toHaveLength(1);
  });

  it('uses expired metadata if the server cannot be reached', async () => {
    await discover();
    now += 7_200_000;
    published = new TransportError('connection_failed', 'no network', { sent: false });
    expect(await discover()).toMatchObject({ tokenUrl: `${issuer}/token` });
    await expect(discover('reload')).rejects.toMatchObject({ code: 'connection_failed' });
  });

  it('does not use expired metadata if the server publishes that of another issuer', async () => {
    await discover();
    now += 7_200_000;
    published = { ...document, issuer: 'https://evil.example' };
    await expect(discover()).rejects.toMatchObject({ code: 'response_unreadable' });
  });

  it.each([
    [404, 'response_unreadable'],
    [302, 'response_unreadable'],
    [429, 'rate_limited'],
    [503, 'provider_unavailable'],
  ])('fails with HTTP %i at both locations', async (code, expected) => {
    status = code;
    await expect(discover()).rejects.toMatchObject({ code: expected, hint: expect.stringContaining('svc') });
    expect(requests).toHaveLength(2);
  });

  it('fails without a network, with a message that names the issuer', async () => {
    published = new TransportError('tls_failed', 'certificate expired', { sent: false, hint: 'renew it' });
    const message = expect.stringContaining(issuer);
    await expect(discover()).rejects.toMatchObject({ code: 'tls_failed', message, hint: 'renew it' });
  });
});
