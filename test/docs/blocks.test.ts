import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseCommandLine } from '../../src/cli/args.ts';
import { commands } from '../../src/cli/command-definitions.ts';
import { runCommand } from '../../tools/run-command.js';
import { type Block, blocksOf, isForDevelopers, pages, root } from './blocks.ts';
import { World } from './world.ts';

const all = pages.flatMap((page) => blocksOf(page));
const of = (...languages: string[]): Block[] => all.filter(({ language }) => languages.includes(language));

/** Their examples are made by running them: generated.test.ts. */
const GENERATED = /^docs\/(?:errors|options|commands)\.md:/;
const runnable = ({ place, runs }: Block): boolean => runs && !isForDevelopers(place) && !GENERATED.test(place);

const worlds = new Map<string, World>();
function worldOf({ place }: Block): World {
  const page = place.replace(/:\d+$/, '');
  const world = worlds.get(page) ?? new World(page);
  worlds.set(page, world);
  return world;
}
afterAll(() => Promise.all([...worlds.values()].map((world) => world.close())));

/** The commands of a session, each with what the page shows of its output. */
function sessionOf(text: string): { line: string; shown: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { line: part.slice(0, end), shown: part.slice(end + 1).trim() };
    });
}

/** Times, ports and dates differ; `…` stands for what a page leaves out, alone on a line for whole lines. */
function patternOf(shown: string): RegExp {
  const escaped = shown.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const steady = escaped
    .replace(/\b\d+(?:\\\.\d+)? (m?s)\b/g, '[\\d.]+ m?s')
    .replace(/\b\d{4}-\d\d-\d\d\b/g, '\\d{4}-\\d\\d-\\d\\d')
    .replace(/(?<=127\\\.0\\\.0\\\.1):\d+/g, ':\\d+')
    .replace(/(?<=oauth-profile\/)\d+\\\.\d+\\\.\d+/g, '\\d+\\.\\d+\\.\\d+')
    .replace(/^…$/gm, '[^]*')
    .replaceAll('…', '.*');
  return new RegExp(`^${steady}$`);
}

describe('sessions in the documentation', () => {
  it.each(of('console').filter(runnable))('$place goes as it is shown', async (block) => {
    const world = worldOf(block);
    const session = sessionOf(block.text);
    // A shell is not kept from line to line; what a line sets is set again for the next.
    let set = '';
    for (const [index, { line, shown }] of session.entries()) {
      const { output, exit } = await world.run(set + line);
      if (/^(?:export )?\w+=/.test(line)) set += `${line}\n`;
      const fails = block.fails && index === session.length - 1;
      if ((exit !== 0) !== fails) expect.fail(`${line} ended with ${exit}:\n${output}`);
      const seen = output.replaceAll(world.home, '/home/ada').replace(/ +$/gm, '').trim();
      if (shown !== '') expect(seen).toMatch(patternOf(shown));
    }
    expect(session).not.toEqual([]);
  });
});

