import type { Environment } from '../ports.ts';

/** The environment for a program that this package starts: without `OAUTH_PROFILE_*`, which contains the encryption key of the vault. */
export function childEnvironment(env: Environment): Environment {
  // Windows ignores the case of names.
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^OAUTH_PROFILE_/i.test(name)));
}
