// Writes docs/commands.md and script.schema.json from the built commands; with --check it only says whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const entry = '../dist/script.js';
const { commandDocs, commands, scriptSchema } = await import(entry);

const files = {
  'docs/commands.md': commandDocs(commands),
  'script.schema.json': `${JSON.stringify(scriptSchema(commands), undefined, 2)}\n`,
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