describe('shell commands in the documentation', () => {
  const npm = /^npm (?:install|ci|pack|test|run)\b/;

  it.each(of('sh').filter(runnable))('$place runs', async (block) => {
    const lines = block.text.split('\n').filter((line) => line !== '' && !npm.test(line));
    const world = worldOf(block);
    const plain = lines.every((line) => World.isPlain(line));
    for (const line of plain ? lines : [lines.join('\n')]) {
      const { output, exit } = await world.run(line);
      expect({ line, output, exit }).toMatchObject({ exit: 0 });
    }
  });

  it('name scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = of('sh').flatMap(({ text }) =>
      [...text.matchAll(/\bnpm (?:run (\w+)|(test))/g)].map(([, run, test]) => run ?? test),
    );
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });

  it('are all of bash, also where they cannot run here', () => {
    const texts = [...of('sh'), ...of('console')].map(({ place, language, text }) => ({
      place,
      text:
        language === 'sh'
          ? text
          : sessionOf(text)
              .map(({ line }) => line)
              .join('\n'),
    }));
    // One shell for all: each text is the body of a function that nobody calls.
    const { stderr, status } = spawnSync('bash', ['-n'], {
      input: texts.map(({ place, text }) => `f() { # ${place}\n:\n${text}\n}`).join('\n'),
      encoding: 'utf8',
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });

  it('give flags and arguments that the commands take', () => {
    const names = commands.map(({ name }) => name).join('|');
    const lines = of('sh', 'console', 'yaml').flatMap(({ place, text, fails }) =>
      fails || GENERATED.test(place)
        ? []
        : [...text.matchAll(new RegExp(`(?:^|[ (])oauth-profile ((?:${names})\\b[^\\n#|)&>\`]*)`, 'gm'))].map(
            ([, line = '']) => ({ place, line: line.trim() }),
          ),
    );
    const misunderstood = lines.filter(({ line }) => {
      const words = [...line.matchAll(/["']([^"']*)["']|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      try {
        return parseCommandLine(words).kind !== 'run';
      } catch {
        return true;
      }
    });
    expect(lines.length).toBeGreaterThan(30);
    expect(misunderstood).toEqual([]);
  });
});

describe('YAML and JSON in the documentation', () => {
  const scripts = of('yaml').filter((block) => runnable(block) && /^steps:/m.test(block.text));
  const profiles = of('yaml').filter(
    (block) => runnable(block) && /^ +type: /m.test(block.text) && !scripts.includes(block),
  );

  it('can be read', () => {
    for (const { place, text } of of('yaml')) {
      const problems = parseAllDocuments(text).flatMap(({ errors }) => errors.map(String));
      expect({ place, problems }).toEqual({ place, problems: [] });
    }
    for (const { place, text } of of('json')) expect({ place, value: JSON.parse(text) }).toMatchObject({ place });
  });

  it.each(scripts)('$place runs offline', async (block) => {
    const world = worldOf(block);
    const file = block.file ?? 'block.yaml';
    world.write(file, block.text);
    const { output, exit } = await world.run(`oauth-profile run ${file} --emulate`);
    expect({ output, exit }).toMatchObject({ exit: block.fails ? 1 : 0 });
  });

  it.each(profiles)('$place holds profiles that can be used', async (block) => {
    const world = worldOf(block);
    world.write('block.yaml', block.text);
    for (const name of Object.keys(parse(block.text))) {
      const checked = await world.run(`oauth-profile check ${name} --data block.yaml`);
      // A profile that waits for a login lacks what the login brings.
      const { output, exit } =
        checked.exit === 0
          ? checked
          : await world.run(`oauth-profile check ${name} --data block.yaml --set ${name}.refresh_token=x`);
      expect({ output, exit }).toMatchObject({ exit: 0 });
    }
  });
});

describe('examples', () => {
  const examples = readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.yaml'));

  it.each(examples)('%s runs offline, tells how, and has an editor that knows its schema', async (file) => {
    const text = readFileSync(join(root, 'examples', file), 'utf8');
    const [first, second] = text.split('\n');
    expect(first).toBe('# yaml-language-server: $schema=../script.schema.json');
    expect(second).toContain(`Offline: oauth-profile run examples/${file} --emulate`);
    const { output, exit } = await runCommand(['run', `examples/${file}`, '--emulate', '--quiet'], {
      cwd: root,
      env: {},
    });
    expect(output).toMatch(/^\n✓ 1 script {2}\d+ steps passed {2}.*\n$/);
    expect(exit).toBe(0);
  });

  it('cover all five providers', () => {
    const types = examples.map((file) => /\.type: (\w+)/.exec(readFileSync(join(root, 'examples', file), 'utf8'))?.[1]);
    expect(types).toEqual(expect.arrayContaining(['gitlab', 'google', 'microsoft', 'okta', 'twitter']));
  });
});
