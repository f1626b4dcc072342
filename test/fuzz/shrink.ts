const MAX_TRIES = 2_000;

/** A smaller text that still fails: pieces are left out, large ones first, then characters made plain. */
export async function shrink(
  text: string,
  fails: (text: string) => Promise<boolean>,
  maxTries = MAX_TRIES,
): Promise<string> {
  let tries = 0;
  const still = async (smaller: string): Promise<boolean> => tries++ < maxTries && (await fails(smaller));
  let best = text;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let at = 0; at < best.length; ) {
      const smaller = best.slice(0, at) + best.slice(at + size);
      if (await still(smaller)) best = smaller;
      else at += size;
    }
  }
  for (let at = 0; at < best.length; at++) {
    const plainer = `${best.slice(0, at)}a${best.slice(at + 1)}`;
    if (plainer !== best && (await still(plainer))) best = plainer;
  }
  return best;
}
