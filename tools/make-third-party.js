// Writes THIRD-PARTY.md: the licences of the packages whose code is part of the build.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** The command line is minified and does not name what is in it; these are in no other build. */
const inCommandLine = ['oauth4webapi', 'jose', 'json-p3'];

/** The packages that the library's build names. */
function bundled() {
  const dist = join(root, 'dist');
  const names = readdirSync(dist)
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => [
      ...readFileSync(join(dist, file), 'utf8').matchAll(/^\/\/#region .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm),
    ])
    .map(([, name]) => name);
  return [...new Set(names)].sort();
}

/** @param {string} name */
function section(name) {
  const folder = join(root, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `## ${name} ${version}\n\n\`\`\`\n${readFileSync(join(folder, file), 'utf8').replace(/\r/g, '').trim()}\n\`\`\`\n`;
}

const text = `# Third-party software in the built package

\`dist/\` contains code of the packages below: of the first ones in the library and in the command line, of ${inCommandLine.join(', ')} in the command line
alone, so that it starts quickly; to the library these are dependencies. Written by \`node tools/make-third-party.js\`.

${[...bundled(), ...inCommandLine].map((name) => section(/** @type {string} */ (name))).join('\n')}`;
writeFileSync(join(root, 'THIRD-PARTY.md'), text);
