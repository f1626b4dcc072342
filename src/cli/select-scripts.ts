import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { escapeControls } from '../redaction/sanitize.ts';
import { type Command, defineCommand } from '../script/command.ts';
import type { Script } from '../script/script.ts';
import { usageError } from './args.ts';
import type { Context } from './context.ts';

/** Returns the scripts that `--tag`, `--not-tag` and `--grep` select. */
export function selectScripts(scripts: readonly Script[], { args }: Context): readonly Script[] {
  const [tags = [], notTags = []] = [args.values.get('tag'), args.values.get('not-tag')];
  const pattern = parsePattern(args.values.get('grep')?.[0]);
  const selected = scripts.filter(({ tags: own = [], name, source }) => {
    const isTagged = tags.length === 0 || tags.some((tag) => own.includes(tag));
    return isTagged && !notTags.some((tag) => own.includes(tag)) && (pattern.test(name) || pattern.test(source.label));
  });
  if (selected.length > 0) return selected;
  throw usageError(
    `none of ${scripts.length} scripts is selected`,
    'check --tag, --not-tag and --grep; --list shows the tags',
  );
}

function parsePattern(text = ''): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch {
    throw usageError(
      `invalid --grep "${escapeControls(text)}": expected a regular expression`,
      'write --grep "orders|login"',
    );
  }
}

/** Returns the part of a list that `--shard` selects: the second of four is every fourth item from the second on. */
export function selectShard<T>(items: readonly T[], { args }: Context): readonly T[] {
  const text = args.values.get('shard')?.[0];
  if (text === undefined) return items;
  const [, part = '', parts = ''] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  if (!(Number(part) >= 1 && Number(part) <= Number(parts)))
    throw usageError(`invalid --shard "${escapeControls(text)}": expected I/N`, 'write --shard 2/4');
  return items.filter((_, index) => index % Number(parts) === Number(part) - 1);
}

/** Returns the path of `environments/NAME.yaml` in the directory of a script or a parent; nothing without `--env`. */
export function findEnvironment({ source }: Script, { args, environment: { cwd } }: Context): readonly string[] {
  const name = args.values.get('env')?.[0];
  if (name === undefined) return [];
  if (!/^[\w-][\w.-]*$/.test(name)) throw usageError('invalid --env: expected a name', 'write --env staging');
  for (let directory = resolve(cwd, source.directory); ; directory = dirname(directory)) {
    const file = ['yaml', 'yml']
      .map((end) => join(directory, 'environments', `${name}.${end}`))
      .find((path) => existsSync(path));
    if (file !== undefined) return [relative(cwd, file)];
    if (directory === dirname(directory)) break;
  }
  throw usageError(
    `no environments/${name}.yaml next to ${escapeControls(source.label)} or in a parent directory`,
    'create it with the variables of this environment',
  );
}

/** Loads the commands that modules export: each export that is a command, or a list of commands. */
export async function loadCommands(files: readonly string[], cwd: string): Promise<Command[]> {
  const commands: Command[] = [];
  for (const file of files) {
    let module: Readonly<Record<string, unknown>>;
    try {
      const path = resolve(cwd, file);
      // With --watch, a changed module must not come from the cache of Node.
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
      module = await import(`${pathToFileURL(path)}${mtimeMs === undefined ? '' : `?${mtimeMs}`}`);
    } catch (error) {
      const hint = 'the file must be a JavaScript module that exports commands created with defineCommand';
      throw usageError(
        `cannot load --commands ${escapeControls(file)}: ${escapeControls((error as Error).message.replace(/ imported from .*/s, ''))}`,
        hint,
      );
    }
    const found = Object.values(module).flat().filter(isCommand);
    for (const command of found) {
      try {
        defineCommand(command);
      } catch (error) {
        throw usageError(
          `${escapeControls(file)}: ${(error as Error).message}`,
          'correct the definition of the command',
        );
      }
    }
    if (found.length === 0)
      throw usageError(`${escapeControls(file)} exports no commands`, 'export the results of defineCommand');
    commands.push(...found);
  }
  return commands;
}

function isCommand(value: unknown): value is Command {
  const { group, name, parameters, run } = Object(value);
  return (
    typeof group === 'string' && typeof name === 'string' && Array.isArray(parameters) && typeof run === 'function'
  );
}
