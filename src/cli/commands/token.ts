import { OAuthProfileError } from '../../errors.ts';
import type { TokenResult } from '../../flows/token-cache.ts';
import { getProfileToken } from '../../get-token.ts';
import { memberNames } from '../../oauth/secret-members.ts';
import type { ParsedToken } from '../../oauth/token-response.ts';
import type { Profile } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson, hasControls } from '../../redaction/sanitize.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import { flagValue, hasFlag } from '../command.ts';
import { assertExclusive, type Context, durationFlag, logVerbose, warn } from '../context.ts';
import { withClient } from '../with-client.ts';

/** `token <profile>`: prints the token in the requested form. */
export async function runToken(context: Context): Promise<number> {
  const { args, terminal } = context;
  assertExclusive(context, 'json', 'header', 'field');
  const { token } = await getTokenForCommand(context);
  const field = flagValue(args, 'field');
  if (field !== undefined) terminal.stdoutRaw(`${formatField(token, field)}\n`);
  else if (hasFlag(args, 'header')) terminal.stdoutRaw(`${formatHeader(token)}\n`);
  else if (hasFlag(args, 'json')) printJson(context, token);
  else terminal.stdoutRaw(`${formatToken(token)}\n`);
  return 0;
}

/** Gets a token for the profile in the first argument, as the flags say. */
export function getTokenForCommand(context: Context): Promise<TokenResult> {
  const { args, signal } = context;
  const minTtlMs = durationFlag(context, 'min-ttl');
  return withClient(context, async ({ client, variables, emulation }) => {
    const profile = await client.loadProfile(args.positionals[0] ?? '', variables);
    if (hasFlag(args, 'verbose')) logProfile(profile, context);
    const result = await getProfileToken(client, profile, {
      reuse: true,
      forceRefresh: hasFlag(args, 'force-refresh'),
      minTtlMs,
      signal,
    });
    const origin = result.fromCache ? `from ${(await client.openStore()).location}` : 'new';
    logVerbose(context, `token: ${origin}${lifetimeOf(result.token)}`);
    if (emulation !== undefined) warn(context, 'emulated: this token is only valid with the emulator');
    return result;
  });
}

function logProfile({ name, provider, grant, url, notes }: Profile, context: Context): void {
  for (const note of notes) warn(context, note);
  const parts = [provider.type, grant, url.href].filter((part) => part !== undefined);
  logVerbose(context, escapeControls(`${name}: ${parts.join(', ')}`));
}

function lifetimeOf({ expiresAt }: ParsedToken): string {
  return expiresAt === undefined ? '' : `, expires in ${Math.floor((expiresAt - Date.now()) / 1000)} s`;
}

/** The access token. Other characters than RFC 6749 §A.12 allows could control a terminal or end a header. */
function formatToken({ accessToken }: ParsedToken): string {
  const token = accessToken.reveal();
  if (/^[ -~]+$/.test(token)) return token;
  throw new OAuthProfileError('response_unreadable', 'the access token contains characters that are not allowed', {
    hint: 'show the response with --json, which escapes them; RFC 6749 allows printable ASCII only',
  });
}

/** A complete Authorization header. `Bearer` is spelled as in RFC 6750 §2.1, because some servers compare it case-sensitively. */
function formatHeader(token: ParsedToken): string {
  const type = token.tokenType ?? 'Bearer';
  const value = formatToken(token);
  if (!/^[ -~]+$/.test(type)) {
    throw new OAuthProfileError('response_unreadable', 'the token_type of the response is not valid in a header', {
      hint: 'show the response with --json',
    });
  }
  return `Authorization: ${/^bearer$/i.test(type) ? 'Bearer' : type} ${value}`;
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
  if (hasFlag(args, 'reveal')) {
    terminal.stdoutRaw(`${escapeControlsInJson(response, 2)}\n`);
    return;
  }
  const token = accessToken.reveal();
  // The token itself bypasses the redactor, which masks everything around it.
  const placeholder = `@${crypto.randomUUID()}@`;
  const masked = escapeControlsInJson(maskSecrets(response, false, token, placeholder), 2);
  const [head = '', ...tails] = masked.split(`"${placeholder}"`);
  terminal.stdout(head);
  for (const tail of tails) {
    terminal.stdoutRaw(escapeControlsInJson(token));
    terminal.stdout(tail);
  }
  terminal.stdout('\n');
}

/** A copy with every string below a sensitive name masked, and the token replaced by its placeholder. */
function maskSecrets(value: unknown, isSecret: boolean, token: string, placeholder: string): unknown {
  if (value === token) return placeholder;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, isSecret, token, placeholder));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => [
      name,
      maskSecrets(member, isSecret || isSensitiveName(name), token, placeholder),
    ]);
    return Object.fromEntries(members);
  }
  return typeof value === 'string' && isSecret ? MASK : value;
}
