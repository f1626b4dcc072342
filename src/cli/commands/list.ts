import { parseRecord } from '../../flows/records.ts';
import type { TokenStore } from '../../ports.ts';
import { profileNames } from '../../profile/collect-fields.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { hasFlag } from '../command.ts';
import type { Context } from '../context.ts';
import { withClient } from '../with-client.ts';

/** A profile, or a stored record of one. */
interface Row {
  readonly profile: string;
  /** Whether the profile is defined in the files that were read. */
  readonly defined: boolean;
  readonly kind?: 'token' | 'refresh';
  /** First characters of a digest: enough to tell two tokens apart. */
  readonly fingerprint?: string;
  /** When the last access token was obtained. */
  readonly obtainedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly refreshable?: boolean;
  readonly account?: string | undefined;
}

/** `list`: shows the profiles and what is stored for them, with fingerprints instead of tokens. */
export function runList(context: Context): Promise<number> {
  const { args, terminal } = context;
  return withClient(context, async ({ client, variables }) => {
    const store = await client.openStore();
    const defined = profileNames(variables);
    const stored = await storedRows(store, defined);
    const others = defined.filter((name) => !stored.some(({ profile }) => profile === name));
    const rows = [...stored, ...others.map((profile) => ({ profile, defined: true }))].sort((one, other) =>
      one.profile < other.profile ? -1 : 1,
    );
    if (hasFlag(args, 'json'))
      terminal.stdout(`${escapeControlsInJson({ store: store.location, profiles: rows }, 2)}\n`);
    else terminal.stdout(formatTable(rows, store.location, context, store.now()));
    return 0;
  });
}

async function storedRows(store: TokenStore, defined: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const stored of await store.list()) {
    const record = parseRecord(stored);
    if (record.kind === 'login') continue;
    const { profile } = record;
    const [newest] = Object.values(record.tokens).sort((one, other) => other.receivedAt - one.receivedAt);
    const family = record.kind === 'family' ? record : undefined;
    const token = family?.refreshToken ?? newest?.response;
    if (token === undefined) continue;
    rows.push({
      profile,
      defined: defined.includes(profile),
      kind: family === undefined ? 'token' : 'refresh',
      fingerprint: store.fingerprint(token).slice(0, 8),
      obtainedAt: formatTime(newest?.receivedAt),
      expiresAt: formatTime(newest?.expiresAt),
      refreshable: family !== undefined && family.cachedError === undefined,
      account: family?.account,
    });
  }
  return rows;
}

/** ISO 8601; `undefined` outside the range of dates, which a provider's `expires_in` may exceed. */
function formatTime(ms: number | undefined): string | undefined {
  const date = new Date(ms ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function formatTable(rows: readonly Row[], location: string, { terminal }: Context, now: number): string {
  const style = terminal.style.out;
  const cells = rows.map((row) => [
    escapeControls(row.profile) + (row.defined ? '' : ' (not defined here)'),
    row.fingerprint ?? '',
    row.kind === undefined ? 'nothing stored' : formatExpiry(row, now),
    row.refreshable ? 'refreshable' : row.kind === 'refresh' ? 'rejected: log in again' : '',
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
  return `${style.dim(line(head))}\n${body}${style.dim(`stored in ${escapeControls(location)}`)}\n`;
}

function formatExpiry({ obtainedAt, expiresAt }: Row, now: number): string {
  if (obtainedAt === undefined) return 'none';
  if (expiresAt === undefined) return 'expiry unknown';
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
