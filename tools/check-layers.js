// Holds the source to docs/architecture.md: who may import whom, no cycles, a pure core, and where a secret may be revealed.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const src = join(import.meta.dirname, '..', 'src');

/** @type {Record<string, string[]>} */
const mayImport = {
  secret: [],
  errors: [],
  version: [],
  monotonic: [],
  providers: [],
  data: ['errors', 'secret'],
  profile: ['data', 'providers', 'errors', 'secret'],
  token: ['profile', 'providers', 'errors', 'secret'],
  ports: ['token', 'errors', 'secret'],
  flows: ['ports', 'token', 'profile', 'errors', 'secret'],
  transport: ['ports', 'token', 'errors', 'secret', 'monotonic'],
  store: ['ports', 'token', 'errors', 'secret', 'monotonic'],
  script: ['data', 'ports', 'errors', 'secret'],
  'script/readers': ['script', 'data', 'errors', 'secret'],
  'script/reports': ['script', 'data', 'errors', 'secret'],
  'script/commands': ['script', 'flows', 'profile', 'token', 'data', 'ports', 'errors', 'secret'],
  compose: ['ports', 'transport', 'store', 'data', 'profile', 'errors', 'version'],
  emulator: [],
  session: ['compose', 'flows', 'ports', 'profile', 'data'],
  'script-host': [
    'session',
    'compose',
    'script',
    'script/readers',
    'script/commands',
    'data',
    'ports',
    'secret',
    'version',
  ],
  'library-session': ['session', 'compose', 'ports', 'profile', 'data'],
  scripting: ['library-session', 'script-host', 'script', 'script/readers', 'data', 'errors'],
  'oauth-profile': ['library-session'],
  'fetch-emulated': ['compose', 'ports'],
  playwright: ['library-session', 'token-source'],
  'token-source': [
    'library-session',
    'fetch-emulated',
    'oauth-profile',
    'session',
    'flows',
    'data',
    'errors',
    'secret',
  ],
  index: ['oauth-profile', 'token-source', 'ports', 'data', 'errors', 'secret'],
  cli: [
    'session',
    'script-host',
    'script',
    'script/readers',
    'script/reports',
    'providers',
    'emulator',
    'compose',
    'flows',
    'transport',
    'profile',
    'token',
    'data',
    'ports',
    'errors',
    'secret',
    'version',
  ],
};
const pure = ['data', 'profile', 'token', 'flows', 'providers', 'secret', 'script'];
const impure =
  /from 'node:|import\('node:|\bDate\.now\b|\bMath\.random\b|\bprocess\.|\bfetch\(|\bsetTimeout\b|\bBuffer\b/;
const mayReveal = [
  'secret/',
  'data/resolve.ts',
  'script/compare.ts',
  'script/commands/ws-address.ts',
  'script/commands/jwt.ts',
  'flows/kept-record.ts',
  'flows/keep-token.ts',
  'token/build-request.ts',
  'token/basic-header.ts',
  'token/token-key.ts',
  'transport/send.ts',
  'transport/call-api.ts',
  'transport/tunnel.ts',
  'transport/sign-assertion.ts',
  'transport/sign-in-ports.ts',
  'store/fingerprint.ts',
  'store/keychain.ts',
  'store/seal.ts',
  'cli/exec.ts',
  'cli/token.ts',
  'cli/explain.ts',
  'cli/terminal.ts',
  'cli/emulation.ts',
];

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const layerOf = (/** @type {string} */ file) =>
  Object.keys(mayImport).find((layer) => layer.includes('/') && file.startsWith(`${layer}/`)) ??
  file.replace(/\.ts$/, '').split('/')[0] ??
  '';
/** @type {Map<string, string[]>} */
const imports = new Map();
const faults = [];

for (const file of files) {
  const text = readFileSync(join(src, file), 'utf8').replace(/\/\*\*?[\s\S]*?\*\/|\/\/.*$/gm, '');
  const targets = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(src, join(src, dirname(file), path ?? '')),
  );
  // Imports of types and lazy ones count too: a cycle of them may not fail, but it cannot be read from one end to the other.
  imports.set(file, targets);
  const layer = layerOf(file);
  for (const target of targets) {
    const other = layerOf(target);
    if (other !== layer && !mayImport[layer]?.includes(other)) faults.push(`${file} imports ${target}`);
  }
  if (pure.includes(layer) && impure.test(text)) faults.push(`${file} is not pure: ${impure.exec(text)?.[0]}`);
  if (/\.reveal\(\)/.test(text) && !mayReveal.some((place) => file.startsWith(place)))
    faults.push(`${file} reveals a secret`);
}

/** @type {Set<string>} */
const done = new Set();
/** @param {string} file @param {string[]} path */
function visit(file, path) {
  if (path.includes(file)) faults.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
  if (done.has(file) || path.includes(file)) return;
  for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
  done.add(file);
}
for (const file of files) visit(file, []);

for (const fault of faults) console.error(fault);
console.log(`layers: ${files.length} files, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
