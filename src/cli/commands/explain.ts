import type { Client } from '../../client.ts';
import { parseRecordOf } from '../../flows/records.ts';
import { withGrantedScope } from '../../flows/refresh-token.ts';
import { findFamily, hasRefreshToken } from '../../flows/token-family.ts';
import { buildTokenRequest, encodeFormComponent, type TokenRequest, withAssertion } from '../../oauth/token-request.ts';
import { type Profile, quoteShellArgument } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { MASK, type Secret } from '../../redaction/secret.ts';
import { version } from '../../version.ts';
import { assertExclusive, type Context } from '../context.ts';
import { alignColumns, type Style } from '../style.ts';
import { withClient } from '../with-client.ts';

/** Fields that are shown even if their value comes from `${env:…}` or `${file:…}`. */
const PUBLIC_FIELDS = new Set(['type', 'url', 'tenant_id', 'client_id', 'grant_type', 'scope', 'username', 'audience']);

/** `explain <profile>`: shows the request that `token` would send. */
export async function runExplain(context: Context): Promise<number> {
  const { args, terminal, signal } = context;
  assertExclusive(context, 'json', 'curl');
  const reveal = args.switches.has('reveal');
  const text = await withClient(context, async ({ client, variables }) => {
    const loaded = await client.loadProfile(args.positionals[0] ?? '', variables);
    const profile = await withNewestRefreshToken(loaded, client);
    const request = showRequest(profile, await buildRequest(profile, client, reveal, signal), reveal);
    if (args.switches.has('json')) return `${escapeControlsInJson(request, 2)}\n`;
    return args.switches.has('curl') ? formatCurl(request) : formatText(request, profile.notes, terminal.style.out);
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

/** A configured refresh token that has been rotated is replaced by its successor. After a login, only the granted scope is requested. */
async function withNewestRefreshToken(profile: Profile, client: Client): Promise<Profile> {
  if (!hasRefreshToken(profile)) return profile;
  const { record } = await findFamily(profile, await client.openStore());
  const family = parseRecordOf('family', record);
  if (family === undefined) return profile;
  const { refreshToken } = family;
  if (refreshToken === undefined) {
    const note =
      'this request is not sent: the provider issued no refresh token, and the access token of the login is used';
    return { ...profile, notes: [...profile.notes, note] };
  }
  if (profile.family !== undefined) return withGrantedScope(profile, family);
  if (family.tokenHashes.length < 2) return profile;
  const fields = profile.fields.map((field) =>
    field.name === 'refresh_token'
      ? { ...field, value: refreshToken, source: `vault, successor of ${field.source}` }
      : field,
  );
  return { ...profile, fields };
}

/** The request as `--json` prints it, with secrets masked unless `--reveal` is given. */
function showRequest(profile: Profile, { method, url, headers, form }: TokenRequest, reveal: boolean) {
  const show = (value: string | Secret): string =>
    reveal && typeof value !== 'string' ? value.reveal() : String(value);
  return {
    method,
    url: url.href,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, show(value)])),
    form: form.map(({ name, value, source, external }) => {
      const isMasked = external === true && !PUBLIC_FIELDS.has(name) && !reveal;
      return { name, value: isMasked ? MASK : show(value), source };
    }),
    grant: profile.grant ?? null,
    provider: profile.provider.type,
  };
}

type ShownRequest = ReturnType<typeof showRequest>;

/** Wider cells are not aligned. */
const MAX_WIDTH = 48;

function formatText({ method, url, headers, form }: ShownRequest, notes: readonly string[], style: Style): string {
  const rows = [
    ...Object.entries(headers),
    [],
    ...form.map(({ name, value, source }) => [name, escapeLineEnds(value), source].map((cell) => escapeControls(cell))),
  ];
  const head = style.bold(`${method} ${url}`);
  const lines = alignColumns(rows, [style.cyan, String, style.dim], MAX_WIDTH).map((line) => `  ${line}`.trimEnd());
  const noteLines = notes.map((note) => `${style.yellow('note:')} ${escapeControls(note)}`);
  return `${[head, ...lines, ...(notes.length > 0 ? ['', ...noteLines] : [])].join('\n')}\n`;
}

function escapeLineEnds(text: string): string {
  return text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** `--data-raw` sends the body unchanged, so that curl sends the same bytes. */
function formatCurl({ url, headers, form }: ShownRequest): string {
  const lines = [`curl --globoff ${quoteShellArgument(url)}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoteShellArgument(`${name}: ${value}`)}`);
  for (const { name, value } of form) {
    const encoded = value === MASK ? MASK : encodeFormComponent(value);
    lines.push(`--data-raw ${quoteShellArgument(`${encodeFormComponent(name)}=${encoded}`)}`);
  }
  return `${lines.join(' \\\n  ')}\n`;
}
