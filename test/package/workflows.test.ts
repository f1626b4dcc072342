import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Record<string, string>;
}
interface Job {
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
const folder = join(root, '.github', 'workflows');
const { scripts, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  engines: { node: string };
};
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8');
const read = (name: string) => parse(textOf(name), { strict: true, uniqueKeys: true }) as Workflow;
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);

describe.each(readdirSync(folder))('the workflow %s', (name) => {
  const workflow = read(name);
  const steps = stepsOf(workflow);

  it('calls only scripts and files that there are', () => {
    const lines = steps.flatMap(({ run = '' }) => run.split(/&&|\n/).map((line) => line.trim()));
    const named = lines.flatMap((line) => /^npm (?:run )?(test|(?<=run )[\w:-]+)/.exec(line)?.[1] ?? []);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
    const files = lines.flatMap((line) => /^(?:node )?(\.ci\/\w+|tools\/[\w-]+\.js)/.exec(line)?.[1] ?? []);
    expect(files.length + named.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('takes actions by their major version, and says why it trusts them', () => {
    const lines = textOf(name)
      .split('\n')
      .filter((line) => line.includes('uses:'));
    expect(lines.length).toBe(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: actions\/[\w-]+@v\d+ # \S/);
  });

  it('may read the repository only, unless a job says what else it needs', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const more = Object.entries(workflow.jobs).flatMap(([job, { permissions = {} }]) =>
      Object.entries(permissions)
        .filter(([, access]) => access !== 'read')
        .map(([what]) => `${job}: ${what}`),
    );
    expect(more).toEqual(name === 'release.yml' ? ['publish: id-token', 'notes: contents'] : []);
  });

  it('puts nothing from outside into a line of shell, and ends by itself', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
    for (const job of Object.values(workflow.jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });
});

it('pull requests are tried under every Node that the package promises, without a secret', () => {
  const { on, jobs } = read('ci.yml');
  expect(Object.keys(on)).toEqual(['push', 'pull_request']);
  expect(textOf('ci.yml')).not.toContain('secrets.');
  const tried = jobs['test']?.strategy?.matrix.node ?? [];
  expect(tried).toEqual([20, 22, 24, 26]);
  expect(engines.node).toBe(`>=${tried[0]}`);
  const lenient = Object.keys(jobs).filter((job) => jobs[job]?.['continue-on-error']);
  expect(lenient).toEqual(['elsewhere']);
});

it('a release is published with its provenance, after the tests, by the one job that has the token', () => {
  const { on, jobs } = read('release.yml');
  expect(on).toEqual({ push: { tags: ['v*.*.*'] } });
  const holders = Object.keys(jobs).filter((job) => JSON.stringify(jobs[job]).includes('secrets.'));
  expect(holders).toEqual(['publish']);
  expect(jobs['publish']).toMatchObject({ needs: 'test', permissions: { 'id-token': 'write' } });
  const publishing = stepsOf(read('release.yml')).filter(({ run }) => run?.startsWith('npm publish'));
  expect(publishing).toHaveLength(1);
  expect(publishing[0]?.run).toContain('--provenance');
});
