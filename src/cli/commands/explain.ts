import type { Client } from '../../client.ts';
import { parseRecordOf } from '../../flows/records.ts';
import { findFamily, hasRefreshToken } from '../../flows/token-family.ts';
import { buildTokenRequest, encodeFormComponent, type TokenRequest, withAssertion } from '../../oauth/token-request.ts';
import type { Field, Profile } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { MASK, type Secret } from '../../redaction/secret.ts';
import { version } from '../../version.ts';
import { hasFlag } from '../command.ts';
import { assertExclusive, type Context } from '../context.ts';
import { withClient } from '../with-client.ts';

/** Fields that are shown even if their value comes from `${env:…}` or `${file:…}`. */
const PUBLIC_FIELDS = new Set(['type', 'url', 'tenant_id', 'client_id', 'grant_type', 'scope', 'username', 'audience']);

/** `explain <profile>`: shows the request that `token` would send. */
export async function runExplain(context: Context): Promise<number> {
  const { args, terminal } = context;
  assertExclusive(context, 'json', 'curl');
  const reveal = hasFlag(args, 'reveal');
  const text = await withClient(context, async ({ client, variables }) => {
    const loaded = await client.loadProfile(args.positionals[0] ?? '', variables);
    const profile = await withNewestRefreshToken(loaded, client);
    const request = await buildRequest(profile, client, reveal, context.signal);
    if (hasFlag(args, 'json')) return `${escapeControlsInJson(formatJson(profile, request, reveal), 2)}\n`;
    return hasFlag(args, 'curl') ? formatCurl(request, reveal) : formatText(profile, request, context);
  });
  if (reveal) terminal.stdoutRaw(text);
  else terminal.stdout(text);
  return 0;
}

/** The request. It contains a signed assertion only with `--reveal`; otherwise nothing is signed. */
async function buildRequest(
  profile: Profile,
  client: Client,
  reveal: boolean,
  signal: AbortSignal,
): Promise<TokenRequest> {
  const request = buildTokenRequest(profile, version);
  if (!reveal || request.assertion === undefined) return request;
  const { timeoutMs } = profile.options;
  return withAssertion(request, await client.ports.sign(request.assertion, profile.name, { timeoutMs, signal }));
}

/** A configured refresh token that has been rotated is replaced by its successor. */
async function withNewestRefreshToken(profile: Profile, client: Client): Promise<Profile> {
  if (profile.family !== undefined || !hasRefreshToken(profile)) return profile;
  const { record } = await findFamily(profile, await client.openStore());
  const family = parseRecordOf('family', record);
  if (family === undefined || family.tokenHashes.length < 2) return profile;
  const fields = profile.fields.map((field) =>
    field.name === 'refresh_token'
      ? { ...field, value: family.refreshToken, source: `vault, successor of ${field.source}` }
      : field,
  );
  return { ...profile, fields };
}

function formatJson(profile: Profile, { method, url, headers, form }: TokenRequest, reveal: boolean): unknown {
  return {
    method,
    url: url.href,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, show(value, reveal)])),
    form: form.map((field) => ({ name: field.name, value: showField(field, reveal), source: field.source })),
    grant: profile.grant ?? null,
    provider: profile.provider.type,
  };
}

/** A value, masked unless `--reveal` is given. */
function show(value: string | Secret, reveal: boolean): string {
  return typeof value === 'string' || !reveal ? String(value) : value.reveal();
}

function showField(field: Field, reveal: boolean): string {
  return isMasked(field) && !reveal ? MASK : show(field.value, reveal);
}

function isMasked({ name, value, external }: Field): boolean {
  return typeof value !== 'string' || (external === true && !PUBLIC_FIELDS.has(name));
}

const MAX_VALUE_WIDTH = 48;

function formatText(
  profile: Profile,
  { method, url, headers, form }: TokenRequest,
  { terminal, args }: Context,
): string {
  const style = terminal.style.out;
  const reveal = hasFlag(args, 'reveal');
  const rows: [name: string, value: string, source: string][] = [
    ...Object.entries(headers).map(([name, value]): [string, string, string] => [name, show(value, reveal), '']),
    ['', '', ''],
    ...form.map((field): [string, string, string] => [
      escapeControls(field.name),
      escapeControls(escapeLineEnds(showField(field, reveal))),
      field.source,
    ]),
  ];
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const valueWidth = Math.min(Math.max(...rows.map(([, value]) => value.length)), MAX_VALUE_WIDTH);
  const lines = rows.map(([name, value, source]) => {
    const origin = source === '' ? '' : `  ${style.dim(escapeControls(source))}`;
    const padded = origin === '' ? value : value.padEnd(valueWidth);
    return `  ${style.cyan(name.padEnd(nameWidth))}  ${padded}${origin}`.trimEnd();
  });
  const notes = profile.notes.map((note) => `\n${style.yellow('note:')} ${escapeControls(note)}`);
  return `${style.bold(`${method} ${url.href}`)}\n${lines.join('\n')}\n${notes.join('')}${notes.length > 0 ? '\n' : ''}`;
}

function escapeLineEnds(text: string): string {
  return text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** `--data-raw` sends the body unchanged, so that curl sends the same bytes. */
function formatCurl({ url, headers, form }: TokenRequest, reveal: boolean): string {
  const lines = [`curl --globoff ${quote(url.href)}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quote(`${name}: ${show(value, reveal)}`)}`);
  for (const field of form) {
    const shown = isMasked(field) && !reveal ? MASK : encodeFormComponent(showField(field, reveal));
    lines.push(`--data-raw ${quote(`${encodeFormComponent(field.name)}=${shown}`)}`);
  }
  return `${lines.join(' \\\n  ')}\n`;
}

/** Quotes for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
