// Writes docs/commands.md and script.schema.json from the built commands; with --check it only says whether they are up to date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const entry = '../dist/scripting.js';
const { commandDocs, scriptSchema } = await import(entry);

/** As the formatter wants it, so that the two do not undo each other's work. @param {string} name @param {unknown} value */
function toJson(name, value) {
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const options = { cwd: root, input: JSON.stringify(value, undefined, 2), encoding: /** @type {const} */ ('utf8') };
  return execFileSync(biome, ['format', `--stdin-file-path=${name}`], options);
}

const files = {
  'docs/commands.md': commandDocs(),
  'script.schema.json': toJson('script.schema.json', scriptSchema()),
};
const check = process.argv.includes('--check');

/** @param {string} path */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

for (const [name, text] of Object.entries(files)) {
  const path = join(root, name);
  if (textOf(path) === text) continue;
  if (check) {
    console.error(`${name} is not up to date: run node tools/make-command-docs.js`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
    console.log(`${name} written`);
  }
}
