import type { Client } from '../../client.ts';
import { OAuthProfileError } from '../../errors.ts';
import type { TokenResult } from '../../flows/token-cache.ts';
import { type GetTokenOptions, getProfileToken, requestUnstoredToken } from '../../get-token.ts';
import { createApiHeader } from '../../oauth/api-header.ts';
import { memberNames } from '../../oauth/secret-members.ts';
import type { ParsedToken } from '../../oauth/token-response.ts';
import type { Profile } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson, hasControls, isPrintableAscii } from '../../redaction/sanitize.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import { invalidFlag, usageError } from '../args.ts';
import { assertExclusive, type Context, durationFlag, logVerbose, warn } from '../context.ts';
import { type OpenClient, withClient } from '../with-client.ts';

/** The values of `--format`. */
const FORMATS = ['token', 'header', 'headers-json', 'json', 'env', 'curl', 'netrc'];

/** `token <profile>`: prints the token in the requested form. */
export async function runToken(context: Context): Promise<number> {
  const { args, terminal } = context;
  assertExclusive(context, 'format', 'json', 'header', 'field');
  const format =
    args.values.get('format')?.[0] ?? ['json', 'header'].find((name) => args.switches.has(name)) ?? 'token';
  if (!FORMATS.includes(format)) throw invalidFlag('format', format, `one of ${FORMATS.join(', ')}`, 'curl');
  const result = await getTokenForCommand(context);
  const field = args.values.get('field')?.[0];
  if (format === 'json') {
    printJson(context, result.token);
    return 0;
  }
  const value = field === undefined ? await formatResult(result, format) : formatField(result.token, field);
  if (terminal.escapeCommands(value) !== value)
    throw new OAuthProfileError(
      'response_unreadable',
      'the value contains a command that this CI server would execute',
      {
        hint: 'show the response with --json, which escapes it',
      },
    );
  terminal.stdoutRaw(`${value}\n`);
  return 0;
}

/** Gets a token for the profile in the first argument, as the flags say. */
function getTokenForCommand(context: Context): Promise<TokenResult> {
  const { args, signal } = context;
  return withClient(context, async (open) => {
    const options = { forceRefresh: args.switches.has('force-refresh'), signal };
    const result = await getTokenIn(open, context, args.positionals[0] ?? '', options);
    warnIfEmulated(context, open);
    return result;
  });
}

/** Gets a token for a profile, as `--min-ttl` and `--no-store` say. */
export async function getTokenIn(
  { client, variables }: OpenClient,
  context: Context,
  profileName: string,
  options: Pick<GetTokenOptions, 'forceRefresh' | 'rejectedToken'> & { readonly signal: AbortSignal },
): Promise<TokenResult> {
  const minTtlMs = durationFlag(context, 'min-ttl');
  const withoutStore = context.args.switches.has('no-store');
  const metadata = withoutStore ? 'unstored' : 'cached';
  const profile = await client.loadProfile(profileName, variables, metadata, options.signal);
  const { name, provider, grant, url, notes, warnings } = profile;
  if (context.args.switches.has('verbose')) for (const note of [...warnings, ...notes]) warn(context, note);
  const parts = [provider.type, grant, url.href].filter((part) => part !== undefined);
  logVerbose(context, `${name}: ${parts.join(', ')}`);
  const result = withoutStore
    ? await requestWithoutStore(client, profile, options.signal)
    : await getProfileToken(client, profile, { reuse: true, minTtlMs, ...options });
  const origin = result.fromCache ? `from ${(await client.openStore()).location}` : 'new';
  const { expiresAt } = result.token;
  const lifetime = expiresAt && `, expires in ${Math.floor((expiresAt - Date.now()) / 1000)} s`;
  logVerbose(context, `token: ${origin}${lifetime ?? ''}`);
  return result;
}

/** Warns that the provider does not know the tokens of an emulator. */
export function warnIfEmulated(context: Context, { emulation }: OpenClient): void {
  if (emulation !== undefined) warn(context, 'emulated: this token is only valid with the emulator');
}

/** A rotated refresh token would be lost, so a refresh must leave the former one valid. */
function requestWithoutStore(client: Client, profile: Profile, signal: AbortSignal): Promise<TokenResult> {
  const { name, grant, options } = profile;
  if (grant === 'refresh_token' && options.refreshTokenReuse !== 'allowed')
    throw usageError(
      `--no-store is not possible for ${name}: the provider may replace its refresh token`,
      'omit --no-store, and run oauth-profile forget afterwards',
    );
  return requestUnstoredToken(client, profile, { signal });
}

/** The access token. Other characters than RFC 6749 §A.12 allows could control a terminal or end a header. */
function formatToken({ accessToken }: ParsedToken): string {
  return assertPrintable(accessToken.reveal(), 'the access token');
}

async function formatResult(result: TokenResult, format: string): Promise<string> {
  if (format === 'token') return formatToken(result.token);
  const { name, value } = createApiHeader(result.profile, result.token);
  if (format === 'header') return `${name}: ${value.reveal()}`;
  const formats = await import('../../credential/formats.ts');
  const { toToolToken } = await import('../../credential/get-tool-token.ts');
  const token = toToolToken(result);
  if (format === 'headers-json') return formats.formatHeadersJson(token);
  if (format === 'env') return formats.formatEnv(token);
  if (format === 'curl') return formats.formatCurl(token);
  const { name: profile, options } = result.profile;
  const lines = formats.formatNetrc(token, options.origins, options.gitUsername);
  if (lines !== '') return lines;
  throw usageError(`${profile} has no origin for netrc`, `set ${profile}.options.origins to hosts without a wildcard`);
}

function assertPrintable(value: string, label: string): string {
  if (isPrintableAscii(value)) return value;
  throw new OAuthProfileError('response_unreadable', `${label} contains characters that are not allowed`, {
    hint: 'show the response with --json, which escapes them; RFC 6749 allows printable ASCII only',
  });
}

function formatField({ response }: ParsedToken, name: string): string {
  if (!Object.hasOwn(response, name)) {
    throw new OAuthProfileError('usage', `the token response has no member ${escapeControls(name)}`, {
      hint: `its members are ${escapeControls(memberNames(response).join(', '))}`,
    });
  }
  const value = response[name];
  if (typeof value !== 'string') return escapeControlsInJson(value);
  if (!hasControls(value)) return value;
  throw new OAuthProfileError('response_unreadable', `${escapeControls(name)} contains control characters`, {
    hint: 'show the response with --json, which escapes them',
  });
}

/** The response with its access token. Other secrets are masked unless `--reveal` is given. */
function printJson({ terminal, args }: Context, { response, accessToken }: ParsedToken): void {
  if (args.switches.has('reveal')) {
    terminal.stdoutRaw(`${escapeControlsInJson(response, 2)}\n`);
    return;
  }
  const token = accessToken.reveal();
  // The token itself bypasses the redactor, which masks everything around it.
  const placeholder = crypto.randomUUID();
  const mask = (value: unknown, isSecret: boolean): unknown => {
    if (value === token) return placeholder;
    if (typeof value === 'string') return isSecret ? MASK : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => mask(item, isSecret));
    const members = Object.entries(value).map(([name, member]) => [
      name,
      mask(member, isSecret || isSensitiveName(name)),
    ]);
    return Object.fromEntries(members);
  };
  const [head = '', ...tails] = escapeControlsInJson(mask(response, false), 2).split(`"${placeholder}"`);
  terminal.stdout(head);
  for (const tail of tails) {
    terminal.stdoutRaw(escapeControlsInJson(token));
    terminal.stdout(tail);
  }
  terminal.stdout('\n');
}
