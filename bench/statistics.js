/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** The median of the ratios of each round: whatever slows the machine for a while slows both sides. @param {readonly number[]} dividend @param {readonly number[]} divisor */
export function medianRatio(dividend, divisor) {
  return median(dividend.map((value, round) => value / (divisor[round] ?? Number.NaN)));
}
