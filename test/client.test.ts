import { getEventListeners } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Client, type ClientOptions, createClient, sharedClient } from '../src/client.ts';
import { serializeRecord } from '../src/flows/records.ts';
import { createFamily, loginKey } from '../src/flows/token-family.ts';
import { getToken } from '../src/get-token.ts';
import { findProvider } from '../src/providers/registry.ts';
import { Secret } from '../src/redaction/secret.ts';
import { createTestDirectory } from './support/directory.ts';
import { errorOf } from './support/errors.ts';
import { profileOf, variablesWith } from './support/profiles.ts';
import { serve } from './support/server.ts';
import { put } from './support/store.ts';

const environment = { env: {}, cwd: '/' };
const inMemory = (options: ClientOptions = {}): Client => createClient({ environment, store: 'memory', ...options });

describe('the clock of a client', () => {
  const { clock } = inMemory().ports;

  it('follows the system time, but does not go back with it', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const uptime = vi.spyOn(process, 'uptime').mockReturnValue(100);
    onTestFinished(() => {
      vi.useRealTimers();
      uptime.mockRestore();
    });
    const { clock } = inMemory().ports;
    const start = clock.now();
    vi.setSystemTime(start + 60_000);
    expect(clock.now()).toBe(start + 60_000);
    vi.setSystemTime(start - 3_600_000);
    expect(clock.now()).toBe(start + 60_000);
    uptime.mockReturnValue(105);
    vi.setSystemTime(start - 3_595_000);
    expect(clock.now()).toBe(start + 65_000);
  });

  it('sleeps and then removes its listener', async () => {
    const { signal } = new AbortController();
    await expect(clock.sleep(1, signal)).resolves.toBeUndefined();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('ends a sleep with the reason of an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('the reason');
    const sleeping = clock.sleep(3_600_000, controller.signal);
    controller.abort(reason);
    expect(await errorOf(sleeping)).toMatchObject({ code: 'aborted', cause: reason });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('does not sleep after an abort', async () => {
    const sleeping = clock.sleep(3_600_000, AbortSignal.abort('the reason'));
    expect(await errorOf(sleeping)).toMatchObject({ code: 'aborted', cause: 'the reason' });
  });
});

describe('the variables of a client', () => {
  it('come from the profile files, --data and --set, each of which overrides the former', async () => {
    const root = createTestDirectory();
    mkdirSync(join(root, 'config/oauth-profile'), { recursive: true });
    writeFileSync(join(root, 'config/oauth-profile/oauth-profiles.yaml'), 'own.scope: user\n');
    writeFileSync(
      join(root, 'oauth-profiles.yaml'),
      'svc.scope: directory\nsvc.audience: directory\nsvc.a: directory\n',
    );
    writeFileSync(join(root, 'given.yaml'), 'svc.audience: given\nsvc.a: given\n');
    const client = inMemory({ environment: { env: { XDG_CONFIG_HOME: join(root, 'config') }, cwd: root } });
    const variables = await client.loadVariables({
      files: ['given.yaml'],
      settings: [{ name: 'svc.a', value: 'set', line: undefined }],
    });
    const names = ['own.scope', 'svc.scope', 'svc.audience', 'svc.a'];
    expect(names.map((name) => variables.get(name)?.value)).toEqual(['user', 'directory', 'given', 'set']);
  });

  it('are those of the program if it passes data, and no file is read', async () => {
    const variables = await inMemory({ environment: { env: {}, cwd: '/missing' } }).loadVariables({
      data: { svc: { scope: 'a' } },
    });
    expect(variables.get('svc.scope')?.value).toBe('a');
  });
});

describe('a profile of a client', () => {
  const google = { type: 'google', client_id: 'a', client_secret: 'b', scope: 'c' };

  it('that lacks only a login fails with login_required', async () => {
    const error = await errorOf(inMemory().loadProfile('svc', variablesWith('svc', google)));
    expect(error).toMatchObject({ code: 'login_required', issues: [{ variable: 'svc.refresh_token' }] });
    expect(error.hint).toContain('oauth-profile login svc');
  });

  it('that lacks a login and more fails with profile_invalid', async () => {
    const { client_secret: _, ...fields } = google;
    expect(await errorOf(inMemory().loadProfile('svc', variablesWith('svc', fields)))).toMatchObject({
      code: 'profile_invalid',
    });
  });

  it('is completed with the stored login', async () => {
    const client = inMemory();
    const store = await client.openStore();
    const configured = profileOf({ ...google, refresh_token: 'x' });
    const binding = { origin: configured.url.origin, clientId: 'a' };
    await put(store, 'family', serializeRecord(createFamily(configured, new Secret('stored'), store)));
    await put(
      store,
      loginKey('svc', binding, store),
      serializeRecord({ kind: 'login', profile: 'svc', family: 'family', replaced: [], at: 0 }),
    );
    const profile = await client.loadProfile('svc', variablesWith('svc', google));
    expect(profile).toMatchObject({ grant: 'refresh_token', family: 'family' });
    const value = profile.fields.find(({ name }) => name === 'refresh_token')?.value;
    expect(value instanceof Secret && value.reveal()).toBe('stored');
  });
});

describe('the store of a client', () => {
  it('is opened once', async () => {
    const client = inMemory();
    expect(await client.openStore()).toBe(await client.openStore());
    await client.close();
  });

  it('is opened again after a failure', async () => {
    const client = createClient({ environment, store: 'redis://127.0.0.1:1' });
    const first = await errorOf(client.openStore());
    expect(await errorOf(client.openStore())).not.toBe(first);
    await client.close();
  });

  it('is in memory with an emulator, whatever store is configured', async () => {
    const emulator = { port: 1, ca: '' };
    const client = createClient({ environment, emulator, store: 'redis://127.0.0.1:1' });
    expect((await client.openStore()).location).toBe((await inMemory().openStore()).location);
  });

  it('need not be open to be closed', async () => {
    await expect(inMemory().close()).resolves.toBeUndefined();
  });
});

it.each([
  [true, 1],
  [false, 3],
])('a client with keepAlive: %s makes %i connections for three requests', async (keepAlive, connections) => {
  const server = await serve();
  const client = inMemory({ keepAlive });
  const fields = { type: 'custom', url: server.url, grant_type: 'client_credentials', client_id: 'me' };
  for (let call = 0; call < 3; call++) await getToken(client, 'svc', { variables: variablesWith('svc', fields) });
  expect(server.connections).toBe(connections);
});

it('library calls share a client if they have the same store or emulator', () => {
  const [one, other] = [
    { port: 1, ca: '' },
    { port: 1, ca: '' },
  ];
  expect(sharedClient({ store: 'memory' })).toBe(sharedClient({ store: 'memory' }));
  expect(sharedClient({})).not.toBe(sharedClient({ store: 'memory' }));
  expect(sharedClient({ emulator: one })).toBe(sharedClient({ emulator: one, store: 'memory' }));
  expect(sharedClient({ emulator: one })).not.toBe(sharedClient({ emulator: other }));
});

it('loads the catalogue of providers only for a profile with a type of it', async () => {
  const client = inMemory();
  await client.loadVariables({ data: { graph: { type: 'microsoft' }, any: { type: 'custom' } } });
  expect(findProvider('github')).toBeUndefined();
  await client.loadVariables({ data: { hub: { type: 'github' } } });
  expect(findProvider('github')).toBeDefined();
});
