import { parseRequestUrls } from './request-url.ts';
import { expirySeconds, type ToolToken } from './tool-token.ts';

/** A request of git to a credential helper (gitcredentials(7), git-credential(1)). */
export interface GitRequest {
  /** The server; empty if git uses another protocol, or if the request is malformed. */
  readonly urls: readonly URL[];
  /** The password or credential that the server rejected or accepted, for `erase` and `store`. */
  readonly credential: string | undefined;
  /** Whether git (2.46 and later) accepts other schemes than Basic. */
  readonly acceptsScheme: boolean;
  /** `WWW-Authenticate` headers of the server, with git 2.41 and later. */
  readonly challenges: readonly string[];
}

/** Parses `key=value` lines, up to an empty line. */
export function parseGitRequest(input: string): GitRequest {
  const values = new Map<string, string[]>();
  for (const line of input.split('\n')) {
    if (line === '') break;
    const [key = '', ...rest] = line.split('=');
    // An empty item of a list clears it.
    const list = rest.join('=') === '' && key.endsWith('[]') ? [] : [...(values.get(key) ?? []), rest.join('=')];
    values.set(key, list);
  }
  const [protocol = '', ...protocols] = values.get('protocol') ?? [];
  const [host = '', ...hosts] = values.get('host') ?? [];
  // A second host can only come from a line end in the URL of a repository.
  const isValid = /^https?$/.test(protocol) && /^[^\s/?#\\]+$/.test(host) && protocols.length + hosts.length === 0;
  return {
    urls: isValid && !/[\0\r]/.test(input) ? parseRequestUrls(`${protocol}://${host}`) : [],
    credential: values.get('credential')?.[0] ?? values.get('password')?.[0],
    acceptsScheme: values.get('capability[]')?.includes('authtype') ?? false,
    challenges: values.get('wwwauth[]') ?? [],
  };
}

/**
 * Formats the response to `get`. Most servers accept a token only as the password of a Basic header; one that lists another scheme in its
 * challenges gets the token in its own header.
 */
export function formatGitResponse(request: GitRequest, token: ToolToken, username: string): string {
  const { acceptsScheme, challenges } = request;
  const [, scheme = '', credential = ''] = /^(\S+) (.+)$/.exec(token.header.value) ?? [];
  const isOffered = (one: string): boolean => challenges.some((text) => text.split(' ', 1)[0]?.toLowerCase() === one);
  const isOwnHeader =
    acceptsScheme &&
    scheme !== '' &&
    token.header.name.toLowerCase() === 'authorization' &&
    (challenges.length === 0 || isOffered(scheme.toLowerCase()));
  const expiry = expirySeconds(token);
  return toLines([
    ...(isOwnHeader
      ? ['capability[]=authtype', `authtype=${scheme}`, `credential=${credential}`, 'ephemeral=1']
      : [`username=${username}`, `password=${token.token}`]),
    ...(expiry === undefined ? [] : [`password_expiry_utc=${expiry}`]),
  ]);
}

/** The response to `get` that makes git stop instead of prompting for a password. */
export const GIT_QUIT = toLines(['quit=1']);

function toLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
