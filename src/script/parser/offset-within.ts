/** What one character of a text may be in YAML: a line end with the blanks around it is one, an escape too. */
const folded = '[ \\t]*\\r?\\n[ \\t]*';
const characters: Record<string, string> = {
  '"': `\\\\x..|\\\\u.{4}|\\\\U.{8}|\\\\[^]|${folded}|[^]`,
  "'": `''|${folded}|[^]`,
  plain: `${folded}|[^]`,
};

/** Where the character `index` of a scalar's text stands in the YAML text, for a scalar that begins at `start`. */
export function offsetWithin(text: string, start: number, index: number): number {
  const mark = text.charAt(start);
  if (mark === '|' || mark === '>') return offsetInBlock(text, start, index);
  const quoted = mark === '"' || mark === "'";
  const character = new RegExp((quoted ? characters[mark] : characters['plain']) ?? '[^]', 'y');
  character.lastIndex = start + (quoted ? 1 : 0);
  for (let passed = 0; passed < index && character.lastIndex < text.length; passed++) character.exec(text);
  return character.lastIndex;
}

/** In a block each line end is a character; the blanks in front of a line are none. */
function offsetInBlock(text: string, start: number, index: number): number {
  const first = text.indexOf('\n', start) + 1;
  const indent = /^(?:[ \t]*\r?\n)*( *)/.exec(text.slice(first, first + 10_000))?.[1]?.length ?? 0;
  const character = new RegExp(`\\r?\\n {0,${indent}}|[^]`, 'y');
  character.lastIndex = first + indent;
  for (let passed = 0; passed < index && character.lastIndex < text.length; passed++) character.exec(text);
  return character.lastIndex;
}
