import { expect } from 'vitest';
import { composeOutside, composePorts } from '../../src/compose.ts';
import type { DataObject } from '../../src/config/flatten.ts';
import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { ProviderError } from '../../src/errors.ts';
import { acquireToken } from '../../src/flows/request-token.ts';
import type { TokenResponse } from '../../src/oauth-profile.ts';
import type { EmulatorEndpoint } from '../../src/ports.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import { leaksIn } from './leaks.ts';

const secretFields = /secret|password|refresh_token|^code$|code_verifier|device_code|assertion/;

const surroundings = { env: process.env, cwd: process.cwd() };

/** Asks for a token with a profile that is named `acme`; nothing is kept, so that what a server does with an old refresh token can be seen. */
export async function ask(fields: DataObject, emulator?: EmulatorEndpoint): Promise<TokenResponse> {
  const source = { label: 'data', directory: '', trust: 'given' } as const;
  const variables = new Variables().add(flatten({ acme: fields }, 'data'), source);
  const profile = completeProfile(parseProfile('acme', variables, composeOutside(surroundings)));
  const { response } = await acquireToken(profile, composePorts(surroundings, { emulator }));
  return response as TokenResponse;
}

/** The provider's refusal of a profile, which repeats no secret of it; anything else fails the test. */
export async function refusalOf(fields: DataObject, emulator?: EmulatorEndpoint): Promise<ProviderError> {
  const outcome: unknown = await ask(fields, emulator).catch((error) => error);
  if (!(outcome instanceof ProviderError)) expect.fail(`no refusal, but ${JSON.stringify(outcome) ?? String(outcome)}`);
  const secrets = Object.entries(fields)
    .filter(([name, value]) => secretFields.test(name) && typeof value === 'string' && value.length >= 8)
    .map(([, value]) => String(value));
  expect(leaksIn(`${outcome.stack}\n${JSON.stringify(outcome)}`, secrets)).toEqual([]);
  return outcome;
}
