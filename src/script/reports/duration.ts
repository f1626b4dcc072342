/** A time as a person reads it: `120 ms`, `1.2 s`, `2 min 5 s`. */
export function duration(elapsedMs: number): string {
  // A clock that was set back must not show a negative time.
  const ms = Math.max(0, Math.round(elapsedMs));
  if (ms < 1000) return `${ms} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
