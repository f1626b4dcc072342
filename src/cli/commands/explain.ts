import type { Client } from '../../client.ts';
import type { ProfileRemarks } from '../../errors.ts';
import { parseRecordOf } from '../../flows/records.ts';
import { withGrantedScope } from '../../flows/refresh-token.ts';
import { fillPending } from '../../flows/request-token.ts';
import { findFamily, hasRefreshToken } from '../../flows/token-family.ts';
import { buildTokenRequest, encodeFormComponent, type TokenRequest } from '../../oauth/token-request.ts';
import { type Field, isPublicField, type Profile, quoteShellArgument } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { MASK, type Secret } from '../../redaction/secret.ts';
import { version } from '../../version.ts';
import { assertExclusive, type Context } from '../context.ts';
import { alignColumns, type Style } from '../style.ts';
import { withClient } from '../with-client.ts';

/** `explain <profile>`: shows the request that `token` would send. */
export async function runExplain(context: Context): Promise<number> {
  const { args, terminal, signal } = context;
  assertExclusive(context, 'json', 'curl');
  const reveal = args.switches.has('reveal');
  const text = await withClient(context, async ({ client, variables }) => {
    const loaded = await client.loadProfile(args.positionals[0] ?? '', variables, 'cached', signal);
    const profile = await withNewestRefreshToken(loaded, client);
    const built = buildTokenRequest(profile, version);
    const { timeoutMs } = profile.options;
    // Without --reveal, nothing is read from another issuer.
    const pending = built.pending.filter(({ spec }) => reveal || !('source' in spec));
    const filled = await fillPending({ ...built, pending }, client.ports, profile.name, () => ({ timeoutMs, signal }));
    const request = showRequest(profile, filled, reveal);
    const proofNote = 'the header DPoP, a proof that is signed for each request, is not shown';
    const notes = profile.options.dpop ? [...profile.notes, proofNote] : profile.notes;
    if (args.switches.has('json')) return `${escapeControlsInJson(request, 2)}\n`;
    return args.switches.has('curl')
      ? formatCurl(request)
      : formatText(request, { ...profile, notes }, terminal.style.out);
  });
  if (reveal) terminal.stdoutRaw(text);
  else terminal.stdout(text);
  return 0;
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
function showRequest(profile: Profile, { method, url, headers, form, body, pending }: TokenRequest, reveal: boolean) {
  const show = (value: string | Secret): string =>
    reveal && typeof value !== 'string' ? value.reveal() : String(value);
  const showField = ({ name, value, source, external }: Field) => {
    const isMasked = external === true && !isPublicField(name) && !reveal;
    return { name, value: isMasked ? MASK : show(value), source };
  };
  const credentials = basicCredentials(profile).map(showField);
  const masked = profile.options.assertion.claims.filter(({ name, external }) => external && !PUBLIC_CLAIMS.has(name));
  const assertions = pending.map(({ name }) => {
    // The assertion of an installation is the bearer token.
    const value = headers[name] ?? form.find((field) => field.name === name)?.value ?? '';
    const jwt = (typeof value === 'string' ? value : value.reveal()).replace(/^Bearer /, '');
    const hidden = reveal ? [] : masked.map((claim) => claim.name);
    return { name, ...decodeAssertion(jwt, hidden) };
  });
  return {
    method,
    url: url.href,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, show(value)])),
    // Only with a Basic header, which shows nothing of its content.
    ...(credentials.length > 0 && { basic: { method: profile.clientAuth, fields: credentials } }),
    form: form.map(showField),
    ...(body !== undefined && { body }),
    ...(assertions.length > 0 && { assertions }),
    grant: profile.grant ?? null,
    provider: profile.provider.type,
    ...(profile.options.origins.length > 0 && { origins: profile.options.origins }),
    ...(profile.options.apiHeader !== 'Authorization' && { api_header: profile.options.apiHeader }),
  };
}

/** Claims that are shown even if their values come from `${env:…}` or `${file:…}`. */
const PUBLIC_CLAIMS = new Set(['iss', 'sub', 'aud', 'scope', 'target_audience']);

