/** Limits on the time that a file with many long names can take. */
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 500;

/** The number of candidates that the suggestions for one set of variables may still consider, over all calls. */
export interface SuggestionBudget {
  candidates: number;
}

/** Returns the candidate most similar to `name`, if one is similar enough for a "did you mean" hint. */
export function closestMatch(
  name: string,
  candidates: Iterable<string>,
  budget: SuggestionBudget = { candidates: MAX_CANDIDATES },
): string | undefined {
  const plain = simplify(name);
  let best: string | undefined;
  let least = plain.length < 10 ? 3 : 4;
  let considered = 0;
  if (plain.length > MAX_LENGTH || budget.candidates <= 0) return undefined;
  for (const candidate of candidates) {
    if (++considered > MAX_CANDIDATES || budget.candidates-- <= 0) break;
    if (candidate === name || candidate.length > 2 * MAX_LENGTH) continue;
    const other = simplify(candidate);
    // At most 40 % of a short name may differ: `graf` matches `graph`, but `okta` does not match `data`.
    const limit = Math.min(least, Math.floor(Math.max(plain.length, other.length) * 0.4) + 1);
    const distance = editDistance(plain, other, limit);
    if (distance < limit) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

/** Ignores case, dashes, underscores and spaces: `Client-ID` matches `client_id`. */
function simplify(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}

/** Returns the number of edits (insert, delete, replace, swap neighbours) from `a` to `b`, at most `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return Math.min(row[b.length] ?? limit, limit);
}
