import { quoteShellArgument } from '../../profile/profile.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import type { Exchange, ShownPart } from '../result.ts';

/** Formats a request as a curl command for a POSIX shell. Each masked secret is a variable of the shell, such as `$TOKEN`. */
export function curlCommand({ method, url, headers, body, parts }: Exchange['request']): string {
  const isForm = parts?.some(({ name }) => name !== undefined) === true;
  const lines = [`curl --globoff${methodOption(method, body)} ${quoteWithVariables(url)}`];
  for (const [name, value] of headers) {
    // curl writes the boundary of a multipart form itself.
    if (isForm && /^content-type$/i.test(name)) continue;
    lines.push(`-H ${quoteWithVariables(value === '' ? `${name};` : `${name}: ${value}`)}`);
  }
  const isEncoded = headers.some(([name, value]) =>
    /^content-type: application\/x-www-form-urlencoded/i.test(`${name}: ${value}`),
  );
  if (parts !== undefined) lines.push(...parts.map(partOption));
  else if (body !== undefined) lines.push(...(isEncoded ? body.split('&') : [body]).map(dataOption));
  return lines.join(' \\\n  ');
}

/** curl sends a POST if there is a body, else a GET. */
function methodOption(method: string, body: string | undefined): string {
  if (method === (body === undefined ? 'GET' : 'POST')) return '';
  return method === 'HEAD' ? ' --head' : ` -X ${quoteShellArgument(method)}`;
}

/** `--data-raw` sends a string unchanged, also if it starts with `@`. A masked field of a form is a variable that curl encodes. */
function dataOption(text: string): string {
  const isMaskedField = /^[\w.%+-]+=/.test(text) && text.endsWith(`=${MASK}`);
  return `${isMaskedField ? '--data-urlencode' : '--data-raw'} ${quoteWithVariables(text)}`;
}

function partOption({ name, value = '', file }: ShownPart): string {
  if (file === undefined) return `--form-string ${quoteWithVariables(`${name}=${value}`)}`;
  if (name === undefined) return `--data-binary ${quoteShellArgument(`@${file}`)}`;
  // In quotes, curl does not split a path at commas and semicolons.
  return `-F ${quoteWithVariables(`${name}=@"${file.replace(/["\\]/g, '\\$&')}"`)}`;
}

/** Quotes a string as one argument; a mask becomes a variable in double quotes. */
export function quoteWithVariables(text: string): string {
  const words: string[] = [];
  let end = 0;
  for (let at = text.indexOf(MASK); at >= 0; at = text.indexOf(MASK, end)) {
    if (at > end) words.push(quoteShellArgument(text.slice(end, at)));
    words.push(`"$${variableName(text.slice(0, at))}"`);
    end = at + MASK.length;
  }
  if (end < text.length || words.length === 0) words.push(quoteShellArgument(text.slice(end)));
  return words.join('');
}

/**
 * Names a variable after the field before its value: `CLIENT_SECRET` for `client_secret=` and for `{"client_secret":"`. Other names could be
 * those of existing variables, such as `USER`.
 */
function variableName(before: string): string {
  if (/Bearer $/i.test(before)) return 'TOKEN';
  const [, name = ''] = /([a-z_][\w-]*)["']?\s*[:=]\s*["']?$/i.exec(before.slice(-100)) ?? [];
  return isSensitiveName(name) ? name.toUpperCase().replaceAll('-', '_') : 'SECRET';
}