/** Header and claims of a signed assertion, without its signature. Times and the random id differ at each request. */
function decodeAssertion(jwt: string, hidden: readonly string[]) {
  const [header, claims] = jwt.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  const { iat, nbf, exp, jti, ...others } = claims;
  for (const name of hidden) if (Object.hasOwn(others, name)) others[name] = MASK;
  return { header, claims: others as Record<string, unknown>, lifetime: Number(exp) - Number(iat) };
}

/** The fields whose values are in the Basic header. */
function basicCredentials({ clientAuth, basic, fields }: Profile): readonly Field[] {
  if (!clientAuth.startsWith('client_secret_basic')) return [];
  if (basic !== undefined) return [basic.user, basic.password];
  return fields.filter(({ name }) => name === 'client_id' || name === 'client_secret');
}

type ShownRequest = ReturnType<typeof showRequest>;

/** Wider cells are not aligned. */
const MAX_WIDTH = 48;

function formatText(request: ShownRequest, { notes, warnings }: ProfileRemarks, style: Style): string {
  const { method, url, headers, basic, form, assertions = [], origins = [], api_header } = request;
  const toRow = ({ name, value, source }: (typeof form)[number]): string[] =>
    [name, escapeLineEnds(value), source].map((cell) => escapeControls(cell));
  const names = basic?.fields.map(({ name }) => name).join(':');
  const encoding = basic?.method === 'client_secret_basic' ? ', both percent-encoded' : '';
  const rows = Object.entries(headers).map(([name, value]) =>
    name === 'Authorization' && basic !== undefined ? [name, value, `base64 of ${names}${encoding}`] : [name, value],
  );
  rows.push(
    ...(basic?.fields ?? []).map((field) => toRow({ ...field, name: `  ${field.name}` })),
    [],
    ...form.map(toRow),
  );
  for (const { name, header, claims, lifetime } of assertions) {
    const toRows = (members: Record<string, unknown>, source: string) =>
      Object.entries(members).map(([member, value]) => toRow({ name: `  ${member}`, value: String(value), source }));
    const validity = toRow({ name: '  valid for', value: `${lifetime} s`, source: 'iat to exp' });
    rows.push([], [name], ...toRows(header, 'header'), ...toRows(claims, 'claims'), validity);
  }
  const header = api_header === undefined ? '' : `in the header ${api_header}`;
  if (origins.length > 0)
    rows.push([], ...origins.map((origin, index) => [index === 0 ? 'token for' : '', origin, header]));
  const head = style.bold(`${method} ${url}`);
  const lines = alignColumns(rows, [style.cyan, String, style.dim], MAX_WIDTH).map((line) => `  ${line}`.trimEnd());
  const remarks = [
    ...warnings.map((warning) => `${style.yellow('warning:')} ${escapeControls(warning)}`),
    ...notes.map((note) => `${style.yellow('note:')} ${escapeControls(note)}`),
  ];
  return `${[head, ...lines, ...(remarks.length > 0 ? ['', ...remarks] : [])].join('\n')}\n`;
}

function escapeLineEnds(text: string): string {
  return text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** `--data-raw` sends the body unchanged, so that curl sends the same bytes. */
function formatCurl({ url, headers, form, body: json }: ShownRequest): string {
  const lines = [`curl --globoff ${quoteShellArgument(url)}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoteShellArgument(`${name}: ${value}`)}`);
  if (json !== undefined || headers['Content-Type'] === 'application/json') {
    const body = json ?? JSON.stringify(Object.fromEntries(form.map(({ name, value }) => [name, value])));
    lines.push(`--data-raw ${quoteShellArgument(body)}`);
    return `${lines.join(' \\\n  ')}\n`;
  }
  for (const { name, value } of form) {
    const encoded = value === MASK ? MASK : encodeFormComponent(value);
    lines.push(`--data-raw ${quoteShellArgument(`${encodeFormComponent(name)}=${encoded}`)}`);
  }
  return `${lines.join(' \\\n  ')}\n`;
}
