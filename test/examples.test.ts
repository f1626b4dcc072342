import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Sandbox } from './support/run-cli.ts';

const root = join(import.meta.dirname, '..');
const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

const examples = readdirSync(join(root, 'examples'));

/** A page's blocks of YAML that are whole scripts; `fails` where the page shows what a failure looks like. */
function scriptsIn(page: string): { name: string; text: string; fails: boolean }[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```yaml( fails)?\n(.*?)^```$/gms)]
    .map(([, fails, block = ''], index) => ({
      name: `${page.replace(/\W/g, '-')}-${index + 1}.yaml`,
      text: block,
      fails: fails !== undefined,
    }))
    .filter((script) => /^steps:/m.test(script.text));
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
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`)];
  const scripts = pages.filter((page) => page.endsWith('.md')).flatMap(scriptsIn);

  it('are there', () => {
    expect(scripts.length).toBeGreaterThanOrEqual(5);
  });

  it.each(scripts)('$name runs offline', async ({ name, text, fails }) => {
    sandbox.write(name, text);
    const { stdout, stderr, exit } = await sandbox.run(`oauth-profile run ${name} --emulate --quiet`);
    expect({ stderr, exit, stdout }).toMatchObject({ stderr: '', exit: fails ? 1 : 0 });
  });
});
