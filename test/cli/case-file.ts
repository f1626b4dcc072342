import { isUtf8 } from 'node:buffer';

/** One piece of a case file, in the order of the file. See test/cli/cases/README.md for the format. */
export type Part =
  | { readonly kind: 'prose'; readonly text: string }
  | { readonly kind: 'file'; readonly language: string; readonly path: string; readonly content: Buffer }
  | { readonly kind: 'response'; readonly message: Buffer }
  | { readonly kind: 'command'; readonly line: string; readonly stdout: string; readonly exit: number }
  | { readonly kind: 'stderr'; readonly text: string }
  | { readonly kind: 'request'; readonly message: string };

/** A whole-program test: its heading, and everything below it. */
export interface CaseFile {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** Languages of input files. `console` and `http` are left out: their blocks have a meaning of their own. */
export const fileLanguages = ['ini', 'js', 'json', 'properties', 'text', 'yaml'];

const ESCAPED = ' {escaped}';
/** Characters that a reader cannot see or that an editor may change: controls, invisible characters, spaces at the end of a line. */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]| +$/gmu;

/** Parses a case file; throws an error that names the line. */
export function parseCase(text: string): CaseFile {
  const lines = text.split('\n');
  const heading = /^# (\S.*)$/.exec(lines[0] ?? '');
  if (!heading) throw new Error('line 1: expected a heading: "# " and a sentence');
  const parts: Part[] = [];
  let prose: string[] = [];
  const endProse = (): void => {
    const paragraphs = prose.join('\n').replace(/^\n+|\n+$/g, '');
    if (paragraphs !== '') parts.push({ kind: 'prose', text: paragraphs });
    prose = [];
  };
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const opening = /^(`{3,})([^`]*)$/.exec(line);
    if (!opening) {
      if (line.startsWith('# ')) throw new Error(`line ${index + 1}: duplicate heading`);
      prose.push(line);
      continue;
    }
    endProse();
    const [, fence = '', info = ''] = opening;
    const end = lines.indexOf(fence, index + 1);
    if (end < 0) throw new Error(`line ${index + 1}: the block is not closed`);
    try {
      const part = parseBlock(info, lines.slice(index + 1, end));
      checkPlace(part, parts);
      parts.push(part);
    } catch (error) {
      throw new Error(`line ${index + 1}: ${error instanceof Error ? error.message : error}`);
    }
    index = end;
  }
  endProse();
  const last = parts.findLast(isInputOrCommand);
  if (last?.kind !== 'command') throw new Error(`line ${lines.length}: expected a console block after the inputs`);
  return { title: heading[1] ?? '', parts };
}

/** Writes a case file in its only valid layout: one empty line between the parts. */
export function serializeCase({ title, parts }: CaseFile): string {
  return `${[`# ${title}`, ...parts.map(serializePart)].join('\n\n')}\n`;
}

function parseBlock(info: string, lines: readonly string[]): Part {
  const escaped = info.endsWith(ESCAPED);
  const kind = escaped ? info.slice(0, -ESCAPED.length) : info;
  const decode = (some: readonly string[]): Buffer => {
    const text = some.map((line) => `${line}\n`).join('');
    return escaped ? unescapeBytes(text) : Buffer.from(text);
  };
  const command = /^console(?: exit ([1-9]\d{0,2}))?$/.exec(kind);
  if (command) {
    const [first = '', ...rest] = lines;
    if (!/^\$ ./.test(first)) throw new Error('expected "$ " and a command');
    const output = rest.findIndex((line) => !line.startsWith('> '));
    const continuation = output < 0 ? rest : rest.slice(0, output);
    const line = [first, ...continuation].map((prompted) => prompted.slice(2)).join('\n');
    return {
      kind: 'command',
      line,
      stdout: String(decode(rest.slice(continuation.length))),
      exit: Number(command[1] ?? 0),
    };
  }
  const content = decode(lines);
  if (kind === 'http response') return { kind: 'response', message: content };
  if (content.length === 0 && /^(?:text stderr|http request)$/.test(kind)) throw new Error('remove the empty block');
  if (kind === 'http request') return { kind: 'request', message: String(content) };
  if (kind === 'text stderr') return { kind: 'stderr', text: String(content) };
  const [, language = '', path = ''] = /^(\S+) (\S(?:.*\S)?)$/.exec(kind) ?? [];
  // A file has an extension, a misspelled kind of block has none.
  if (!fileLanguages.includes(language) || !/\.\w+$/.test(path)) throw new Error(`unknown kind of block: ${info}`);
  return { kind: 'file', language, path, content };
}

