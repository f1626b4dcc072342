/** A line of a comparison: in both strings, only in the first, or only in the second. */
export interface DiffLine {
  readonly side: 'both' | 'first' | 'second';
  readonly text: string;
}

const MAX_LINES = 120;

/** Compares two strings line by line; returns `undefined` if they differ in too many lines. */
export function diffLines(first: string, second: string): DiffLine[] | undefined {
  const one = first.split('\n');
  const other = second.split('\n');
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start++;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const changedOne = one.slice(start, one.length - end);
  const changedOther = other.slice(start, other.length - end);
  if (changedOne.length > MAX_LINES || changedOther.length > MAX_LINES) return undefined;
  const both = (text: string): DiffLine => ({ side: 'both', text });
  return [
    ...one.slice(0, start).map(both),
    ...changes(changedOne, changedOther),
    ...one.slice(one.length - end).map(both),
  ];
}

function changes(one: readonly string[], other: readonly string[]): DiffLine[] {
  const common = commonLengths(one, other);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < one.length || j < other.length) {
    const first = one[i];
    const second = other[j];
    if (first !== undefined && first === second) {
      lines.push({ side: 'both', text: first });
      i++;
      j++;
    } else if (first !== undefined && (second === undefined || at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push({ side: 'first', text: first });
      i++;
    } else {
      lines.push({ side: 'second', text: second ?? '' });
      j++;
    }
  }
  return lines;
}

/** Table of the lengths of the longest common subsequences of lines from `i` and from `j` to the end. */
function commonLengths(one: readonly string[], other: readonly string[]): number[][] {
  const table = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const row = table[i];
      if (row === undefined) continue;
      row[j] = one[i] === other[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}

function at(table: readonly (readonly number[])[], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}
