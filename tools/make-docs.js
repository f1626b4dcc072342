// `npm run docs`: writes the files that are generated from the code. test/docs/generated.test.ts checks that they are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';

const root = join(import.meta.dirname, '..');

// Node 20 cannot load TypeScript, and the build exports only the public API.
const { module } = await runnerImport(join(root, 'tools', 'pages.js'), { root, configFile: false, logLevel: 'error' });
const { pages } = /** @type {typeof import('./pages.js')} */ (module);

for (const [name, content] of Object.entries(pages)) {
  const path = join(root, name);
  if (readFileSync(path, { encoding: 'utf8', flag: 'a+' }) === content) continue;
  writeFileSync(path, content);
  console.log(`${name} written`);
}
