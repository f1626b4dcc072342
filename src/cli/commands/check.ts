import type { Client } from '../../client.ts';
import type { Variables } from '../../config/variables.ts';
import { errorCodes, InvalidProfileError, OAuthProfileError, type ProfileIssue } from '../../errors.ts';
import type { Diagnostic } from '../../flows/diagnose/diagnostic.ts';
import { buildTokenRequest } from '../../oauth/token-request.ts';
import { indentationHint, untypedNames } from '../../profile/collect-fields.ts';
import { completeProfile } from '../../profile/complete-profile.ts';
import { toLoginProfile } from '../../profile/login-profile.ts';
import { type ParsedProfile, parseProfile } from '../../profile/parse-profile.ts';
import { type Profile, tlsFiles } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { hasFlag } from '../command.ts';
import { type Context, warn } from '../context.ts';
import { formatHint, formatIssues, withCallerFlags } from '../render-error.ts';
import type { Style } from '../style.ts';
import { withClient } from '../with-client.ts';

/** Result for one profile, as `--json` prints it. */
interface CheckResult {
  readonly profile: string;
  readonly ok: boolean;
  readonly provider?: string;
  readonly grant?: string | undefined;
  readonly url?: string;
  readonly notes: readonly string[];
  readonly issues: readonly ProfileIssue[];
  /** With `--online`, if the profile can be read so far. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
}

/** A profile with its issues. `profile` is set if its provider can be inspected. */
interface CheckedProfile {
  readonly name: string;
  readonly issues: readonly ProfileIssue[];
  readonly notes: readonly string[];
  readonly profile: Profile | undefined;
}

const STORE_TIMEOUT_MS = 10_000;

/** `check [profile…]`: reports all issues of all profiles. With `--online` also inspects the providers and the store. */
export function runCheck(context: Context): Promise<number> {
  const { args, terminal, signal } = context;
  return withClient(context, async ({ client, variables, emulation }) => {
    const checked: CheckedProfile[] = [];
    const storeErrors = new Set<string>();
    for (const name of namesToCheck(args.positionals, variables))
      checked.push(await checkProfile(name, variables, client, context, storeErrors));
    for (const message of storeErrors) warn(context, `stored logins are ignored: ${escapeControls(message)}`);
    let diagnostics = new Map<Profile, readonly Diagnostic[]>();
    let store: Diagnostic | undefined;
    if (hasFlag(args, 'online')) {
      const profiles = checked.map(({ profile }) => profile).filter((profile) => profile !== undefined);
      const { checkOnline } = await import('../../flows/diagnose/check-online.ts');
      diagnostics = await checkOnline(profiles, client, await client.loginPorts(), signal);
      if (emulation === undefined) store = await checkStoreOf(profiles, client, signal);
    }
    const results = checked.map((one) => toResult(one, one.profile && diagnostics.get(one.profile)));
    if (hasFlag(args, 'json'))
      terminal.stdout(`${escapeControlsInJson(withCallerFlags({ profiles: results, store }, args), 2)}\n`);
    else terminal.stdout(formatResults(results, store, context));
    if (emulation !== undefined) warn(context, 'emulated: the emulator was checked, not the providers');
    return results.every(({ ok }) => ok) && store?.level !== 'error' ? 0 : 2;
  });
}

function namesToCheck(given: readonly string[], variables: Variables): readonly string[] {
  const names = given.length > 0 ? given : [...variables.profileNames(), ...untypedNames(variables)];
  if (names.length > 0) return names;
  throw new OAuthProfileError('profile_not_found', 'no profile is defined', {
    hint: indentationHint(variables) ?? 'define one in oauth-profiles.yaml: its type and the fields of that type',
  });
}

/** Validates a profile and its key and certificate files. Sends nothing. */
async function checkProfile(
  name: string,
  variables: Variables,
  client: Client,
  context: Context,
  storeErrors: Set<string>,
): Promise<CheckedProfile> {
  let parsed: ParsedProfile;
  try {
    parsed = parseProfile(name, variables, client.sources);
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || error.code !== 'profile_not_found') throw error;
    const issue = { variable: name, message: 'is not a profile', hint: error.hint };
    return { name, issues: [issue], notes: [], profile: undefined };
  }
  try {
    const profile = await complete(parsed, client, context, storeErrors);
    await checkFiles(profile, client, context);
    return { name, issues: [], notes: profile.notes, profile };
  } catch (error) {
    if (!(error instanceof InvalidProfileError)) throw error;
    const { issues, notes } = error;
    return { name, issues, notes, profile: await beforeLogin(parsed, client, context).catch(() => undefined) };
  }
}

