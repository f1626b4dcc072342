import { usageError } from '../args.ts';

/** Sets `tokenHelper` for hosts in `.npmrc`, or removes it. */
export function editNpmrc(
  text: string | undefined,
  hosts: readonly string[],
  helper: string,
  undo: boolean,
): string | undefined {
  const key = (host: string): string => `//${host}/:tokenHelper`;
  const own = new Set(hosts.map((host) => `${key(host)}=${helper}`));
  const lines = (text ?? '').split('\n');
  // The origins of the profile may have changed since, but the helper is that of the profile.
  const isOwn = (line: string): boolean => /^\/\/[^=]*\/:tokenHelper=/.test(line) && line.endsWith(`=${helper}`);
  const rest = lines.filter((line) => !(undo ? isOwn(line) : own.has(line)));
  if (undo)
    return text === undefined || (rest.join('') === '' && lines.length > rest.length) ? undefined : rest.join('\n');
  const foreign = hosts.find((host) => rest.some((line) => line.split('=', 1)[0]?.trim() === key(host)));
  if (foreign !== undefined)
    throw usageError(`.npmrc already has a tokenHelper for ${foreign}`, `remove the line ${key(foreign)}=…`);
  if (rest.length === lines.length - own.size) return text;
  // At the start: everything after it stays as it is, also a last line without a line end.
  return [...own, ...rest].join('\n');
}
