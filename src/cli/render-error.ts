import { errorCodes, InvalidProfileError, OAuthProfileError, type ProfileIssue, ProviderError } from '../errors.ts';
import { escapeControls, escapeControlsInJson } from '../redaction/sanitize.ts';
import type { ParsedArgs } from './command.ts';
import { appendCallerFlags, appendCallerFlagsTo } from './repeat-flags.ts';
import type { Style } from './style.ts';
import type { Terminal } from './terminal.ts';

/** A bug of ours, not a failure that has a code (sysexits' EX_SOFTWARE). */
const BUG_STATUS = 70;

/** Shows an error to the person or, as one object, to a program, and gives the exit status that belongs to it. Commands in its hint get the flags of the call. */
export function renderError(
  error: unknown,
  terminal: Terminal,
  json: boolean,
  verbose: boolean,
  call?: ParsedArgs,
): number {
  if (!(error instanceof OAuthProfileError)) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    terminal.tell(
      `oauth-profile: a bug, please report it: ${name}: ${escapeControls(message)}\n${verbose ? `${stack}\n` : ''}`,
    );
    return BUG_STATUS;
  }
  terminal.tell(
    json ? `${escapeControlsInJson(appendCallerFlagsTo(error, call))}\n` : errorText(error, terminal.style.err, call),
  );
  return errorCodes[error.code];
}

function errorText(error: OAuthProfileError, style: Style, call?: ParsedArgs): string {
  const invalid = error instanceof InvalidProfileError ? error : undefined;
  const head = `${style.red('oauth-profile:')} ${escapeControls(invalid?.summary ?? error.message)}\n`;
  if (invalid !== undefined) return head + issueLines(invalid.issues, style, call);
  const hint =
    error.hint === undefined ? '' : `  ${style.cyan('→')} ${escapeControls(appendCallerFlags(error.hint, call))}\n`;
  const id = error instanceof ProviderError ? error.provider.correlationId : undefined;
  return `${head}${hint}${id === undefined ? '' : `  ${style.dim(`correlation id ${escapeControls(id)}`)}\n`}`;
}

/** One fault a line, its hint below it. */
export function issueLines(issues: readonly ProfileIssue[], style: Style, call?: ParsedArgs): string {
  return issues
    .map(({ variable, message, hint, where }) => {
      const place = where === undefined ? '' : style.dim(` (${escapeControls(where)})`);
      const mend =
        hint === undefined ? '' : `      ${style.cyan('→')} ${escapeControls(appendCallerFlags(hint, call))}\n`;
      return `    ${style.bold(escapeControls(variable))}${place} ${escapeControls(message)}\n${mend}`;
    })
    .join('');
}