/** With the stored login, if the store can be read. A remote store is used with `--online` only. */
async function complete(
  parsed: ParsedProfile,
  client: Client,
  { args, environment }: Context,
  storeErrors: Set<string>,
): Promise<Profile> {
  const isRemote = args.values.has('store') || Boolean(environment.env['OAUTH_PROFILE_STORE']);
  if (isRemote && !hasFlag(args, 'online')) return completeProfile(parsed);
  try {
    return await client.completeProfile(parsed);
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || errorCodes[error.code] !== 6) throw error;
    // With `--online`, the store has a diagnostic of its own.
    if (!hasFlag(args, 'online')) storeErrors.add(error.message);
    return completeProfile(parsed);
  }
}

/** The profile as it will be after a login. */
async function beforeLogin(parsed: ParsedProfile, client: Client, context: Context): Promise<Profile> {
  const { clientParameters, scope, ...login } = toLoginProfile(parsed);
  const fields = scope === undefined ? clientParameters : [...clientParameters, scope];
  const profile = { ...login, grant: 'refresh_token', fields, family: undefined, notes: [] };
  await checkFiles(profile, client, context);
  return profile;
}

/** Uses keys and certificates once, so that a wrong file is found before the first request. */
async function checkFiles(profile: Profile, { ports }: Client, { signal }: Context): Promise<void> {
  const { assertion } = buildTokenRequest(profile, '');
  const { timeoutMs, ca, cert } = profile.options;
  if (assertion !== undefined) await ports.sign(assertion, profile.name, { timeoutMs, signal });
  if (ca === undefined && cert === undefined) return;
  const { checkTlsFiles } = await import('../../http/tls.ts');
  checkTlsFiles(profile.name, tlsFiles(profile.options));
}

async function checkStoreOf(profiles: readonly Profile[], client: Client, signal: AbortSignal): Promise<Diagnostic> {
  const { checkStore } = await import('../../flows/diagnose/check-store.ts');
  const { inspectDirectory } = await import('../../store/vault/inspect-directory.ts');
  const isRequired = profiles.some(({ grant }) => grant === 'refresh_token');
  return checkStore({ open: () => client.openStore(), inspectDirectory }, isRequired, {
    timeoutMs: STORE_TIMEOUT_MS,
    signal,
  });
}

function toResult({ name, issues, notes, profile }: CheckedProfile, diagnostics?: readonly Diagnostic[]): CheckResult {
  const ok = issues.length === 0 && diagnostics?.some(({ level }) => level === 'error') !== true;
  if (profile === undefined || issues.length > 0) return { profile: name, ok, notes, issues, diagnostics };
  const { provider, grant, url } = profile;
  return { profile: name, ok, provider: provider.type, grant, url: url.href, notes, issues, diagnostics };
}

function formatResults(results: readonly CheckResult[], store: Diagnostic | undefined, context: Context): string {
  const usable = results.filter(({ url }) => url !== undefined);
  const widest = (cell: (result: CheckResult) => string) => Math.max(0, ...usable.map((one) => cell(one).length));
  const widths = [widest(({ profile }) => escapeControls(profile)), widest(describeGrant)] as const;
  const lines = results.map((result) => formatResult(result, widths, context));
  return lines.join('') + (store === undefined ? '' : formatDiagnostics([store], '', context));
}

function describeGrant({ provider, grant }: CheckResult): string {
  return [provider, grant].flatMap((part) => (part === undefined ? [] : [escapeControls(part)])).join(', ');
}

function formatResult(
  result: CheckResult,
  [nameWidth, grantWidth]: readonly [number, number],
  context: Context,
): string {
  const { profile, ok, url, notes, issues, diagnostics = [] } = result;
  const style = context.terminal.style.out;
  const shown = hasFlag(context.args, 'quiet') ? [] : notes;
  const noteLines = shown.map((note) => `    ${style.yellow('note:')} ${note}\n`).join('');
  const name = escapeControls(profile);
  const padding = ' '.repeat(Math.max(0, nameWidth - name.length));
  const target = url === undefined ? '' : `${padding}  ${describeGrant(result).padEnd(grantWidth)}  ${style.dim(url)}`;
  const head = `${ok ? style.green('✓') : style.red('✗')} ${style.bold(name)}${target}\n`;
  return head + formatIssues(issues, style, context.args) + noteLines + formatDiagnostics(diagnostics, '    ', context);
}

const COLOURS = { error: 'red', warning: 'yellow', note: 'yellow', ok: 'green' } as const satisfies Record<
  Diagnostic['level'],
  keyof Style
>;

function formatDiagnostics(diagnostics: readonly Diagnostic[], indent: string, { terminal, args }: Context): string {
  const style = terminal.style.out;
  return diagnostics
    .filter(({ level }) => !hasFlag(args, 'quiet') || level === 'error')
    .map(({ level, where, message, hint }) => {
      const label = style[COLOURS[level]](`${level}:`);
      return `${indent}${label} ${escapeControls(where)}: ${escapeControls(message)}\n${formatHint(hint, `${indent}  `, style, args)}`;
    })
    .join('');
}
