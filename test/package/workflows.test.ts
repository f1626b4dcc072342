import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly needs?: string | readonly string[];
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

  it('uses only actions of GitHub and of release-please, pinned to the commit of a version', () => {
    const actions = [...readSource(name).matchAll(/^ *(?:- )?uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(actions).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    const pinned = /^(?:actions\/[\w-]+|googleapis\/release-please-action)@[\da-f]{40} # v\d+\.\d+\.\d+$/;
    expect(actions.filter((action) => !pinned.test(action))).toEqual([]);
  });

  it('can only read the repository, except for jobs that declare more', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const more = Object.entries(workflow.jobs).flatMap(([job, { permissions = {} }]) =>
      Object.entries(permissions)
        .filter(([, access]) => access !== 'read')
        .map(([scope]) => `${job}: ${scope}`),
    );
    const release = [
      'release-please: contents',
      'release-please: pull-requests',
      'lock-action: contents',
      'publish: contents',
      'publish: id-token',
    ];
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

it('a release is published without a token, after the tests, with provenance, locked code and a bill of materials', () => {
  const { jobs } = read('release.yml');
  expect(readSource('release.yml')).not.toContain('secrets.');
  const withIdToken = Object.keys(jobs).filter((job) => jobs[job]?.permissions?.['id-token'] !== undefined);
  expect(withIdToken).toEqual(['publish']);
  expect(jobs['publish']?.needs).toContain('test');
  const commands = jobs['publish']?.steps.map(({ run = '' }) => run) ?? [];
  const at = (part: string) => commands.findIndex((command) => command.includes(part));
  expect(commands[at('publish --')]).toMatch(/^npx --yes npm@11\.\S+ publish --ignore-scripts --provenance /);
  expect(at('lock-action.js')).toBeGreaterThan(at('npm pack'));
  expect(at('publish --')).toBeGreaterThan(at('lock-action.js'));
  expect(at('npm sbom --omit=dev --sbom-format=cyclonedx')).toBeGreaterThan(-1);
});

it('every file that release-please updates exists', () => {
  const { packages } = readJson('release-please-config.json') as { packages: { '.': { 'extra-files': string[] } } };
  expect(packages['.']['extra-files'].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const released = (readJson('.release-please-manifest.json') as { '.': string })['.'];
  expect(released === version || released === '0.0.0').toBe(true);
});
