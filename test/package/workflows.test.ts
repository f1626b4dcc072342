import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly needs?: string;
  readonly permissions?: Record<string, string>;
  readonly strategy?: { readonly matrix: { readonly node?: readonly number[] } };
  readonly 'continue-on-error'?: boolean;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: Record<string, unknown>;
  readonly permissions: unknown;
  readonly jobs: Record<string, Job>;
}

const root = join(import.meta.dirname, '..', '..');
const directory = join(root, '.github', 'workflows');
const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const { scripts, engines, version } = readJson('package.json') as {
  scripts: Record<string, string>;
  engines: { node: string };
  version: string;
};
const readSource = (name: string) => readFileSync(join(directory, name), 'utf8');
const read = (name: string) => parse(readSource(name), { strict: true, uniqueKeys: true }) as Workflow;

describe.each(readdirSync(directory))('the workflow %s', (name) => {
  const workflow = read(name);
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  it('calls only existing scripts and files', () => {
    const lines = steps.flatMap(({ run = '' }) => run.split(/&&|\n/).map((line) => line.trim()));
    const called = lines.flatMap((line) => /^npm (?:run )?(test|(?<=run )[\w:-]+)/.exec(line)?.[1] ?? []);
    expect(called.filter((script) => scripts[script] === undefined)).toEqual([]);
    const files = lines.flatMap((line) => /^(?:node )?(\.ci\/\w+|tools\/[\w-]+\.js)/.exec(line)?.[1] ?? []);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('uses only actions of GitHub and of release-please', () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(
      actions.filter((action) => !/^(?:actions\/[\w-]+|googleapis\/release-please-action)@v\d+$/.test(action)),
    ).toEqual([]);
  });

  it('can only read the repository, except for jobs that declare more', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const more = Object.entries(workflow.jobs).flatMap(([job, { permissions = {} }]) =>
      Object.entries(permissions)
        .filter(([, access]) => access !== 'read')
        .map(([scope]) => `${job}: ${scope}`),
    );
    const release = ['release-please: contents', 'release-please: pull-requests', 'publish: id-token'];
    expect(more).toEqual(name === 'release.yml' ? release : []);
  });

  it('interpolates nothing into a shell command and has a timeout for each job', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
    for (const job of Object.values(workflow.jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });
});

it('CI tests every supported version of Node without a secret', () => {
  const { on, jobs } = read('ci.yml');
  expect(Object.keys(on)).toEqual(['push', 'pull_request']);
  expect(readSource('ci.yml')).not.toContain('secrets.');
  const versions = jobs['test']?.strategy?.matrix.node ?? [];
  expect(versions).toEqual([20, 22, 24, 26]);
  expect(engines.node).toBe(`>=${versions[0]}`);
  expect(versions).toContain(Number(readFileSync(join(root, '.node-version'), 'utf8')));
  const optional = Object.keys(jobs).filter((job) => jobs[job]?.['continue-on-error']);
  expect(optional).toEqual(['other-systems']);
});

it('a release is published with provenance, after the tests, by the only job with the token', () => {
  const { jobs } = read('release.yml');
  const withSecrets = Object.keys(jobs).filter((job) => JSON.stringify(jobs[job]).includes('secrets.'));
  expect(withSecrets).toEqual(['publish']);
  expect(jobs['publish']).toMatchObject({ needs: 'test', permissions: { 'id-token': 'write' } });
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = '' }) => run));
  expect(commands.filter((command) => command.startsWith('npm publish'))).toEqual([
    'npm publish --ignore-scripts --provenance --access public',
  ]);
});

it('every file that release-please updates exists', () => {
  const { packages } = readJson('release-please-config.json') as { packages: { '.': { 'extra-files': string[] } } };
  expect(packages['.']['extra-files'].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const released = (readJson('.release-please-manifest.json') as { '.': string })['.'];
  expect(released === version || released === '0.0.0').toBe(true);
});
