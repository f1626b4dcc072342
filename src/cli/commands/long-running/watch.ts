import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { OAuthProfileError } from '../../../errors.ts';
import { type AutoRefreshOptions, autoRefresh, type FreshToken } from '../../../flows/auto-refresh.ts';
import { type TokenResult, usableUntil } from '../../../flows/token-cache.ts';
import { readIdToken } from '../../../oauth/id-token.ts';
import { escapeControls } from '../../../redaction/sanitize.ts';
import type { Secret } from '../../../redaction/secret.ts';
import { usageError } from '../../args.ts';
import { type Context, durationFlag, tokenFlag, warn } from '../../context.ts';
import { type OpenClient, withClient } from '../../with-client.ts';
import { getTokenIn, warnIfEmulated } from '../token.ts';

/** `watch <profile> --file <path>`: writes a token to a file and replaces it before it expires, until the command is stopped. */
export async function runWatch(context: Context): Promise<number> {
  const { args, environment, signal } = context;
  const [file] = args.values.get('file') ?? [];
  if (file === undefined) throw usageError('--file is missing', 'write --file PATH');
  const member = tokenFlag(context);
  const path = resolve(environment.cwd, file);
  return withClient(context, async (open) => {
    const source = freshTokens(context, open, args.positionals[0] ?? '', member);
    const first = await source.getToken(signal);
    warnIfEmulated(context, open);
    let latest = first.value;
    const onToken = ({ value }: FreshToken): void => {
      writeTokenFile(path, value);
      latest = value;
    };
    onToken(first);
    try {
      return await autoRefresh(first, { ...source, signal, onToken });
    } catch (error) {
      if (signal.aborted) return 0;
      throw error;
    } finally {
      removeTokenFile(path, latest);
    }
  });
}

/** Gets the tokens of a profile for {@link autoRefresh}. `--force-refresh` applies to the first one. */
export function freshTokens(
  context: Context,
  open: OpenClient,
  name: string,
  member = 'access_token',
): Omit<AutoRefreshOptions, 'onToken' | 'signal'> {
  const { clock } = open.client.ports;
  const minTtlMs = durationFlag(context, 'min-ttl');
  let forceRefresh = context.args.switches.has('force-refresh');
  let isWarned = false;
  const toFreshToken = ({ token, fromCache, profile }: TokenResult): FreshToken => {
    const now = clock.now();
    const ttlMs = minTtlMs ?? profile.options.minTtlMs;
    if (member === 'id_token') return toFreshIdToken(token.response, profile.name, now, ttlMs);
    const { accessToken: value, expiresAt } = token;
    if (expiresAt !== undefined) return { value, usableUntil: usableUntil(expiresAt, now, ttlMs) };
    const { defaultTtlMs } = profile.options;
    if (defaultTtlMs === undefined) return { value, usableUntil: undefined };
    // When a cached token was issued is not known, but it is usable for `min_ttl` or more.
    const until = usableUntil(now + defaultTtlMs, now, ttlMs);
    return { value, usableUntil: fromCache ? Math.min(now + ttlMs, until) : until };
  };
  return {
    clock,
    warn(message) {
      warn(context, message);
      context.terminal.flush();
    },
    async getToken(signal) {
      const result = await getTokenIn(open, context, name, { forceRefresh, signal });
      forceRefresh = false;
      if (result.profile.dpopKey !== undefined && member === 'access_token' && !isWarned) {
        warn(
          context,
          `the token of ${name} is bound to a key (DPoP), which the command does not get: an API will reject it`,
        );
        isWarned = true;
      }
      const token = toFreshToken(result);
      if (member !== 'id_token' || !result.fromCache || Number(token.usableUntil) > clock.now()) return token;
      // The id token expires before the access token. Of several processes, only the first one requests a new response.
      const rejectedToken = result.token.accessToken;
      return toFreshToken(await getTokenIn(open, context, name, { rejectedToken, signal }));
    },
  };
}

/** The ID token of a response. Its own `exp` applies: it may differ from the lifetime of the access token. */
function toFreshIdToken(response: TokenResult['token']['response'], name: string, now: number, ttlMs: number) {
  const { value, issuedAt = now, expiresAt } = readIdToken(response, name);
  if (expiresAt !== undefined) return { value, usableUntil: usableUntil(expiresAt, issuedAt, ttlMs) };
  throw new OAuthProfileError('response_unreadable', `the id_token of ${name} has no expiry`, {
    hint: 'use a provider whose ID tokens are JWTs with the claim exp (OpenID Connect Core §2)',
  });
}

/** Deletes the file, unless another program has replaced it. */
function removeTokenFile(path: string, token: Secret): void {
  try {
    if (token.test((value) => readFileSync(path, 'utf8') === value)) rmSync(path);
  } catch {
    // It was deleted, or is no longer a file.
  }
}

/** Replaces a file by renaming, so that a reader never sees a part of a token. Only its owner can read it. */
export function writeTokenFile(path: string, value: Secret): void {
  const temporary = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isFile()) throw Object.assign(new Error(), { code: 'not a regular file' });
    writeFileSync(temporary, value.reveal(), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    const hint = 'check the path and the permissions of its directory';
    throw new OAuthProfileError('usage', `cannot write ${escapeControls(path)} (${code})`, { hint, cause: error });
  }
}
