import type { Client } from '../../client.ts';
import type { Variables } from '../../config/variables.ts';
import {
  errorCodes,
  InvalidProfileError,
  OAuthProfileError,
  type ProfileIssue,
  type ProfileRemarks,
} from '../../errors.ts';
import type { Diagnostic } from '../../flows/diagnose/diagnostic.ts';
import { buildTokenRequest } from '../../oauth/token-request.ts';
import { missingProfileHint, untypedNames } from '../../profile/collect-fields.ts';
import { completeProfile } from '../../profile/complete-profile.ts';
import { withoutIssuerEndpoints } from '../../profile/issuer-endpoints.ts';
import { toLoginProfile } from '../../profile/login-profile.ts';
import { type ParsedProfile, parseProfile } from '../../profile/parse-profile.ts';
import { type Profile, tlsFiles } from '../../profile/profile.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { type Context, warn } from '../context.ts';
import { formatHint, formatIssues, withCallerFlags } from '../render-error.ts';
import { alignColumns, type Style } from '../style.ts';
import { type OpenClient, withClient } from '../with-client.ts';

/** A profile with its issues. `profile` is set if its provider can be inspected. */
interface CheckedProfile extends ProfileRemarks {
  readonly name: string;
  readonly issues: readonly ProfileIssue[];
  readonly profile?: Profile | undefined;
}

/** The client of the command, and the errors of its store so far. */
interface Check extends Pick<OpenClient, 'client' | 'variables'> {
  readonly context: Context;
  readonly storeErrors: Set<string>;
}

const STORE_TIMEOUT_MS = 10_000;

/** `check [profile…]`: reports all issues of all profiles. With `--online` also inspects the providers and the store. */
export function runCheck(context: Context): Promise<number> {
  const { args, terminal, signal } = context;
  return withClient(context, async ({ client, variables, emulation }) => {
    const checked: CheckedProfile[] = [];
    const storeErrors = new Set<string>();
    for (const name of namesToCheck(args.positionals, variables))
      checked.push(await checkProfile(name, { client, variables, context, storeErrors }));
    for (const message of storeErrors) warn(context, `stored logins are ignored: ${message}`);
    let diagnostics = new Map<Profile, readonly Diagnostic[]>();
    let store: Diagnostic | undefined;
    if (args.switches.has('online')) {
      const profiles = checked.flatMap(({ profile }) => profile ?? []);
      const { checkOnline } = await import('../../flows/diagnose/check-online.ts');
      diagnostics = await checkOnline(profiles, client, await client.loginPorts(), signal);
      if (emulation === undefined) store = await checkStoreOf(profiles, client, signal);
    }
    const results = checked.map((one) => toResult(one, one.profile && diagnostics.get(one.profile)));
    if (args.switches.has('json')) terminal.stdoutJson(withCallerFlags({ profiles: results, store }, args));
    else terminal.stdout(formatResults(results, store, context));
    if (emulation !== undefined) warn(context, 'emulated: the emulator was checked, not the providers');
    const isAccepted = ({ ok, warnings }: CheckResult) => ok && !(args.switches.has('strict') && warnings.length > 0);
    return results.every(isAccepted) && store?.level !== 'error' ? 0 : 2;
  });
}

function namesToCheck(given: readonly string[], variables: Variables): readonly string[] {
  const names = given.length > 0 ? given : [...variables.profileNames(), ...untypedNames(variables)];
  if (names.length > 0) return names;
  throw new OAuthProfileError('profile_not_found', 'no profile is defined', {
    hint: missingProfileHint(variables) ?? 'create oauth-profiles.yaml with: oauth-profile init',
  });
}

/** Validates a profile and its key and certificate files. Sends nothing. */
async function checkProfile(name: string, check: Check): Promise<CheckedProfile> {
  const { client, variables, context } = check;
  const { signal } = context;
  let parsed: ParsedProfile | undefined;
  try {
    parsed = await parseForCheck(name, check);
    const profile = await checkFiles(await withLogin(parsed, check), client, signal);
    return { name, issues: [], notes: profile.notes, warnings: profile.warnings, profile };
  } catch (error) {
    if (error instanceof InvalidProfileError) {
      const { issues, notes, warnings } = error;
      // The providers can be inspected before the first login.
      const profile = parsed && toProfileAfterLogin(parsed).then((login) => checkFiles(login, client, signal));
      return { name, issues, notes, warnings, profile: await profile?.catch(() => undefined) };
    }
    if (!(error instanceof OAuthProfileError) || error.code === 'aborted') throw error;
    if (parsed === undefined && error.code !== 'profile_not_found') {
      const field = variables.get(`${name}.issuer`) === undefined ? 'options.issuer' : 'issuer';
      const issue = { variable: `${name}.${field}`, message: `cannot be used: ${error.message}`, hint: error.hint };
      return { name, issues: [issue], notes: [], warnings: [] };
    }
    if (error.code !== 'profile_not_found') throw error;
    const issue = { variable: name, message: 'is not a profile', hint: error.hint };
    return { name, issues: [issue], notes: [], warnings: [] };
  }
}

