/** The command that signs a person in for a profile, as a shell takes it. */
export function loginCommand(profile: string): string {
  return `oauth-profile login ${/^[\w.@+-]+$/.test(profile) ? profile : `'${profile.replaceAll("'", `'\\''`)}'`}`;
}
