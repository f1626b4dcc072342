import { createPublicKey } from 'node:crypto';
import { expect, it, vi } from 'vitest';

/** The first key of an emulator, in a process with this variable. */
async function firstKey(alg: 'RS256' | 'ES256', variable: string | undefined) {
  vi.resetModules();
  vi.stubEnv('OAUTH_PROFILE_EMULATOR_KEY', variable);
  try {
    const { SigningKeys } = await import('../../../src/emulator/tokens/signing-keys.ts');
    return (await new SigningKeys(alg, undefined).jwks()).keys[0];
  } finally {
    vi.unstubAllEnvs();
  }
}

const given = String(process.env['OAUTH_PROFILE_EMULATOR_KEY']);

it('the first RSA key is that of OAUTH_PROFILE_EMULATOR_KEY', async () => {
  const { n, e } = createPublicKey(given).export({ format: 'jwk' });
  expect(await firstKey('RS256', given)).toMatchObject({ kty: 'RSA', n, e });
});

it('an emulator with another algorithm generates its key', async () => {
  expect(await firstKey('ES256', given)).toMatchObject({ kty: 'EC' });
});

it('a value that is not a key is rejected', async () => {
  await expect(firstKey('RS256', 'not a key')).rejects.toThrow('the signing key is neither');
});
