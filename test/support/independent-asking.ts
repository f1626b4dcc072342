import { expect } from 'vitest';
import type { DataObject } from '../../src/data/flatten.ts';
import { ProviderError } from '../../src/errors.ts';
import { oauthProfile, type TokenResponse } from '../../src/oauth-profile.ts';
import type { EmulatorAddress } from '../../src/ports.ts';
import { leaksIn } from './leaks.ts';

const secretFields = /secret|password|refresh_token|^code$|code_verifier|device_code|assertion/;

/** Asks for a token with a profile that is named `acme`, as a program would. */
export function ask(fields: DataObject, emulator?: EmulatorAddress): Promise<TokenResponse> {
  return oauthProfile('acme', { data: { acme: fields }, emulator });
}

/** The provider's refusal of a profile, which repeats no secret of it; anything else fails the test. */
export async function refusalOf(fields: DataObject, emulator?: EmulatorAddress): Promise<ProviderError> {
  const outcome: unknown = await ask(fields, emulator).catch((error) => error);
  if (!(outcome instanceof ProviderError)) expect.fail(`no refusal, but ${JSON.stringify(outcome) ?? String(outcome)}`);
  const secrets = Object.entries(fields)
    .filter(([name, value]) => secretFields.test(name) && typeof value === 'string' && value.length >= 8)
    .map(([, value]) => String(value));
  expect(leaksIn(`${outcome.stack}\n${JSON.stringify(outcome)}`, secrets)).toEqual([]);
  return outcome;
}
