// Writes action/package.json and action/package-lock.json for a tarball of this package: the exact code that the action of the release runs.
//
//   node tools/lock-action.js oauth-profile-1.0.0.tgz            write the files
//   node tools/lock-action.js oauth-profile-1.0.0.tgz --check    fail if they are not those of the tarball
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const readJson = (/** @type {string} */ name) => JSON.parse(readFileSync(join(root, name), 'utf8'));

/** Returns the files for a tarball. Dependencies are locked as in the lock file of the repository. @param {Uint8Array} tarball */
export function lockAction(tarball) {
  const { name, version, license, bin, engines, dependencies, optionalDependencies } = readJson('package.json');
  const manifest = { private: true, dependencies: { [name]: version } };
  const own = {
    version,
    resolved: `https://registry.npmjs.org/${name}/-/${name}-${version}.tgz`,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    ...{ license, dependencies, bin, engines, optionalDependencies },
  };
  /** @type {[string, {dev?: boolean, devOptional?: boolean, inBundle?: boolean}][]} */
  const locked = Object.entries(readJson('package-lock.json').packages);
  const runtime = locked.filter(([path, { dev }]) => path !== '' && !dev);
  const packages = { '': manifest, ...Object.fromEntries([...runtime, [`node_modules/${name}`, own]]) };
  const lock = { lockfileVersion: 3, requires: true, packages };
  return { 'package.json': manifest, 'package-lock.json': lock };
}

if (process.argv[1] === import.meta.filename) {
  const [, , tarball = '', check] = process.argv;
  for (const [name, content] of Object.entries(lockAction(readFileSync(tarball)))) {
    const file = join(root, 'action', name);
    const text = `${JSON.stringify(content, null, 2)}\n`;
    if (check === undefined) writeFileSync(file, text);
    else if (readFileSync(file, 'utf8') !== text) throw new Error(`action/${name} is not the one of ${tarball}`);
  }
}
