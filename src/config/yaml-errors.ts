import { type Document, type Scalar, visit, type YAMLError } from 'yaml';

/** An error in a YAML file, at an offset. The content may be a secret, so no message quotes it. */
export interface YamlIssue {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

const MAX_ERRORS = 50;
const MAX_SPACES = 1000;
const MAX_VALUE = 10_000;

const QUOTE_VALUE = 'put the value in quotes: "…"';
const QUOTE_IN_FLOW = 'inside [ ] or { }, put a value with ${…}, a comma or a bracket in quotes';
const BAD_INDENT = 'wrong indentation';
const INDENT = 'indent the line like the lines it belongs to';

/** Patterns over code and message of the library's error. The library's own messages may quote the text. */
const explanations: readonly (readonly [pattern: RegExp, message: string, hint: string])[] = [
  [/closing .*quote/, 'this quote is not closed', "close it; inside a string, write '' or \\\" for a quote"],
  [/Flow .* end with a/, 'a [ or { above is not closed', 'close it on the same line or on one that is indented more'],
  [/Unexpected ,/, 'a value is missing between two commas', 'write "" for an empty value'],
  [/Missing , /, 'a comma is missing before this value', QUOTE_IN_FLOW],
  [/Nested mappings/, 'a second "name:" on the same line', QUOTE_VALUE],
  [/^TAB_AS_INDENT|tab/, 'a tab cannot be used for indentation', 'use spaces'],
  [/^BAD_DQ_ESCAPE/, 'unknown escape in a double-quoted string', 'write \\\\ for a backslash, or use single quotes'],
  [/^BAD_SCALAR_START/, 'a value without quotes cannot start with this character', QUOTE_VALUE],
  [/Sequence item without -/, 'a list item must start with -', INDENT],
  [/same column|indent/i, BAD_INDENT, INDENT],
  [/alias|anchor/i, 'invalid alias (*) or anchor (&)', QUOTE_VALUE],
  [/tag/i, 'unknown tag (!)', QUOTE_VALUE],
  [/block sequence may not be used/, 'a list item (-) is not allowed here', INDENT],
  [/followed by map values|single line/, 'expected "name: value"', 'write a colon and a space after the name'],
  [/at node end|in YAML stream|Block collections/, 'unexpected content after a complete value', QUOTE_IN_FLOW],
];

/** Explains the syntax errors of a document. Errors that only follow from another one are left out. */
export function explainErrors(text: string, document: Document): YamlIssue[] {
  // To the library an unknown tag is only a warning, but `password: !abc` would become an empty string.
  const unknownTags = document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED');
  const errors = [...document.errors, ...unknownTags].sort((a, b) => a.pos[0] - b.pos[0]).slice(0, MAX_ERRORS);
  const unclosed = errors.find(isUnclosedQuote);
  // An unclosed quote causes all errors after it. Content that the parser cannot place matters only if it found nothing else.
  const causes = errors.filter(
    (error) =>
      !error.message.includes('in YAML stream') &&
      (unclosed === undefined || isUnclosedQuote(error) || error.pos[0] < unclosed.pos[0]),
  );
  return (causes.length > 0 ? causes : errors.slice(0, 1)).map((error) => explain(text, document, error));
}

function isUnclosedQuote({ message }: YAMLError): boolean {
  return message.includes('closing') && message.includes('quote');
}

function explain(text: string, document: Document, error: YAMLError): YamlIssue {
  const offset = error.pos[0];
  if (offset > 0 && text.startsWith('${', offset - 1)) {
    return { offset: offset - 1, message: '${…} inside [ ] or { } must be in quotes', hint: 'write "${name}"' };
  }
  if (error.message.startsWith('Nested mappings')) {
    const lower = findNameBelow(text, offset);
    if (lower !== undefined) return { offset: lower, message: BAD_INDENT, hint: INDENT };
  }
  const key = `${error.code} ${error.message}`;
  const [, message = 'invalid YAML', hint] = explanations.find(([pattern]) => pattern.test(key)) ?? [];
  if (isUnclosedQuote(error)) return { offset: findOpeningQuote(document, offset), message, hint };
  // The library reports wrong indentation at the end of the line above.
  const spaces = /^[ \r\n]*(?=\S)/.exec(text.slice(offset, offset + MAX_SPACES))?.[0].length ?? 0;
  return { offset: offset + spaces, message, hint };
}

/** The library reports an unclosed quote at its end; returns the start of the last quoted string before it. */
function findOpeningQuote(document: Document, end: number): number {
  let opening = end;
  visit(document, {
    Scalar(_, { type, range }: Scalar) {
      if ((type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') && range && range[0] < end) opening = range[0];
    },
  });
  return opening;
}

/** Returns the offset of a name on a later line that was read as a part of the value at `offset`. */
function findNameBelow(text: string, offset: number): number | undefined {
  const value = text.slice(offset, offset + MAX_VALUE);
  const colon = value.search(/:(?=\s|$)/);
  const line = value.lastIndexOf('\n', colon);
  return colon < 0 || line < 0 ? undefined : offset + line + 1 + value.slice(line + 1).search(/\S/);
}
