import { findFamily } from '../../flows/find-family.ts';
import { fromKept } from '../../flows/stored-record.ts';
import { getRefreshToken } from '../../oauth/cache-key.ts';
import { buildTokenRequest, encodeFormComponent, type TokenRequest, withAssertion } from '../../oauth/token-request.ts';
import type { Profile } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/printable.ts';
import { MASK, type Secret } from '../../redaction/secret.ts';
import type { Session } from '../../session.ts';
import { version } from '../../version.ts';
import { type Context, sessionOf, variablesOf } from '../context.ts';
import { usage } from '../usage.ts';

/** Shows a value: masked, or in clear for who asked. */
type Show = (value: string | Secret) => string;

/** `explain <profile>`: the request that `token` would send. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  if (call.switches.has('json') && call.switches.has('curl'))
    throw usage(['--json and --curl exclude each other'], 'choose one');
  const reveal = call.switches.has('reveal');
  const session = sessionOf(context);
  const { profile, request } = await requestOf(session, context, reveal).finally(() => session.close());
  const show: Show = (value) => (typeof value === 'string' || !reveal ? String(value) : value.reveal());
  const text = call.switches.has('json')
    ? `${escapeControlsInJson(asJson(profile, request, show), 2)}\n`
    : call.switches.has('curl')
      ? asCurl(request, show, reveal)
      : asText(profile, request, show, context);
  if (reveal) terminal.printClear(text);
  else terminal.print(text);
  return 0;
}

/** The request as `token` would send it now, with the newest refresh token that is kept. */
async function requestOf(
  session: Session,
  context: Context,
  reveal: boolean,
): Promise<{ profile: Profile; request: TokenRequest }> {
  const read = await session.readProfile(context.call.positionals[0] ?? '', await variablesOf(context));
  const profile = await followed(read, session);
  const request = buildTokenRequest(profile, version);
  // In clear, the request has to hold a real assertion; masked, nothing is signed.
  if (!reveal || request.assertion === undefined) return { profile, request };
  const bounds = { timeoutMs: profile.options.timeoutMs, signal: context.signal };
  const assertion = await session.ports.sign(request.assertion, profile.name, bounds);
  return { profile, request: withAssertion(request, assertion) };
}

/** A pasted refresh token that has rotated since is not what is sent. */
async function followed(profile: Profile, session: Session): Promise<Profile> {
  if (profile.grant !== 'refresh_token' || profile.family !== undefined || !getRefreshToken(profile)) return profile;
  const { kept } = await findFamily(profile, await session.openStore());
  const family = fromKept(kept, 'family');
  if (family === undefined || family.members.length < 2) return profile;
  const fields = profile.fields.map((field) =>
    field.name === 'refresh_token'
      ? { ...field, value: family.refreshToken, source: `vault, follows ${field.source}` }
      : field,
  );
  return { ...profile, fields };
}

function asJson(profile: Profile, { method, url, headers, form }: TokenRequest, show: Show): unknown {
  return {
    method,
    url: url.href,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, show(value)])),
    form: form.map(({ name, value, source }) => ({ name, value: show(value), source })),
    // A profile of type custom need not name one; who reads the object finds every member all the same.
    grant: profile.grant ?? null,
    provider: profile.provider.type,
  };
}

function asText(
  profile: Profile,
  { method, url, headers, form }: TokenRequest,
  show: Show,
  { terminal }: Context,
): string {
  const style = terminal.style.out;
  const rows: [name: string, value: string, source: string][] = [
    ...Object.entries(headers).map(([name, value]): [string, string, string] => [name, show(value), '']),
    ['', '', ''],
    ...form.map(({ name, value, source }): [string, string, string] => [
      escapeControls(name),
      escapeControls(visibleLineEnds(show(value))),
      source,
    ]),
  ];
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const valueWidth = Math.min(Math.max(...rows.map(([, value]) => value.length)), 48);
  const lines = rows.map(([name, value, source]) => {
    const origin = source === '' ? '' : `  ${style.dim(escapeControls(source))}`;
    const padded = origin === '' ? value : value.padEnd(valueWidth);
    return `  ${style.cyan(name.padEnd(nameWidth))}  ${padded}${origin}`.trimEnd();
  });
  const notes = profile.notes.map((note) => `\n${style.yellow('note:')} ${escapeControls(note)}`);
  return `${style.bold(`${method} ${url.href}`)}\n${lines.join('\n')}\n${notes.join('')}${notes.length > 0 ? '\n' : ''}`;
}

/** In a table a line end shows as what it is. */
function visibleLineEnds(text: string): string {
  return text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** `--data-raw` takes the body as it is, so that curl sends the very bytes that we would. */
function asCurl({ url, headers, form }: TokenRequest, show: Show, reveal: boolean): string {
  const lines = [`curl --globoff ${quote(url.href)}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quote(`${name}: ${show(value)}`)}`);
  for (const { name, value } of form) {
    const shown = typeof value === 'string' || reveal ? encodeFormComponent(show(value)) : MASK;
    lines.push(`--data-raw ${quote(`${encodeFormComponent(name)}=${shown}`)}`);
  }
  return `${lines.join(' \\\n  ')}\n`;
}

/** A word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
