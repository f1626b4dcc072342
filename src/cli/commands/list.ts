import { parseRecord } from '../../flows/records.ts';
import type { TokenStore } from '../../ports.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { type Context, formatTime } from '../context.ts';
import { alignColumns } from '../style.ts';
import { withClient } from '../with-client.ts';

/** `list`: shows the profiles and what is stored for them, with fingerprints instead of tokens. */
export function runList(context: Context): Promise<number> {
  const { args, terminal } = context;
  return withClient(context, async ({ client, variables }) => {
    const store = await client.openStore();
    const defined = variables.profileNames();
    const rows = (await store.list()).flatMap((record) => toRow(parseRecord(record), store, defined));
    for (const profile of defined)
      if (!rows.some((row) => row.profile === profile)) rows.push({ profile, defined: true });
    rows.sort((one, other) => (one.profile < other.profile ? -1 : 1));
    if (args.switches.has('json')) terminal.stdoutJson({ store: store.location, profiles: rows });
    else terminal.stdout(formatTable(rows, store.location, context, store.now()));
    return 0;
  });
}

/** A profile, or a stored record of one, as `--json` prints it. */
interface Row {
  readonly profile: string;
  /** Whether the profile is defined in the files that were read. */
  readonly defined: boolean;
  readonly kind?: 'token' | 'refresh';
  /** Origin of the token URL. */
  readonly server?: string | undefined;
  /** First characters of a digest: enough to tell two tokens apart. */
  readonly fingerprint?: string;
  /** When the last access token was obtained. */
  readonly obtainedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly refreshable?: boolean;
  readonly account?: string | undefined;
}

function toRow(record: ReturnType<typeof parseRecord>, store: TokenStore, defined: readonly string[]): Row[] {
  if (record.kind === 'login' || record.kind === 'metadata') return [];
  const { profile } = record;
  const [newest] = Object.values(record.tokens).sort((one, other) => other.receivedAt - one.receivedAt);
  const family = record.kind === 'family' ? record : undefined;
  const token = family?.refreshToken ?? newest?.response;
  if (token === undefined) return [];
  return [
    {
      profile,
      defined: defined.includes(profile),
      kind: family?.refreshToken === undefined ? 'token' : 'refresh',
      server: record.origin,
      fingerprint: store.fingerprint(token).slice(0, 8),
      obtainedAt: formatTime(newest?.receivedAt),
      expiresAt: formatTime(newest?.expiresAt),
      refreshable: family?.refreshToken !== undefined && family.cachedError === undefined,
      account: family?.account,
    },
  ];
}

function formatTable(rows: readonly Row[], location: string, { terminal }: Context, now: number): string {
  const style = terminal.style.out;
  const cells = rows.map((row) => [
    escapeControls(row.profile) + (row.defined ? '' : ' (not defined here)'),
    escapeControls(row.server ?? ''),
    row.kind === undefined ? 'nothing stored' : formatExpiry(row, now),
    row.refreshable ? 'stored' : row.kind === 'refresh' ? 'rejected: log in again' : '',
    escapeControls(row.account ?? ''),
    row.fingerprint ?? '',
  ]);
  const head = ['profile', 'server', 'access token', 'refresh token', 'account', 'fingerprint'];
  const [title = '', ...lines] = alignColumns([head, ...cells]);
  const footer = style.dim(`stored in ${escapeControls(location)}; to delete: oauth-profile forget <profile>`);
  return `${[style.dim(title), ...lines, footer].join('\n')}\n`;
}

function formatExpiry({ obtainedAt, expiresAt }: Row, now: number): string {
  if (obtainedAt === undefined) return 'none';
  if (expiresAt === undefined) return 'expiry unknown';
  const seconds = Math.floor((Date.parse(expiresAt) - now) / 1000);
  if (seconds <= 0) return 'expired';
  if (seconds < 120) return `expires in ${seconds} s`;
  return `expires in ${seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`}`;
}
