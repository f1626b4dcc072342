import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDirectory } from '../support/directory.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'oauth-profile.js');

/** `oauth-profile run --watch` in a directory. */
class Watch {
  readonly child: ChildProcess;
  #output = '';
  #read = 0;
  readonly #changes = new EventEmitter();

  constructor(
    readonly directory: string,
    ...args: string[]
  ) {
    const { PATH } = process.env;
    // One pipe for stdout and stderr: what is written to two of them may arrive in another order.
    this.child = spawn('sh', ['-c', 'exec "$0" "$@" 2>&1', process.execPath, bin, 'run', ...args, '--watch'], {
      cwd: directory,
      env: { PATH, HOME: directory },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#changes.emit('change');
    });
    this.child.on('close', () => this.#changes.emit('change'));
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  /** Waits until the scripts have run, and returns the output of this run. */
  nextRun(): Promise<string> {
    return this.outputUntil('press Ctrl-C to stop\n');
  }

  /** Waits for a string in the output, and returns what was written before it. */
  async outputUntil(end: string): Promise<string> {
    for (;;) {
      const at = this.#output.indexOf(end, this.#read);
      if (at >= 0) {
        const text = this.#output.slice(this.#read, at);
        this.#read = at + end.length;
        return text;
      }
      if (this.child.exitCode !== null) throw new Error(`the program has ended: ${this.#output}`);
      await once(this.#changes, 'change');
    }
  }

  /** Changes files, waits for the next run and returns the scripts that have run, with their states. */
  async change(files: Readonly<Record<string, string>>): Promise<string[]> {
    write(this.directory, files);
    return statesIn(await this.nextRun());
  }

  async interrupt(): Promise<unknown> {
    const closed = once(this.child, 'close');
    this.child.kill('SIGINT');
    const [status] = await closed;
    return status;
  }
}

const statesIn = (output: string): string[] =>
  [...output.matchAll(/^. (passed|failed) {2}(\S+)/gm)].map(([, state, name]) => `${name} ${state}`);

function write(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    // At no time is there a part of a file.
    writeFileSync(join(directory, '.part'), text);
    renameSync(join(directory, '.part'), join(directory, name));
  }
}

const script = (...steps: string[]): string => `steps:\n${steps.map((step) => `  - ${step}\n`).join('')}`;

it('run --watch runs the scripts again that a changed file affects', { timeout: 120_000 }, async () => {
  const directory = createTestDirectory();
  write(directory, {
    'suite/a.yaml': script('base.verbose: a'),
    'suite/b.yaml': `rows: b.csv\n${script('run: ../parts/part.yaml', 'base.assertEqual: [eu, "${region}"]')}`,
    'suite/c.yaml': script('json.assertCorrectness: [{}, "@c.schema.json"]'),
    'suite/b.csv': 'region\neu\n',
    'suite/c.schema.json': '{}',
    'suite/environments/test.yaml': 'region: us\n',
    'parts/part.yaml': script('base.verbose: part'),
    'more.env': 'A=1\n',
  });
  const watch = new Watch(directory, 'suite', '--env', 'test', '--quiet', '--data', 'more.env', '--json');
  expect(await watch.nextRun()).toContain('"passed": 3');
  await watch.interrupt();
  const plain = new Watch(directory, 'suite', '--env', 'test', '--data', 'more.env');
  expect(statesIn(await plain.nextRun())).toEqual(['a.yaml passed', 'b.yaml passed', 'c.yaml passed']);
  expect(await plain.change({ 'suite/a.yaml': script('base.assertEqual: [1, 2]') })).toEqual(['a.yaml failed']);
  expect(await plain.change({ 'suite/b.csv': 'region\neu\nus\n' })).toEqual(['b.yaml passed', 'b.yaml failed']);
  expect(await plain.change({ 'parts/part.yaml': script('base.verbose: part 2') })).toHaveLength(2);
  expect(await plain.change({ 'suite/c.schema.json': '{"required": ["a"]}' })).toEqual(['c.yaml failed']);
  expect(await plain.change({ 'suite/environments/test.yaml': 'region: eu # changed\n' })).toHaveLength(4);
  expect(await plain.change({ 'more.env': 'A=22\n' })).toHaveLength(4);
  expect(await plain.change({ 'oauth-profiles.yaml': 'lab: {type: gitlab}\n' })).toHaveLength(4);
  expect(await plain.change({ 'suite/d.yaml': script('base.verbose: new') })).toEqual(['d.yaml passed']);
  expect(await plain.interrupt()).toBe(0);
});

it('run --watch reports a script that is invalid or missing, and waits for the next change', {
  timeout: 60_000,
}, async () => {
  const directory = createTestDirectory();
  write(directory, { 'a.yaml': script('run: part.yaml'), 'part.yaml': script('base.verbos: typo') });
  const watch = new Watch(directory, 'a.yaml');
  expect(await watch.nextRun()).toContain('part.yaml:2:5: unknown command base.verbos');
  expect(await watch.change({ 'part.yaml': script('base.verbose: fixed') })).toEqual(['a.yaml passed']);
  rmSync(join(directory, 'a.yaml'));
  expect(await watch.nextRun()).toContain('file not found: a.yaml');
  expect(await watch.interrupt()).toBe(2);
});

it('run --watch loads changed commands, and Ctrl-C during a run ends with 130', { timeout: 60_000 }, async () => {
  const directory = createTestDirectory();
  const commands = (body: string) => `import { setTimeout } from 'node:timers/promises';
  export const one = {
    group: 'my', name: 'one', summary: 'One', parameters: [], example: 'my.one:', async run(args, { log, signal }) { ${body} },
  };`;
  write(directory, { 'commands.mjs': commands('log("first")'), 'a.yaml': script('my.one:') });
  const watch = new Watch(directory, 'a.yaml', '--commands', 'commands.mjs', '--verbose');
  expect(await watch.nextRun()).toContain('first');
  write(directory, {
    'commands.mjs': commands('process.stdout.write("waiting"); await setTimeout(1e6, null, { signal })'),
  });
  await watch.outputUntil('waiting');
  expect(await watch.interrupt()).toBe(130);
});
