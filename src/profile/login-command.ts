/** The command that signs a person in for a profile, as a shell takes it. */
export function loginCommand(profile: string): string {
  return `oauth-profile login ${quoteShellArgument(profile)}`;
}

/** A text as one argument of a shell. */
export function quoteShellArgument(text: string): string {
  return /^[\w.@+:=,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
