// Enforces docs/explanation/architecture.md: import directions, no cycles, a pure core, and a list of files that may reveal a secret.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const src = join(import.meta.dirname, '..', 'src');

/** The layers that each layer may import. */
/** @type {Record<string, string[]>} */
const mayImport = {
  redaction: [],
  errors: [],
  version: [],
  providers: [],
  certificates: [],
  emulator: ['certificates'],
  config: ['errors', 'redaction'],
  profile: ['config', 'providers', 'errors', 'redaction'],
  oauth: ['profile', 'providers', 'errors', 'redaction'],
  ports: ['oauth', 'profile', 'errors', 'redaction'],
  flows: ['ports', 'oauth', 'profile', 'errors', 'redaction'],
  files: ['ports', 'profile', 'config', 'errors', 'redaction'],
  http: ['ports', 'oauth', 'profile', 'errors', 'redaction'],
  store: ['files', 'ports', 'oauth', 'errors', 'redaction'],
  interactive: ['ports', 'oauth', 'profile', 'errors', 'redaction'],
  client: [
    'flows',
    'files',
    'http',
    'store',
    'interactive',
    'ports',
    'profile',
    'providers',
    'config',
    'errors',
    'version',
  ],
  'get-token': ['client', 'flows', 'ports', 'oauth', 'profile', 'config', 'errors', 'redaction'],
  'oauth-profile': ['get-token', 'client', 'ports', 'profile', 'config', 'redaction'],
  'token-source': [
    'oauth-profile',
    'get-token',
    'client',
    'flows',
    'http',
    'oauth',
    'profile',
    'config',
    'errors',
    'redaction',
  ],
  credential: ['client', 'get-token', 'flows', 'oauth', 'profile', 'config', 'ports', 'errors', 'redaction'],
  playwright: ['token-source', 'oauth-profile'],
  proxy: [
    'certificates',
    'client',
    'get-token',
    'oauth-profile',
    'flows',
    'http',
    'ports',
    'oauth',
    'profile',
    'config',
    'errors',
    'redaction',
  ],
  index: ['oauth-profile', 'token-source', 'ports', 'config', 'errors', 'redaction'],
  script: ['config', 'profile', 'ports', 'errors', 'redaction'],
  'script/parser': ['script', 'profile', 'config', 'errors', 'redaction'],
  'script/reports': ['script', 'files', 'profile', 'config', 'errors', 'redaction'],
  'script/commands': ['script', 'http', 'profile', 'config', 'ports', 'errors', 'redaction'],
  cli: [
    'client',
    'proxy',
    'get-token',
    'credential',
    'script',
    'script/parser',
    'script/reports',
    'emulator',
    'providers',
    'flows',
    'files',
    'http',
    'store',
    'interactive',
    'profile',
    'oauth',
    'config',
    'ports',
    'errors',
    'redaction',
    'version',
  ],
};

/** Files that may import more than the rest of their directory. */
/** @type {Record<string, string[]>} */
const exceptions = {
  'script.ts': [
    'client',
    'oauth-profile',
    'files',
    'script',
    'script/parser',
    'script/reports',
    'config',
    'errors',
    'version',
  ],
  'emulator.ts': ['emulator', 'files', 'config', 'redaction'],
  // The only part of the script engine that uses the client.
  'script/script-host.ts': [
    'client',
    'get-token',
    'files',
    'script',
    'script/commands',
    'script/parser',
    'oauth',
    'profile',
    'config',
    'ports',
    'errors',
    'redaction',
    'version',
  ],
};
const pure = ['config', 'profile', 'oauth', 'flows', 'providers', 'redaction'];
const impure =
  /from 'node:|import\('node:|\bDate\.now\b|\bMath\.random\b|\bprocess\.|\bfetch\(|\bsetTimeout\b|\bBuffer\b/;
const mayReveal = [
  'redaction/',
  'config/resolver.ts',
  'script/compare.ts',
  'script/engine/functions.ts',
  'script/commands/ws/url.ts',
  'script/commands/jwt.ts',
  'flows/records.ts',
  'flows/token-cache.ts',
  'oauth/token-request.ts',
  'oauth/pushed-request.ts',
  'oauth/cache-key.ts',
  'oauth/inspection.ts',
  'http/send.ts',
  'http/call-api.ts',
  'http/proxy.ts',
  'http/client-assertion.ts',
  'http/dpop.ts',
  'interactive/login-ports.ts',
  'store/locking-store.ts',
  'store/vault/keychain.ts',
  'store/encryption.ts',
  'token-source.ts',
  'proxy/token-headers.ts',
  'emulator.ts',
  'credential/get-tool-token.ts',
  'cli/commands/exec.ts',
  'cli/commands/token.ts',
  'cli/commands/watch.ts',
  'cli/commands/explain.ts',
  'cli/terminal.ts',
  'cli/emulation.ts',
  'cli/emulator-config.ts',
];

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const layerOf = (/** @type {string} */ file) =>
  Object.keys(mayImport).find((layer) => layer.includes('/') && file.startsWith(`${layer}/`)) ??
  file.replace(/\.ts$/, '').split('/')[0] ??
  '';
/** @type {Map<string, string[]>} */
const imports = new Map();
const issues = [];

for (const file of files) {
  const text = readFileSync(join(src, file), 'utf8').replace(/\/\*\*?[\s\S]*?\*\/|\/\/.*$/gm, '');
  const targets = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(src, join(src, dirname(file), path ?? '')),
  );
  // Type imports and lazy imports count too: a cycle of them works, but is hard to read.
  imports.set(file, targets);
  const layer = layerOf(file);
  for (const target of targets) {
    const other = layerOf(target);
    const allowed = exceptions[file] ?? mayImport[layer] ?? [];
    const isOwnLayer = other === layer && !(file in exceptions);
    if (!isOwnLayer && !allowed.includes(other)) issues.push(`${file} imports ${target}`);
  }
  if (pure.includes(layer) && impure.test(text)) issues.push(`${file} is not pure: ${impure.exec(text)?.[0]}`);
  // Once optimized, Node 20 returns false for valid URLs with Latin-1 characters.
  if (/\bURL\.canParse\b/.test(text)) issues.push(`${file} uses URL.canParse`);
  if (/\.reveal\(\)/.test(text) && !mayReveal.some((place) => file.startsWith(place)))
    issues.push(`${file} reveals a secret`);
}

/** @type {Set<string>} */
const done = new Set();
/** @param {string} file @param {string[]} path */
function visit(file, path) {
  if (path.includes(file)) issues.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
  if (done.has(file) || path.includes(file)) return;
  for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
  done.add(file);
}
for (const file of files) visit(file, []);

for (const issue of issues) console.error(issue);
console.log(`layers: ${files.length} files, ${issues.length} issues`);
process.exitCode = issues.length > 0 ? 1 : 0;
