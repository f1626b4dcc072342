import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { servers } from '../servers/servers.js';
import { readPage, root } from './blocks.ts';

const readManifest = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const versions: Record<string, string> = {
  ...readManifest('package.json').devDependencies,
  ...readManifest('test/servers/package.json').dependencies,
};

/** Version by name, from the first table of the page. */
const rows = new Map(
  [...readPage('docs/reference/tested-servers.md').matchAll(/^\| \[([^\]]+)\]\([^)]+\)[^|]*\| ([\d.]+) \|/gm)].map(
    ([, name = '', version = '']) => [name, version],
  ),
);

it('docs/reference/tested-servers.md lists every server of test/servers, and those of npm with their version', () => {
  expect([...rows.keys()]).toEqual(expect.arrayContaining(servers.map(({ title }) => title)));
  const ofNpm = [...rows].filter(([name]) => versions[name] !== undefined);
  expect(ofNpm).toHaveLength(6);
  for (const [name, version] of ofNpm) expect(`${name} ${version}`).toBe(`${name} ${versions[name]}`);
});
