// What the package costs whoever installs it: measured here, held to package-budget.json by a test, and told in docs/quality.md.
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ path: string, size: number, mode: number }} PackedFile
 * @typedef {{ filename: string, size: number, unpackedSize: number, entryCount: number, files: PackedFile[] }} Packed
 * @typedef {{ version: string, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[], hasInstallScript?: boolean, license?: string }} Locked
 * @typedef {{ packages: Record<string, Locked> }} Lock
 */

/** Packs what dist/ holds: the `prepare` script would build it anew under whoever reads it. @param {string} root @param {string[]} flags @returns {Packed} */
export function pack(root, flags) {
  const told = execFileSync('npm', ['pack', '--ignore-scripts', '--json', ...flags], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = /** @type {Packed[]} */ (Object.values(JSON.parse(told)));
  if (packed === undefined) throw new Error('npm packed nothing');
  return packed;
}

/** The packages that come along with ours, those of other platforms included, by their folder. @param {string} root */
export function runtimePackages(root) {
  const { packages } = /** @type {Lock} */ (JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  return Object.entries(packages).filter(([folder, { dev }]) => folder !== '' && !dev);
}

/** What the budget limits. @param {string} root @param {Packed} packed */
export function costOf(root, packed) {
  // A native part for each platform, of which one is installed: its size is that of no other machine.
  const everywhere = runtimePackages(root).filter(([, { os }]) => os === undefined);
  return {
    packedBytes: packed.size,
    unpackedBytes: packed.unpackedSize,
    files: packed.entryCount,
    dependencies: everywhere.length,
    dependencyBytes: everywhere.reduce((sum, [folder]) => sum + bytesIn(join(root, folder)), 0),
  };
}

/** @param {string} path @returns {number} */
function bytesIn(path) {
  // What is optional is not installed everywhere.
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isDirectory()) return status?.size ?? 0;
  // A package inside another one has a line of its own in the lock file.
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return names.reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}
