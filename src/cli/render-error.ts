import { errorCodes, type Fault, InvalidProfileError, OAuthProfileError, ProviderError } from '../errors.ts';
import { printable, printableJson } from '../redaction/printable.ts';
import type { Call } from './command.ts';
import { repeatFlags, repeatFlagsIn } from './repeat-flags.ts';
import type { Style } from './style.ts';
import type { Terminal } from './terminal.ts';

/** A bug of ours, not a failure that has a code (sysexits' EX_SOFTWARE). */
const BUG_STATUS = 70;

/** Shows an error to the person or, as one object, to a program, and gives the exit status that belongs to it. Commands in its advice get the flags of the call. */
export function showError(error: unknown, terminal: Terminal, json: boolean, verbose: boolean, call?: Call): number {
  if (!(error instanceof OAuthProfileError)) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    terminal.tell(
      `oauth-profile: a bug, please report it: ${name}: ${printable(message)}\n${verbose ? `${stack}\n` : ''}`,
    );
    return BUG_STATUS;
  }
  terminal.tell(json ? `${printableJson(repeatFlagsIn(error, call))}\n` : errorText(error, terminal.style.err, call));
  return errorCodes[error.code];
}

function errorText(error: OAuthProfileError, style: Style, call?: Call): string {
  const invalid = error instanceof InvalidProfileError ? error : undefined;
  const head = `${style.red('oauth-profile:')} ${printable(invalid?.summary ?? error.message)}\n`;
  if (invalid !== undefined) return head + faultLines(invalid.faults, style, call);
  const advice =
    error.advice === undefined ? '' : `  ${style.cyan('→')} ${printable(repeatFlags(error.advice, call))}\n`;
  const id = error instanceof ProviderError ? error.provider.correlationId : undefined;
  return `${head}${advice}${id === undefined ? '' : `  ${style.dim(`correlation id ${printable(id)}`)}\n`}`;
}

/** One fault a line, its advice below it. */
export function faultLines(faults: readonly Fault[], style: Style, call?: Call): string {
  return faults
    .map(({ variable, message, advice, where }) => {
      const place = where === undefined ? '' : style.dim(` (${printable(where)})`);
      const mend = advice === undefined ? '' : `      ${style.cyan('→')} ${printable(repeatFlags(advice, call))}\n`;
      return `    ${style.bold(printable(variable))}${place} ${printable(message)}\n${mend}`;
    })
    .join('');
}