/** Without `--online`, the endpoints of an issuer are known only if they are cached on this machine. */
async function parseForCheck(name: string, { client, variables, context }: Check) {
  if (context.args.switches.has('online')) return client.parseProfile(name, variables, 'reload', context.signal);
  if (!usesRemoteStore(context)) return client.parseProfile(name, variables, 'offline');
  const parsed = parseProfile(name, variables, client.sources);
  return parsed.options.issuer === undefined ? parsed : withoutIssuerEndpoints(parsed);
}

function usesRemoteStore({ args, environment }: Context): boolean {
  return args.values.has('store') || Boolean(environment.env['OAUTH_PROFILE_STORE']);
}

/** The profile with its stored login, if the store can be read. A remote store is used with `--online` only. */
async function withLogin(parsed: ParsedProfile, { client, context, storeErrors }: Check) {
  const { args } = context;
  if (usesRemoteStore(context) && !args.switches.has('online')) return completeProfile(parsed);
  try {
    return await client.completeProfile(parsed);
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || errorCodes[error.code] !== 6) throw error;
    // With `--online`, the store has a diagnostic of its own.
    if (!args.switches.has('online')) storeErrors.add(error.message);
    return completeProfile(parsed);
  }
}

async function toProfileAfterLogin(parsed: ParsedProfile): Promise<Profile> {
  const { clientParameters, scope, ...login } = toLoginProfile(parsed);
  const fields = scope === undefined ? clientParameters : [...clientParameters, scope];
  return { ...login, grant: 'refresh_token', createsGrant: false, fields, family: undefined };
}

/** Uses keys and certificates once, so that a wrong file is found before the first request. */
async function checkFiles(profile: Profile, { ports }: Client, signal: AbortSignal): Promise<Profile> {
  const { pending } = buildTokenRequest(profile, '');
  const { timeoutMs, ca, cert } = profile.options;
  for (const { spec } of pending) if (!('source' in spec)) await ports.sign(spec, profile.name, { timeoutMs, signal });
  if (ca !== undefined || cert !== undefined) {
    const { checkTlsFiles } = await import('../../http/tls.ts');
    checkTlsFiles(profile.name, tlsFiles(profile.options));
  }
  return profile;
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

/** A result as `--json` prints it. `diagnostics` are set with `--online`. */
function toResult({ name, issues, notes, warnings, profile }: CheckedProfile, diagnostics?: readonly Diagnostic[]) {
  const ok = issues.length === 0 && diagnostics?.some(({ level }) => level === 'error') !== true;
  const shown = issues.length === 0 ? profile : undefined;
  const origins = shown?.options.origins.length === 0 ? undefined : shown?.options.origins;
  const target = { provider: shown?.provider.type, grant: shown?.grant, url: shown?.url.href, origins };
  return { profile: name, ok, ...target, notes, warnings, issues, diagnostics };
}

type CheckResult = ReturnType<typeof toResult>;

function formatResults(results: readonly CheckResult[], store: Diagnostic | undefined, context: Context): string {
  const style = context.terminal.style.out;
  const titles = alignColumns(
    results.map(({ profile, provider, grant, url }) => {
      const name = escapeControls(profile);
      return url === undefined ? [name] : [name, escapeControls([provider, grant].filter(Boolean).join(', ')), url];
    }),
    [style.bold, String, style.dim],
  );
  const isQuiet = context.args.switches.has('quiet');
  const isVerbose = context.args.switches.has('verbose');
  const blocks = results.map(({ ok, issues, notes, warnings, origins = [], diagnostics = [] }, index) => {
    const sign = ok ? (warnings.length > 0 ? style.yellow('!') : style.green('✓')) : style.red('✗');
    return [
      `${sign} ${titles[index]}\n`,
      formatIssues(issues, style, context.args),
      ...(isQuiet ? [] : warnings).map((warning) => `    ${style.yellow('warning:')} ${warning}\n`),
      ...(isQuiet ? [] : notes).map((note) => `    ${style.yellow('note:')} ${note}\n`),
      ...(isVerbose ? origins : []).map((origin) => `    ${style.dim(`token for ${origin}`)}\n`),
      formatDiagnostics(diagnostics, '    ', context),
    ].join('');
  });
  return blocks.join('') + formatDiagnostics(store === undefined ? [] : [store], '', context);
}

const COLOURS = { error: 'red', warning: 'yellow', note: 'yellow', ok: 'green' } as const satisfies Record<
  Diagnostic['level'],
  keyof Style
>;

function formatDiagnostics(diagnostics: readonly Diagnostic[], indent: string, { terminal, args }: Context): string {
  const style = terminal.style.out;
  return diagnostics
    .filter(({ level }) => !args.switches.has('quiet') || level === 'error')
    .map(({ level, where, message, hint }) => {
      const label = style[COLOURS[level]](`${level}:`);
      return `${indent}${label} ${escapeControls(where)}: ${escapeControls(message)}\n${formatHint(hint, `${indent}  `, style, args)}`;
    })
    .join('');
}
