// `npm run docs`: writes the pages that are made from the code. Whether they are up to date is a question of test/docs/generated.test.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';

const root = join(import.meta.dirname, '..');

// Node 20 reads no TypeScript, and the build holds only what the library's users may import.
const { module } = await runnerImport(join(root, 'tools', 'pages.js'), { root, configFile: false, logLevel: 'error' });
const { pages } = /** @type {typeof import('./pages.js')} */ (module);

for (const [name, text] of Object.entries(pages)) {
  const path = join(root, name);
  if (readFileSync(path, { encoding: 'utf8', flag: 'a+' }) === text) continue;
  writeFileSync(path, text);
  console.log(`${name} written`);
}
