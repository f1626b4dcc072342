// Writes docs/faults.md: what each fault of the emulator comes to, for each grant and command. Takes a few minutes, since nothing is pretended: a server
// that is silent is waited for. With --check it only says whether the page is up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'vite';

const root = join(import.meta.dirname, '..');
const file = join(root, 'docs', 'faults.md');
// Node 20 reads no TypeScript.
const server = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
try {
  /** @type {Pick<import('../test/fuzz/fault-matrix.ts'), 'faultPage'>} */
  const { faultPage } = /** @type {any} */ (await server.ssrLoadModule('/test/fuzz/fault-matrix.ts'));
  const page = await faultPage((line) => console.log(line));
  if (existsSync(file) && readFileSync(file, 'utf8') === page) console.log('docs/faults.md is up to date');
  else if (process.argv.includes('--check')) {
    console.error('docs/faults.md is not up to date: run node tools/make-fault-matrix.js');
    process.exitCode = 1;
  } else {
    writeFileSync(file, page);
    console.log('docs/faults.md written');
  }
} finally {
  await server.close();
}
