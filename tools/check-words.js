// Reports words that this project does not use, with the word to write instead.
//
//   node tools/check-words.js                          the paths listed under "enforced" in words.json
//   node tools/check-words.js src/config README.md     these files and directories
//   node tools/check-words.js cli-help                 the output of every `oauth-profile … --help`
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { compileWords, findWords } from './words.js';

const root = join(import.meta.dirname, '..');
/** @type {{enforced: string[], ignored: string[], words: import('./words.js').Word[]}} */
const { enforced, ignored, words: entries } = JSON.parse(readFileSync(join(import.meta.dirname, 'words.json'), 'utf8'));
const words = compileWords(entries);

/** @param {string} path @returns {string[]} */
function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.([cm]?[jt]s|md|ya?ml)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/(^|[\\/])node_modules[\\/]/.test(relative(path, file)));
}

/** Returns the help of the program and of each of its commands. */
function readHelp() {
  const help = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, [join(root, 'bin', 'oauth-profile.js'), ...args, '--help'], { encoding: 'utf8' });
  const overview = help();
  const section = /^Commands\n((?: +.*\n)+)/m.exec(overview)?.[1] ?? '';
  const commands = [...section.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name ?? '');
  return [overview, ...commands.map((name) => help(name))].join('\n');
}

/** @param {string} name @returns {{name: string, source: string}[]} */
function read(name) {
  if (name === 'cli-help') return [{ name, source: readHelp() }];
  return filesIn(join(process.cwd(), name)).map((file) => ({
    name: relative(root, file).replaceAll('\\', '/'),
    source: readFileSync(file, 'utf8'),
  }));
}

const args = process.argv.slice(2);
if (args.length === 0) process.chdir(root);
const files = (args.length > 0 ? args : enforced).flatMap(read).filter(({ name }) => !ignored.includes(name));
let count = 0;
for (const { name, source } of files) {
  for (const { line, word, use } of findWords(name, source, words)) {
    console.log(`${name}:${line}: ${word} → ${use}`);
    count += 1;
  }
}
console.log(`words: ${files.length} files, ${count} findings`);
process.exitCode = count > 0 ? 1 : 0;
