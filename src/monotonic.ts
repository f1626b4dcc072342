/** Milliseconds since some time that no change of the clock touches. `performance.now()` would load a module first, in every process that waits for another. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
