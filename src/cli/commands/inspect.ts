import { type EndpointView, inspectToken, type TokenInspection } from '../../flows/inspect-token.ts';
import type { DecodedToken } from '../../oauth/inspection.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { type Context, formatTime } from '../context.ts';
import { alignColumns, type Style } from '../style.ts';
import { withClient } from '../with-client.ts';
import { getTokenIn, warnIfEmulated } from './token.ts';

/** `inspect <profile>`: shows the claims of a token and what its server knows about it, never the token. */
export async function runInspect(context: Context): Promise<number> {
  const { args, terminal, signal } = context;
  await withClient(context, async (open) => {
    const result = await getTokenIn(open, context, args.positionals[0] ?? '', { signal });
    const { accessToken, idToken, introspection, userinfo } = await inspectToken(result, open.client, signal);
    warnIfEmulated(context, open);
    if (args.switches.has('json'))
      terminal.stdoutJson({ access_token: accessToken, id_token: idToken, introspection, userinfo });
    else terminal.stdout(formatInspection({ accessToken, idToken, introspection, userinfo }, terminal.style.out));
  });
  return 0;
}

/** Wider values are not aligned. */
const MAX_WIDTH = 48;
/** Claims that are times in epoch seconds (RFC 7519 §4.1, OpenID Connect Core §2, §5.1). */
const TIMES = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);

function formatInspection({ accessToken, idToken, introspection, userinfo }: TokenInspection, style: Style): string {
  const rows = [
    ...tokenRows('access_token', accessToken),
    ...(idToken === undefined ? [] : tokenRows('id_token', idToken)),
    ...endpointRows('introspection', introspection),
    ...endpointRows('userinfo', userinfo),
  ];
  return rows
    .map(([title, members]) => {
      const lines = alignColumns(members, [style.cyan, String, style.dim], MAX_WIDTH);
      return [style.bold(title), ...lines.map((line) => `  ${line}`)].join('\n');
    })
    .join('\n\n')
    .concat('\n');
}

type Section = readonly [title: string, rows: readonly (readonly string[])[]];

function tokenRows(name: string, token: DecodedToken): Section[] {
  switch (token.format) {
    case 'opaque':
      return [[`${name}: opaque, only its server can read it`, []]];
    case 'encrypted_jwt':
      return [[`${name}: encrypted JWT, header`, memberRows(token.header)]];
    case 'jwt':
      return [
        [`${name}: JWT, header`, memberRows(token.header)],
        [`${name}: JWT, claims (the signature is not verified)`, memberRows(token.claims)],
      ];
  }
}

function endpointRows(name: string, view: EndpointView | undefined): Section[] {
  if (view === undefined) return [];
  const title = `${name}: ${escapeControls(view.url)}`;
  return [[title, 'error' in view ? [['error', escapeControls(view.error)]] : memberRows(view.response)]];
}

function memberRows(members: object): string[][] {
  return Object.entries(members).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const time = TIMES.has(name) && typeof value === 'number' ? describeTime(value) : '';
    return [name, text, time].map(escapeControls);
  });
}

/** A time in words: `2026-11-16T14:00:00.000Z, in 59 min`. */
function describeTime(seconds: number): string {
  const fromNow = Math.round(seconds - Date.now() / 1000);
  const distance = Math.abs(fromNow);
  const words =
    distance < 120
      ? `${distance} s`
      : distance < 7200
        ? `${Math.floor(distance / 60)} min`
        : distance < 172_800
          ? `${Math.floor(distance / 3600)} h`
          : `${Math.floor(distance / 86_400)} days`;
  return `${formatTime(seconds * 1000) ?? 'not a date'}, ${fromNow < 0 ? `${words} ago` : `in ${words}`}`;
}
