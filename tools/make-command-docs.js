// docs/commands.md and script.schema.json, from the commands of scripts themselves.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { commandDocs, scriptSchema } from '../src/script.ts';

const root = join(import.meta.dirname, '..');

/** The two files. */
export function commandFiles() {
  return {
    'docs/commands.md': commandDocs(),
    'script.schema.json': toJson('script.schema.json', scriptSchema()),
  };
}

/** As the formatter wants it, so that the two do not undo each other's work. @param {string} name @param {unknown} value */
function toJson(name, value) {
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const options = { cwd: root, input: JSON.stringify(value, undefined, 2), encoding: /** @type {const} */ ('utf8') };
  return execFileSync(biome, ['format', `--stdin-file-path=${name}`], options);
}
