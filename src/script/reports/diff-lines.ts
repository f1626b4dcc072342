/** A line of a comparison: in both strings, only in the first, or only in the second. */
export interface DiffLine {
  readonly side: 'both' | 'first' | 'second';
  readonly text: string;
}

/** Lengths of common subsequences up to this number fit into a byte. */
const MAX_LINES = 120;

/** Compares two strings line by line; returns `undefined` if they differ in too many lines. */
export function diffLines(first: string, second: string): DiffLine[] | undefined {
  const one = first.split('\n');
  const other = second.split('\n');
  const [start, end] = commonEnds(one, other);
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

/** Returns the lengths of the common start and of the common end of two strings or lists. */
export function commonEnds(one: ArrayLike<string>, other: ArrayLike<string>): [start: number, end: number] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return [start, end];
}

function changes(one: readonly string[], other: readonly string[]): DiffLine[] {
  // Lengths of the longest common subsequences of the lines from `i` and from `j` to the end.
  const width = other.length + 1;
  const common = new Uint8Array((one.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      common[i * width + j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < one.length || j < other.length; ) {
    const [first, second] = [one[i], other[j]];
    const isSame = first === second;
    const isFirst = isSame || second === undefined || (first !== undefined && at(i + 1, j) >= at(i, j + 1));
    lines.push({ side: isSame ? 'both' : isFirst ? 'first' : 'second', text: (isFirst ? first : second) ?? '' });
    if (isFirst) i++;
    if (isSame || !isFirst) j++;
  }
  return lines;
}
