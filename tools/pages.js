// The generated files, by their path in the repository. They are generated while this module loads, because make-docs.js cannot load
// TypeScript afterwards.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { commandDocs, scriptSchema } from '../src/script.ts';
import { errorDocs } from './make-error-docs.js';
import { cliDocs, profileDocs } from './make-option-docs.js';
import { profileSchema } from './make-profile-schema.js';
import { providerPages } from './make-provider-docs.js';
import { scriptDocs } from './make-script-docs.js';

/** @type {Record<string, string>} */
export const pages = {
  ...providerPages(),
  'docs/reference/cli.md': cliDocs(),
  'docs/reference/errors.md': await errorDocs(),
  'docs/reference/profiles.md': profileDocs(),
  'docs/reference/script-commands.md': commandDocs(),
  'docs/reference/scripts.md': scriptDocs(),
  'profiles.schema.json': formatJson('profiles.schema.json', profileSchema()),
  'script.schema.json': formatJson('script.schema.json', scriptSchema()),
};

/** Formats like `npm run format`, so that the two do not undo each other's changes. @param {string} name @param {unknown} value */
function formatJson(name, value) {
  const root = join(import.meta.dirname, '..');
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const options = { cwd: root, input: JSON.stringify(value, undefined, 2), encoding: /** @type {const} */ ('utf8') };
  return execFileSync(biome, ['format', `--stdin-file-path=${name}`], options);
}
