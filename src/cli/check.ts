import type { Variables } from '../data/variables.ts';
import { type Fault, InvalidProfileError, OAuthProfileError } from '../errors.ts';
import { profileNames, untypedNames } from '../profile/collect-fields.ts';
import type { Profile } from '../profile/profile.ts';
import { readProfile } from '../profile/read-profile.ts';
import { printable, printableJson } from '../secret/printable.ts';
import { buildRequest } from '../token/build-request.ts';
import { type Context, outsideOf, portsOf, variablesOf } from './context.ts';
import { faultLines } from './show-error.ts';

/** What `check` found of one profile. */
interface Finding {
  readonly profile: string;
  readonly ok: boolean;
  readonly provider?: string;
  readonly grant?: string | undefined;
  readonly url?: string;
  readonly notes: readonly string[];
  readonly faults: readonly Fault[];
}

/** `check [profile…]`: every fault of every profile, nothing sent. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  const variables = await variablesOf(context);
  const names =
    call.positionals.length > 0 ? call.positionals : [...profileNames(variables), ...untypedNames(variables)];
  if (names.length === 0) {
    throw new OAuthProfileError('profile_not_found', 'no profile is defined', {
      advice: 'write one into oauth-profiles.yaml: its type, and the fields of that type',
    });
  }
  const findings: Finding[] = [];
  for (const name of names) findings.push(await check(name, variables, context));
  if (call.switches.has('json')) terminal.print(`${printableJson({ profiles: findings }, 2)}\n`);
  else for (const finding of findings) terminal.print(text(finding, context));
  return findings.every(({ ok }) => ok) ? 0 : 2;
}

async function check(name: string, variables: Variables, context: Context): Promise<Finding> {
  try {
    const profile = readProfile(name, variables, outsideOf(context));
    await tryFiles(profile, context);
    const { provider, grant, url, notes } = profile;
    return { profile: name, ok: true, provider: provider.type, grant, url: url.href, notes, faults: [] };
  } catch (error) {
    if (error instanceof InvalidProfileError)
      return { profile: name, ok: false, notes: error.notes, faults: error.faults };
    if (!(error instanceof OAuthProfileError) || error.code !== 'profile_not_found') throw error;
    const fault = { variable: name, message: 'is no profile', advice: error.advice };
    return { profile: name, ok: false, notes: [], faults: [fault] };
  }
}

/** Keys and certificates are used once, so that a wrong file is found here and not at the first request. */
async function tryFiles(profile: Profile, context: Context): Promise<void> {
  const { assertion } = buildRequest(profile, '');
  const bounds = { timeoutMs: profile.options.timeoutMs, signal: context.signal };
  if (assertion !== undefined) await portsOf(context).sign(assertion, profile.name, bounds);
  const { ca, cert, certKey } = profile.options;
  if (ca === undefined && cert === undefined) return;
  const { checkTlsFiles } = await import('../transport/check-tls-files.ts');
  checkTlsFiles(profile.name, { ca: ca?.text, cert: cert?.text, certKey: certKey?.text });
}

function text({ profile, ok, provider, grant, url, notes, faults }: Finding, { terminal, call }: Context): string {
  const style = terminal.style.out;
  const shown = call.switches.has('quiet') ? [] : notes;
  const remarks = shown.map((note) => `    ${style.yellow('note:')} ${note}\n`).join('');
  if (!ok) return `${style.red('✗')} ${style.bold(printable(profile))}\n${faultLines(faults, style)}${remarks}`;
  const how = grant === undefined ? `${provider}` : `${provider}, ${printable(grant)}`;
  return `${style.green('✓')} ${style.bold(printable(profile))}  ${how}  ${style.dim(String(url))}\n${remarks}`;
}