/** Rejects a block that the runner would ignore, or that contradicts an earlier one. */
function checkPlace(part: Part, before: readonly Part[]): void {
  const afterCommand = before.findLast(isInputOrCommand)?.kind === 'command';
  const outputs = before.slice(before.findLastIndex(isInputOrCommand) + 1);
  if (part.kind === 'file') {
    if (before.some(({ kind }) => kind === 'command' || kind === 'response'))
      throw new Error('files come before the responses and commands');
    if (before.some((other) => other.kind === 'file' && other.path === part.path))
      throw new Error(`duplicate file ${part.path}`);
  }
  if (part.kind === 'stderr' || part.kind === 'request') {
    if (!afterCommand) throw new Error('expected a console block before this block');
    if (part.kind === 'stderr' && outputs.some(({ kind }) => kind !== 'prose'))
      throw new Error('expected one stderr block, before the requests');
  }
}

function isInputOrCommand({ kind }: Part): boolean {
  return kind === 'file' || kind === 'response' || kind === 'command';
}

function serializePart(part: Part): string {
  switch (part.kind) {
    case 'prose':
      return part.text;
    case 'file':
      return serializeBlock(`${part.language} ${part.path}`, part.content);
    case 'response':
      return serializeBlock('http response', part.message);
    case 'request':
      return serializeBlock('http request', Buffer.from(part.message));
    case 'stderr':
      return serializeBlock('text stderr', Buffer.from(part.text));
    case 'command': {
      const command = part.line.replaceAll('\n', '\n> ');
      const info = part.exit === 0 ? 'console' : `console exit ${part.exit}`;
      return serializeBlock(info, Buffer.from(part.stdout), `$ ${command}\n`);
    }
  }
}

function serializeBlock(info: string, content: Buffer, command = ''): string {
  const text = content.toString();
  // Output that looks like the second line of a command would be read as one.
  const ambiguous = command !== '' && text.startsWith('> ');
  const plain = isUtf8(content) && (text === '' || text.endsWith('\n')) && text.search(INVISIBLE) < 0 && !ambiguous;
  const body = command + (plain ? text : escapeBytes(content));
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${info}${plain ? '' : ESCAPED}\n${body}${fence}`;
}

function escapeBytes(content: Buffer): string {
  // In content that is not UTF-8, every byte is escaped that is not printable ASCII.
  const [encoding, hidden] = isUtf8(content) ? (['utf8', INVISIBLE] as const) : (['latin1', /[^\n -~]| +$/gm] as const);
  const text = content
    .toString(encoding)
    .replaceAll('\\', '\\\\')
    .replace(hidden, (match) => Buffer.from(match, encoding).toString('hex').replace(/../g, '\\x$&'))
    .replace(/^>/, '\\x3e');
  return text === '' || text.endsWith('\n') ? text : `${text}\\\n`;
}

function unescapeBytes(text: string): Buffer {
  const pieces = text.split(/(\\x[\da-f]{2}|\\\\|\\\n)/);
  return Buffer.concat(
    pieces.map((piece) => {
      if (piece === '\\\n') return Buffer.alloc(0);
      if (piece === '\\\\') return Buffer.from('\\');
      if (/^\\x[\da-f]{2}$/.test(piece)) return Buffer.from(piece.slice(2), 'hex');
      if (piece.includes('\\')) throw new Error('expected \\xNN, \\\\ or \\ at the end of a line');
      return Buffer.from(piece);
    }),
  );
}
