import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCall } from '../src/cli/parse-call.ts';
import { Sandbox } from './support/run-cli.ts';

const root = join(import.meta.dirname, '..');
const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

const examples = readdirSync(join(root, 'examples'));
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`)].filter((page) =>
  page.endsWith('.md'),
);

/** Blocks of a page in a language; `fails` where the page shows what a failure looks like. */
function blocksIn(page: string, language: string): { name: string; text: string; fails: boolean }[] {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```(\w+)( fails)?\n(.*?)^```$/gms);
  return [...blocks]
    .filter(([, found]) => found === language)
    .map(([, , fails, text = ''], index) => ({
      name: `${page.replace(/\W/g, '-')}-${index + 1}`,
      text,
      fails: fails !== undefined,
    }));
}

describe('examples', () => {
  it.each(examples)('%s runs offline, tells how, and has an editor that knows its schema', async (file) => {
    const text = readFileSync(join(root, 'examples', file), 'utf8');
    const [first, second] = text.split('\n');
    expect(first).toBe('# yaml-language-server: $schema=../script.schema.json');
    expect(second).toContain(`Offline: oauth-profile run examples/${file} --emulate`);
    const { stdout, stderr, exit } = await sandbox.run(
      `oauth-profile run ${join(root, 'examples', file)} --emulate --quiet`,
    );
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
    expect(stdout).toMatch(/^\n✓ 1 script {2}\d+ steps passed {2}.*\n$/);
  });

  it('cover all five providers', () => {
    const types = examples.map((file) => /\.type: (\w+)/.exec(readFileSync(join(root, 'examples', file), 'utf8'))?.[1]);
    expect(types.sort()).toEqual(expect.arrayContaining(['gitlab', 'google', 'microsoft', 'okta', 'twitter']));
  });
});

describe('scripts in the documentation', () => {
  const scripts = pages.flatMap((page) => blocksIn(page, 'yaml')).filter(({ text }) => /^steps:/m.test(text));

  it('are there', () => {
    expect(scripts.length).toBeGreaterThanOrEqual(9);
  });

  it.each(scripts)('$name runs offline', async ({ name, text, fails }) => {
    sandbox.write(`${name}.yaml`, text);
    const { stderr, exit } = await sandbox.run(`oauth-profile run ${name}.yaml --emulate --quiet`);
    expect({ stderr, exit }).toEqual({ stderr: '', exit: fails ? 1 : 0 });
  });
});

describe('programs in the documentation of scripts', () => {
  beforeAll(() => {
    mkdirSync(join(sandbox.work, 'node_modules'));
    symlinkSync(root, join(sandbox.work, 'node_modules', 'oauth-profile'));
  });

  it.each(blocksIn('docs/scripts.md', 'ts'))('$name runs', async ({ name, text }) => {
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    sandbox.write(`${name}.mjs`, outputText);
    const { stdout, stderr, exit } = await sandbox.run(`'${process.execPath}' ${name}.mjs`);
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
    expect(stdout).toMatch(/passed|in order/);
  });
});

describe('command lines in the documentation of scripts', () => {
  const lines = ['docs/scripts.md', 'docs/variables.md', 'docs/ci.md', 'docs/reports.md'].flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/oauth-profile ((?:run|commands) [^\n`#|]*)/g)].map(
      ([, line = '']) => line.trim(),
    ),
  );

  it.each([...new Set(lines)])('oauth-profile %s is understood', (line) => {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    expect(parseCall(words).kind).toBe('run');
  });
});
