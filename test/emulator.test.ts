import { expect, it, onTestFinished, vi } from 'vitest';
import { startEmulator } from '../src/emulator.ts';
import { oauthProfile, Secret } from '../src/index.ts';

it('startEmulator() resolves the references of profiles as oauthProfile() does', async () => {
  vi.stubEnv('EMULATED_SECRET', 'the-secret-in-the-environment');
  onTestFinished(() => void vi.unstubAllEnvs());
  const data = {
    x: { type: 'twitter', client_id: 'app', client_secret: '${env:EMULATED_SECRET}' },
    y: { type: 'twitter', client_id: '${x.client_id}-2', client_secret: new Secret('the-secret-of-y') },
  };
  const emulator = await startEmulator({ profiles: data });
  onTestFinished(() => emulator.close());
  expect(await oauthProfile('x', { data, emulator })).toHaveProperty('access_token');
  expect(await oauthProfile('y', { data, emulator })).toHaveProperty('access_token');
  const wrong = { x: { ...data.x, client_secret: 'another-secret' } };
  await expect(oauthProfile('x', { data: wrong, emulator })).rejects.toMatchObject({ code: 'provider_rejected' });
});

it('startEmulator() rejects a reference to an undefined variable', async () => {
  const profiles = { x: { type: 'twitter', client_id: 'app', client_secret: '${env:NOT_DEFINED_HERE}' } };
  await expect(startEmulator({ profiles })).rejects.toMatchObject({ code: 'data_invalid' });
});
