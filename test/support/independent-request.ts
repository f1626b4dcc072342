import { expect } from 'vitest';
import { createClient } from '../../src/client.ts';
import type { DataObject } from '../../src/config/flatten.ts';
import { ProviderError } from '../../src/errors.ts';
import { requestToken } from '../../src/flows/request-token.ts';
import type { TokenResponse } from '../../src/oauth-profile.ts';
import type { EmulatorEndpoint } from '../../src/ports.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import { leaksIn } from './leaks.ts';
import { variablesWith } from './profile-of.ts';

const secretFields = /secret|password|refresh_token|^code$|code_verifier|device_code|assertion/;

/** Requests a token with a profile named `acme`. Nothing is stored, so that an old refresh token is sent again. */
export async function request(fields: DataObject, emulator?: EmulatorEndpoint): Promise<TokenResponse> {
  const client = createClient({ emulator });
  const profile = completeProfile(parseProfile('acme', variablesWith('acme', fields), client.sources));
  const { response } = await requestToken(profile, client.ports);
  return response as TokenResponse;
}

/** The error response of the provider, which must not contain a secret of the profile. Any other result fails the test. */
export async function requestError(fields: DataObject, emulator?: EmulatorEndpoint): Promise<ProviderError> {
  const outcome: unknown = await request(fields, emulator).catch((error) => error);
  if (!(outcome instanceof ProviderError)) expect.fail(`no error, but ${JSON.stringify(outcome) ?? String(outcome)}`);
  const secrets = Object.entries(fields)
    .filter(([name, value]) => secretFields.test(name) && typeof value === 'string' && value.length >= 8)
    .map(([, value]) => String(value));
  expect(leaksIn(`${outcome.stack}\n${JSON.stringify(outcome)}`, secrets)).toEqual([]);
  return outcome;
}
