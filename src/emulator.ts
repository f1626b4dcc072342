import { flatten } from './config/flatten.ts';
import { hasReference } from './config/reference.ts';
import { Resolver } from './config/resolver.ts';
import { Variables } from './config/variables.ts';
import type { EmulatorOptions } from './emulator/config.ts';
import type { EmulatedProfiles } from './emulator/realms.ts';
import { type Emulator, startEmulator as start } from './emulator/start-emulator.ts';
import { createProfileSources } from './files/profile-files.ts';
import { Secret } from './redaction/secret.ts';

export type { ClientOptions as EmulatedClient, EmulatorConfig } from './emulator/config.ts';
export type { DecodedToken, ServedRequest } from './emulator/control/request-log.ts';
export type { StubOptions as EmulatedStub } from './emulator/endpoints/stubs.ts';
export { type Fault as EmulatorFault, type FaultKind, faultKinds } from './emulator/faults.ts';
export type { EmulatedProfile, EmulatedProfiles } from './emulator/realms.ts';
export type { ProviderOptions as EmulatedProviderOptions } from './emulator/settings.ts';
export type { Emulator } from './emulator/start-emulator.ts';
export type { UserOptions as EmulatedUser } from './emulator/subjects.ts';
export type { SigningAlgorithm } from './emulator/tokens/signing-keys.ts';

/** Starts an emulator of the providers on one loopback port. References in the profiles, such as `${env:NAME}`, are resolved. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  return start({ ...options, profiles: resolveProfiles(options.profiles ?? {}) });
}

function resolveProfiles(profiles: EmulatedProfiles): EmulatedProfiles {
  const source = { label: 'profiles', directory: '', trust: 'given' } as const;
  const variables = new Variables().add(flatten(profiles, 'profiles'), source);
  const resolver = new Resolver(variables, createProfileSources({ env: process.env, cwd: process.cwd() }));
  const resolve = (value: unknown, name: string): unknown => {
    if (value instanceof Secret) return value.reveal();
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const members = Object.entries(value).map(([field, member]) => [field, resolve(member, `${name}.${field}`)]);
      return Object.fromEntries(members);
    }
    const variable = typeof value === 'string' && hasReference(value) ? variables.get(name) : undefined;
    const resolved = variable && resolver.resolve(variable);
    return resolved instanceof Secret ? resolved.reveal() : (resolved ?? value);
  };
  return Object.fromEntries(
    Object.entries(profiles).map(([name, profile]) => [name, resolve(profile, name) as EmulatedProfiles[string]]),
  );
}
