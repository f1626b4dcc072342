type Variables = Readonly<Record<string, string | undefined>>;

/** The environment for a program that we start: the key of the vault and all else of ours is not its business. */
export function childEnvironment(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('OAUTH_PROFILE_')));
}
