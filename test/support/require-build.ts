import { existsSync } from 'node:fs';

/** Whole-program tests run the built command line, so that they try what users get. */
export function setup(): void {
  const built = new URL('../../dist/cli.js', import.meta.url);
  if (!existsSync(built)) throw new Error('dist/ is missing: run npm run build first, or npm test, which does');
}
