import { OAuthProfileError, type ProfileIssue } from '../../errors.ts';
import type { Diagnostic } from '../../flows/diagnose/finding.ts';
import { indentationHint, profileNames, untypedNames } from '../../profile/collect-fields.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { type Context, sessionOf, variablesOf, warn } from '../context.ts';
import { emulationOf } from '../emulation.ts';
import { issueLines } from '../render-error.ts';
import { appendCallerFlags, appendCallerFlagsTo } from '../repeat-flags.ts';
import type { Style } from '../style.ts';
import { type CheckedProfile, checkProfile } from './check-profile.ts';

/** What `check` found of one profile. */
interface Verdict {
  readonly profile: string;
  readonly ok: boolean;
  readonly provider?: string;
  readonly grant?: string | undefined;
  readonly url?: string;
  readonly notes: readonly string[];
  readonly issues: readonly ProfileIssue[];
  /** With `--online`, of a profile that can be read so far. */
  readonly findings?: readonly Diagnostic[] | undefined;
}

/** `check [profile…]`: every fault of every profile, nothing sent; with `--online` also what the provider and the way to it show. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  const variables = await variablesOf(context);
  const names =
    call.positionals.length > 0 ? call.positionals : [...profileNames(variables), ...untypedNames(variables)];
  if (names.length === 0) {
    throw new OAuthProfileError('profile_not_found', 'no profile is defined', {
      hint: indentationHint(variables) ?? 'write one into oauth-profiles.yaml: its type, and the fields of that type',
    });
  }
  const online = call.switches.has('online');
  const emulation = online ? await emulationOf(context, variables) : undefined;
  const session = sessionOf(context, emulation?.address);
  try {
    const checked: CheckedProfile[] = [];
    for (const name of names) checked.push(await checkProfile(name, variables, session, context));
    const readable = checked.map(({ profile }) => profile).filter((profile) => profile !== undefined);
    const looked = online
      ? await (await import('./check-online.ts')).look(readable, session, context, emulation?.address)
      : undefined;
    const profiles = checked.map((one) => verdictOf(one, one.profile && looked?.findings.get(one.profile)));
    const store = looked?.store;
    if (call.switches.has('json'))
      terminal.print(`${escapeControlsInJson(appendCallerFlagsTo({ profiles, store }, call), 2)}\n`);
    else {
      const usable = profiles.filter(({ url }) => url !== undefined);
      const widest = (cell: (verdict: Verdict) => string) => Math.max(0, ...usable.map((one) => cell(one).length));
      const widths = [widest(({ profile }) => escapeControls(profile)), widest(wayOf)] as const;
      for (const verdict of profiles) terminal.print(text(verdict, widths, context));
      if (store !== undefined) terminal.print(findingLines([store], '', context));
    }
    if (emulation !== undefined) warn(context, 'emulated: the emulator was looked at, not the providers');
    return profiles.every(({ ok }) => ok) && store?.level !== 'fault' ? 0 : 2;
  } finally {
    await session.close();
    await emulation?.close();
  }
}

function verdictOf({ name, issues, notes, profile }: CheckedProfile, findings?: readonly Diagnostic[]): Verdict {
  const ok = issues.length === 0 && findings?.some(({ level }) => level === 'fault') !== true;
  if (profile === undefined || issues.length > 0) return { profile: name, ok, notes, issues, findings };
  const { provider, grant, url } = profile;
  return { profile: name, ok, provider: provider.type, grant, url: url.href, notes, issues, findings };
}

/** The provider and the grant of a profile that can be used. */
function wayOf({ provider, grant }: Verdict): string {
  return [provider, grant].flatMap((part) => (part === undefined ? [] : [escapeControls(part)])).join(', ');
}

function text(verdict: Verdict, [nameWidth, wayWidth]: readonly [number, number], context: Context): string {
  const { profile, ok, url, notes, issues, findings = [] } = verdict;
  const style = context.terminal.style.out;
  const shown = context.call.switches.has('quiet') ? [] : notes;
  const remarks = shown.map((note) => `    ${style.yellow('note:')} ${note}\n`).join('');
  const name = escapeControls(profile);
  const pad = name.padEnd(nameWidth).slice(name.length);
  const what = url === undefined ? '' : `${pad}  ${wayOf(verdict).padEnd(wayWidth)}  ${style.dim(url)}`;
  const mark = ok ? style.green('✓') : style.red('✗');
  const head = `${mark} ${style.bold(name)}${what}\n`;
  return head + issueLines(issues, style, context.call) + remarks + findingLines(findings, '    ', context);
}

function findingLines(findings: readonly Diagnostic[], indent: string, { terminal, call }: Context): string {
  const style = terminal.style.out;
  return findings
    .filter(({ level }) => !call.switches.has('quiet') || level === 'fault')
    .map(({ level, where, message, hint }) => {
      const mend =
        hint === undefined ? '' : `${indent}  ${style.cyan('→')} ${escapeControls(appendCallerFlags(hint, call))}\n`;
      return `${indent}${style[COLOURS[level]](`${level}:`)} ${escapeControls(where)}: ${escapeControls(message)}\n${mend}`;
    })
    .join('');
}

const COLOURS = { fault: 'red', warning: 'yellow', note: 'yellow', ok: 'green' } as const satisfies Record<
  Diagnostic['level'],
  keyof Style
>;
