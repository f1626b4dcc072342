import { readRecord } from '../../flows/stored-record.ts';
import type { TokenStore } from '../../ports.ts';
import { profileNames } from '../../profile/collect-fields.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { type Context, sessionOf, variablesOf } from '../context.ts';

/** What `list` tells of one profile, or of one kept token. */
interface Row {
  readonly profile: string;
  /** Whether the profile stands in the variables that were read. */
  readonly defined: boolean;
  readonly kind?: 'token' | 'refresh';
  /** First characters of a digest: enough to tell two tokens apart. */
  readonly fingerprint?: string;
  /** When the last access token came; missing where the provider never gave one. */
  readonly obtainedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly refreshable?: boolean;
  readonly account?: string | undefined;
}

/** `list`: the profiles, and what is kept for them; fingerprints, never a token. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  const variables = await variablesOf(context);
  const session = sessionOf(context);
  try {
    const store = await session.openStore();
    const defined = profileNames(variables);
    const kept = await keptRows(store, defined);
    const others = defined.filter((name) => !kept.some(({ profile }) => profile === name));
    const rows = [...kept, ...others.map((profile) => ({ profile, defined: true }))].sort((one, other) =>
      one.profile < other.profile ? -1 : 1,
    );
    if (call.switches.has('json'))
      terminal.print(`${escapeControlsInJson({ store: store.place, profiles: rows }, 2)}\n`);
    else terminal.print(table(rows, store.place, context, store.now()));
    return 0;
  } finally {
    await session.close();
  }
}

async function keptRows(store: TokenStore, defined: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { kept } of await store.list()) {
    const record = readRecord(kept);
    if (record.kind === 'login') continue;
    const { profile } = record;
    const tokens = Object.values(record.tokens);
    const newest = tokens.sort((one, other) => other.obtainedAt - one.obtainedAt)[0];
    const family = record.kind === 'family' ? record : undefined;
    const token = family?.refreshToken ?? newest?.response;
    if (token === undefined) continue;
    const isoTime = (ms: number | undefined): string | undefined =>
      ms === undefined ? undefined : new Date(ms).toISOString();
    rows.push({
      profile,
      defined: defined.includes(profile),
      kind: family === undefined ? 'token' : 'refresh',
      fingerprint: store.fingerprint(token).slice(0, 8),
      obtainedAt: isoTime(newest?.obtainedAt),
      expiresAt: isoTime(newest?.expiresAt),
      refreshable: family !== undefined && family.refusal === undefined,
      account: family?.account,
    });
  }
  return rows;
}

function table(rows: readonly Row[], place: string, { terminal }: Context, now: number): string {
  const style = terminal.style.out;
  const cells = rows.map((row) => [
    escapeControls(row.profile) + (row.defined ? '' : ' (not defined here)'),
    row.fingerprint ?? '',
    row.kind === undefined ? 'nothing kept' : tokenText(row, now),
    row.refreshable ? 'refreshable' : row.kind === 'refresh' ? 'refused: log in again' : '',
    escapeControls(row.account ?? ''),
  ]);
  const head = ['profile', 'fingerprint', 'access token', '', 'account'];
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const body = cells.map((row) => `${line(row)}\n`).join('');
  return `${style.dim(line(head))}\n${body}${style.dim(`kept in ${escapeControls(place)}`)}\n`;
}

function tokenText({ obtainedAt, expiresAt }: Row, now: number): string {
  if (obtainedAt === undefined) return 'never got one';
  if (expiresAt === undefined) return 'no expiry known';
  const seconds = Math.floor((Date.parse(expiresAt) - now) / 1000);
  if (seconds <= 0) return 'expired';
  const [amount, unit] =
    seconds < 120
      ? [seconds, 's']
      : seconds < 7200
        ? [Math.floor(seconds / 60), 'min']
        : [Math.floor(seconds / 3600), 'h'];
  return `${amount} ${unit} left`;
}
