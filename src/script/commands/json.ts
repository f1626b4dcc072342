import type { Value } from '../../config/value.ts';
import type { Files } from '../../ports.ts';
import { type Command, defineCommand } from '../command.ts';
import { sameValue } from '../compare.ts';
import type { StepContext } from '../step-context.ts';
import { StepFailure } from '../step-failure.ts';
import { type JsonDocument, query, readDocument } from './json-document.ts';
import { findSchemaErrors } from './json-schema.ts';

/** As many errors are listed. */
const MAX_LISTED = 100;

const json = { name: 'json', kind: 'value', help: 'The JSON: a value with parts, or text' } as const;
const jsonpath = {
  name: 'jsonpath',
  kind: 'jsonpath',
  help: 'The path, as in RFC 9535; a leading $. may be left out',
} as const;

const find = (args: { json: Value; jsonpath: string }): Promise<readonly Value[]> =>
  query(readDocument(args.json, 'json'), args.jsonpath);

const assertWellformed = defineCommand({
  group: 'json',
  name: 'assertWellformed',
  summary: 'Passes when a text is JSON in which no map has a name twice',
  parameters: [json],
  example: 'json.assertWellformed: "${me.text}"',
  run(args) {
    readDocument(args.json, 'json');
  },
});

const assertValue = defineCommand({
  group: 'json',
  name: 'assertValue',
  summary: 'Passes when what a path finds equals a value; several elements are compared as a list',
  parameters: [json, jsonpath, { name: 'expected', kind: 'value', help: 'What should be there' }],
  example: 'json.assertValue: ["${me.body}", "manager.name", Grace]',
  async run(args) {
    const { expected } = args;
    const actual = oneOrAll(await find(args), args.jsonpath, expected);
    if (!sameValue(expected, actual)) throw new StepFailure(`${args.jsonpath} differs`, { expected, actual });
  },
});

const assertElementPresent = defineCommand({
  group: 'json',
  name: 'assertElementPresent',
  summary: 'Passes when a path finds something, even if it is null',
  parameters: [json, jsonpath],
  example: 'json.assertElementPresent: ["${me.body}", "$.value[0].id"]',
  async run(args) {
    oneOrAll(await find(args), args.jsonpath);
  },
});

const assertElementNotPresent = defineCommand({
  group: 'json',
  name: 'assertElementNotPresent',
  summary: 'Passes when a path finds nothing',
  parameters: [json, jsonpath],
  example: 'json.assertElementNotPresent: ["${me.body}", "error"]',
  async run(args) {
    const [actual] = await find(args);
    if (actual !== undefined) throw new StepFailure(`something is at ${args.jsonpath}`, { actual });
  },
});

const assertElementCount = defineCommand({
  group: 'json',
  name: 'assertElementCount',
  summary: 'Passes when a path finds so many elements',
  parameters: [json, jsonpath, { name: 'count', kind: 'count', help: 'How many' }],
  example: 'json.assertElementCount: ["${me.body}", "$.value[*]", 3]',
  async run(args) {
    const { length } = await find(args);
    if (length !== args.count) {
      throw new StepFailure(`${args.jsonpath} finds another number of elements`, {
        expected: args.count,
        actual: length,
      });
    }
  },
});

const storeValue = defineCommand({
  group: 'json',
  name: 'storeValue',
  summary: 'Saves what a path finds, with its type: one element as it is, several as a list; to find nothing fails',
  parameters: [json, jsonpath, { name: 'var', kind: 'variable', help: 'The variable to write' }],
  example: 'json.storeValue: ["${me.body}", "$.value[0].id", firstId]',
  async run(args, context) {
    context.set(args.var, oneOrAll(await find(args), args.jsonpath));
  },
});

const storeCount = defineCommand({
  group: 'json',
  name: 'storeCount',
  summary: 'Saves how many elements a path finds',
  parameters: [json, jsonpath, { name: 'var', kind: 'variable', help: 'The variable to write' }],
  example: 'json.storeCount: ["${me.body}", "$.value[*]", people]',
  async run(args, context) {
    context.set(args.var, (await find(args)).length);
  },
});

function oneOrAll(found: readonly Value[], path: string, expected?: Value): Value {
  const [first] = found;
  if (first === undefined) throw new StepFailure(`nothing is at ${path}`, { expected });
  return found.length === 1 ? first : found;
}

const assertCorrectness = (files: Pick<Files, 'read'>): Command =>
  defineCommand({
    group: 'json',
    name: 'assertCorrectness',
    summary: 'Passes when JSON fits a JSON Schema (2020-12, 2019-09 or draft-07); a $ref to elsewhere is not fetched',
    parameters: [
      json,
      { name: 'schema', kind: 'value', help: 'The schema: a map, its JSON text, or @ and the path of its file' },
    ],
    example: 'json.assertCorrectness: ["${me.body}", "@person.schema.json"]',
    async run(args, context) {
      const document = readDocument(args.json, 'json');
      const errors = await findSchemaErrors(document, await readSchema(args.schema, files, context));
      if (errors.length === 0) return;
      const more = errors.length > MAX_LISTED ? `; and ${errors.length - MAX_LISTED} more` : '';
      throw new StepFailure(`does not fit the schema: ${errors.slice(0, MAX_LISTED).join('; ')}${more}`);
    },
  });

/** Only the author names a file: a text that came from outside with an @ in front does not. */
async function readSchema(schema: Value, files: Pick<Files, 'read'>, context: StepContext): Promise<JsonDocument> {
  const written = context.written?.('schema');
  const named = typeof written === 'string' && written.startsWith('@') && typeof schema === 'string';
  if (!named) return readDocument(schema, 'schema');
  const path = schema.slice(1);
  return readDocument(new TextDecoder().decode(await files.read(path, context.source.directory)), path);
}

/** The commands of the group json; schemas are read from `files`. */
export function jsonCommands(files: Pick<Files, 'read'>): readonly Command[] {
  return [
    assertWellformed,
    assertValue,
    assertElementPresent,
    assertElementNotPresent,
    assertElementCount,
    assertCorrectness(files),
    storeValue,
    storeCount,
  ];
}
