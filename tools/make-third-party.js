// Writes THIRD-PARTY.md: the licences of the packages whose code is part of the build.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** What `tsdown.config.ts` bundles; it refuses to bundle anything else. */
const inEvery = ['js-yaml', 'yaml'];
const inThoseForNode = ['oauth4webapi', 'jose', 'json-p3'];

/** @param {string} name */
function section(name) {
  const folder = join(root, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `## ${name} ${version}\n\n\`\`\`\n${readFileSync(join(folder, file), 'utf8').replace(/\r/g, '').trim()}\n\`\`\`\n`;
}

const text = `# Third-party software in the built package

\`dist/\` contains code of the packages below: of ${inEvery.join(' and ')} everywhere, of ${inThoseForNode.join(', ')} in what Node loads, so
that it starts quickly; to the build for bundlers these are dependencies. Written by \`node tools/make-third-party.js\`.

${[...inEvery, ...inThoseForNode].map(section).join('\n')}`;
writeFileSync(join(root, 'THIRD-PARTY.md'), text);
