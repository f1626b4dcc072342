import type { YamlProblem } from './yaml-document.ts';

const QUOTES = 'put the value in quotes: "…"';
const MARKS = 'between [ ] or { } a text with ${…}, a comma or a bracket needs quotes';
const INDENTED = 'is not indented like the lines that it belongs to';
const INDENT = 'give it as many blanks as the lines beside it';

const MAX_BLANKS = 1000;
const MAX_VALUE = 10_000;

/** A problem as it is told. */
export interface Explained {
  readonly offset: number;
  readonly message: string;
  readonly hint: string | undefined;
}

const hint: Readonly<Record<string, string>> = {
  'has an alias (*) of nothing': 'put a text that begins with * in quotes',
  'holds a second document': 'keep to one document in a file, without --- between',
};

/** The library's words, and ours; its own may quote what is a secret. */
const sentences: readonly (readonly [RegExp, string, string?])[] = [
  [/closing .*quote/, 'a quote is opened here and not closed', 'close it, or double it where it belongs to the text'],
  [/^Flow .* end with a/, 'a [ or { above is not closed', 'close it, in the same line or in one that is indented more'],
  [/^Unexpected ,/, 'nothing stands between two commas', 'write "" for what is not wanted'],
  [/^Missing , /, 'a comma is missing in front of this', MARKS],
  [/^Nested mappings/, 'has a second name with a colon in one line', QUOTES],
  [/^Tabs|tab/, 'a tab cannot indent', 'use blanks'],
  [/^Invalid escape/, 'has an unknown escape in double quotes', 'write \\\\ for a backslash, or use single quotes'],
  [/cannot start with/, 'a text cannot begin with this character', QUOTES],
  [/Sequence item without -/, 'is neither part of the item above nor one of its own', INDENT],
  [/same column|indent/i, INDENTED, INDENT],
  [/[Aa]lias|[Aa]nchor/, 'has a * or & that begins no plain name', QUOTES],
  [/tag/i, 'has a ! in front, which means a type that is not known', QUOTES],
  [/block sequence may not be used/, 'a - stands where none can be', INDENT],
  [/followed by map values|single line/, 'is no name with a value', 'write a colon and a blank behind the name'],
  [/at node end|in YAML stream|Block collections/, 'does not belong here: what stands before it is complete', MARKS],
];

/** Errors of a text that is not understood, each in words for its author: where, what, and what to do; errors that only follow from others are left out. */
export function explainProblems(text: string, problems: readonly YamlProblem[]): Explained[] {
  const unclosed = problems.find(({ opened }) => opened !== undefined);
  // What the parser cannot place any more is told once, and only if nothing else was found.
  const stray = (problem: YamlProblem): boolean => /in YAML stream/.test(problem.detail ?? '');
  const causes = problems.filter((problem) => !stray(problem) && !(unclosed && isConsequence(problem, unclosed)));
  return (causes.length > 0 ? causes : problems.slice(0, 1)).map((problem) => explain(text, problem));
}

/** What an unclosed quote has swallowed is missing too. */
function isConsequence({ offset, opened }: YamlProblem, unclosed: YamlProblem): boolean {
  return opened === undefined && offset >= unclosed.offset;
}

function explain(text: string, { offset, opened, message, detail }: YamlProblem): Explained {
  if (detail === undefined) {
    const twice = message.endsWith(' is defined twice') ? 'keep one of the two definitions' : undefined;
    return { offset, message, hint: hint[message] ?? twice };
  }
  if (offset > 0 && text.startsWith('${', offset - 1)) {
    return { offset: offset - 1, message: 'a ${…} between [ ] or { } needs quotes', hint: 'write "${name}"' };
  }
  if (detail.startsWith('Nested mappings')) {
    const lower = lowerName(text, offset);
    if (lower !== undefined) return { offset: lower, message: INDENTED, hint: INDENT };
  }
  const [, sentence, mend] = sentences.find(([words]) => words.test(detail)) ?? [];
  // What is indented wrongly is looked for from the end of the line above.
  const blanks = /^[ \r\n]*(?=\S)/.exec(text.slice(offset, offset + MAX_BLANKS))?.[0].length ?? 0;
  return { offset: opened ?? offset + blanks, message: sentence ?? message, hint: mend };
}

/** Where the name stands that was taken for a part of the value above it, if it is not in the same line. */
function lowerName(text: string, offset: number): number | undefined {
  const value = text.slice(offset, offset + MAX_VALUE);
  const colon = value.search(/:(?=\s|$)/);
  const line = value.lastIndexOf('\n', colon);
  return colon < 0 || line < 0 ? undefined : offset + line + 1 + value.slice(line + 1).search(/\S/);
}
