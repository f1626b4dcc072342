import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const project = mkdtempSync(join(tmpdir(), 'oauth-profile-quality-'));

function write(name: string, content: unknown): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), typeof content === 'string' ? content : JSON.stringify(content));
  utimesSync(join(project, name), new Date('2026-03-04'), new Date('2026-03-04'));
}

/** The page after a run, section by section. */
function measure(): Record<string, string> {
  const { status, stderr } = spawnSync(process.execPath, ['tools/make-quality.js'], {
    cwd: project,
    env: {
      PATH: `${join(project, 'bin')}${delimiter}${process.env['PATH']}`,
      GIT_CEILING_DIRECTORIES: dirname(project),
    },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const text = readFileSync(join(project, 'docs', 'quality.md'), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/<!-- (\w+) -->\n([\s\S]*?)\n<!-- \/\1 -->/g)].map(([, name, body]) => [name, body]),
  );
}

beforeAll(() => {
  for (const tool of ['make-quality.js', 'package-budget.js', 'package-budget.json'])
    cpSync(join(root, 'tools', tool), join(project, 'tools', tool));
  const packed = { filename: 'p.tgz', size: 1000, unpackedSize: 2000, entryCount: 3, files: [] };
  write('bin/npm', `#!/bin/sh\necho '${JSON.stringify([packed])}'\n`);
  spawnSync('chmod', ['+x', join(project, 'bin', 'npm')]);
  write('package.json', { type: 'module' });
  write('package-lock.json', { packages: { '': {}, 'node_modules/q': {}, 'node_modules/r': { dev: true } } });
  write('node_modules/q/q.js', '12345');
  write('dist/index.js', '');
  for (const folder of ['src', 'test', 'bench', 'docs']) write(`${folder}/one.ts`, 'a\nb\n');
});
afterAll(() => rmSync(project, { recursive: true }));

it('a page of quality says what was not measured, tells what was, and keeps a figure whose source is gone', () => {
  const first = measure();
  for (const name of ['tests', 'matrix', 'mutation', 'fuzzing', 'coverage', 'speed'])
    expect(first[name]).toBe('Not measured yet.');
  expect(first['size']).toContain('| `src/` | 1 | 2 |');
  expect(first['package']).toContain('| bytes to download | 1,000 | ');
  expect(first['package']).toMatch(/\| packages that come along \| 1 \| \d+ \|\n\| bytes of them on the disk \| 5 \| /);

  write('reports/tests.json', { numPassedTests: 1234, numFailedTests: 0, numPendingTests: 2, testResults: [{}, {}] });
  const row = { version: 'v26.1.0', passed: 9, failed: 1, skipped: 0, seconds: 3 };
  write('reports/matrix.json', { date: '2026-03-05', platform: 'linux x64', rows: [row] });
  const mutants = ['Killed', 'Killed', 'Timeout', 'Survived', 'Ignored', 'CompileError'].map((status) => ({ status }));
  write('reports/mutation/mutation.json', {
    files: { 'src/token/a.ts': { mutants }, 'src/data/b.ts': { mutants: [{ status: 'NoCoverage' }] } },
  });
  write('reports/fuzz.json', {
    failures: [],
    targets: [{ target: 'yaml', executions: 1_000_000, seconds: 60, blocks: 321 }],
  });
  const total = { covered: 9, total: 10 };
  write('reports/coverage/coverage-summary.json', {
    total: { lines: total, functions: total, branches: { covered: 1, total: 3 } },
  });
  write(
    'bench/results.md',
    '| a | 1 | 2 | met |\n\n## Goals\n\n| a | 1× | ≥ 1× | met |\n| b | 2× | ≤ 1× | **missed** |\n',
  );
  const second = measure();
  expect(second['tests']).toBe(
    '2026-03-04:\n\n| files | passed | failed | skipped |\n| --- | ---: | ---: | ---: |\n| 2 | 1,234 | 0 | 2 |',
  );
  expect(second['matrix']).toMatch(/^2026-03-05, linux x64:\n[\s\S]*\| v26\.1\.0 \| 9 \| 1 \| 0 \|$/);
  expect(second['mutation']).toMatch(
    /\| data \| 1 \| 1 \| 0\.0 % \|\n\| token \| 4 \| 1 \| 75\.0 % \|\n\| all \| 5 \| 2 \| 60\.0 % \|$/,
  );
  expect(second['fuzzing']).toMatch(
    /^2026-03-04, no promise was broken:\n[\s\S]*\| yaml \| 1,000,000 \| 60 \| 321 \|$/,
  );
  expect(second['coverage']).toMatch(/\| 90\.0 % \| 90\.0 % \| 33\.3 % \|$/);
  expect(second['speed']).toMatch(/^2026-03-04: 1 of 2 goals are met\.\n\nMissed:\n[\s\S]*\| b \| 2× \| ≤ 1× \|$/);

  write('bench/results.md', '**A trial**\n\n## Goals\n\n| a | 1× | ≥ 1× | met |\n');
  expect(measure()['speed']).toBe(second['speed']);

  for (const gone of ['reports', 'bench/results.md']) rmSync(join(project, gone), { recursive: true });
  // Counted anew each time, with the day of it.
  expect({ ...measure(), package: second['package'] }).toEqual(second);
});
