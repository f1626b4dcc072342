import { errorCodes, InvalidProfileError, OAuthProfileError, type ProfileIssue, ProviderError } from '../errors.ts';
import { quoteShellArgument } from '../profile/profile.ts';
import { escapeControls, escapeControlsInJson } from '../redaction/sanitize.ts';
import { MASK } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import type { ParsedArgs } from './args.ts';
import type { Style } from './style.ts';
import type { Terminal } from './terminal.ts';

/** Exit status of a bug (EX_SOFTWARE of sysexits.h). */
const BUG_STATUS = 70;

/** Prints an error, with `--json` as one object, and returns its exit status. */
export function renderError(
  error: unknown,
  { terminal, args }: { readonly terminal: Terminal; readonly args: ParsedArgs },
): number {
  if (!(error instanceof OAuthProfileError)) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    const lines = args.switches.has('verbose') ? (stack ?? '').split('\n') : [];
    const details = lines.map((line) => `${escapeControls(line)}\n`).join('');
    terminal.stderr(`oauth-profile: internal error, please report it: ${name}: ${escapeControls(message)}\n${details}`);
    return BUG_STATUS;
  }
  terminal.stderr(
    args.switches.has('json')
      ? `${escapeControlsInJson(withCallerFlags(error, args))}\n`
      : formatError(error, terminal.style.err, args),
  );
  return errorCodes[error.code];
}

function formatError(error: OAuthProfileError, style: Style, args: ParsedArgs): string {
  const invalid = error instanceof InvalidProfileError ? error : undefined;
  const head = `${style.red('oauth-profile:')} ${escapeControls(invalid?.summary ?? error.message)}\n`;
  if (invalid !== undefined) return head + formatIssues(invalid.issues, style, args);
  const id = error instanceof ProviderError ? error.provider.correlationId : undefined;
  const correlation = id === undefined ? '' : `  ${style.dim(`correlation id ${escapeControls(id)}`)}\n`;
  return head + formatHint(error.hint, '  ', style, args) + correlation;
}

/** One line for each issue, with its hint below. */
export function formatIssues(issues: readonly ProfileIssue[], style: Style, args: ParsedArgs): string {
  return issues
    .map(({ variable, message, hint, where }) => {
      const location = where === undefined ? '' : style.dim(` (${escapeControls(where)})`);
      const line = `    ${style.bold(escapeControls(variable))}${location} ${escapeControls(message)}\n`;
      return line + formatHint(hint, '      ', style, args);
    })
    .join('');
}

/** Each line of a hint on its own line. */
export function formatHint(hint: string | undefined, indent: string, style: Style, args: ParsedArgs): string {
  const lines = hint === undefined ? [] : addCallerFlags(hint, args).split('\n');
  return lines.map((line) => `${indent}${style.cyan('→')} ${escapeControls(line)}\n`).join('');
}

/** A JSON copy in which every `hint` has the flags of the caller. */
export function withCallerFlags(value: unknown, args: ParsedArgs): unknown {
  return JSON.parse(JSON.stringify(value), (name, member) =>
    name === 'hint' && typeof member === 'string' ? addCallerFlags(member, args) : member,
  );
}

/** A command in a hint, up to its profile as `quoteShellArgument` writes it. */
const commandInHint = /oauth-profile (?:login|explain) (?:'(?:[^']|'\\'')*'|[^\s';]+)/g;

/** Adds `--data`, `--env-file`, `--set` and `--store` to the commands of a hint, so that they find the same profile and store. */
export function addCallerFlags(hint: string, { values }: ParsedArgs): string {
  const repeat = (flag: string, show: (value: string) => string): string[] =>
    (values.get(flag) ?? []).map((value) => ` --${flag} ${quoteShellArgument(show(value))}`);
  const files = [...repeat('data', String), ...repeat('env-file', String)];
  const flags = [...files, ...repeat('set', maskSetting), ...repeat('store', maskPassword)].join('');
  return hint.replace(commandInHint, (command) => command + flags);
}

/** Masks a secret value. A reference to an environment variable is not a secret. */
function maskSetting(setting: string): string {
  const name = setting.slice(0, setting.indexOf('='));
  const isPublic = !isSensitiveName(name) || /^\$\{env:\w+\}$/.test(setting.slice(name.length + 1));
  return isPublic ? setting : `${name}=${MASK}`;
}

function maskPassword(store: string): string {
  return store.replace(/^([\w+]+:\/\/[^/]*:)[^/]*@/, `$1${MASK}@`);
}
