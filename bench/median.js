/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** The median of the ratios of each round: what slows the machine for a while slows both sides of a ratio. @param {readonly number[]} ours @param {readonly number[]} theirs */
export function medianRatio(ours, theirs) {
  return median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
}
