import type { Value } from '../../config/value.ts';
import type { Files } from '../../ports.ts';
import { type Command, commandGroup, parameter } from '../command.ts';
import { isSameValue } from '../compare.ts';
import { assertStep, type StepContext } from '../step-context.ts';
import { findSchemaErrors, type JsonDocument, queryDocument, readDocument } from './json-document.ts';

const MAX_LISTED = 100;

const group = commandGroup('json');
const json = parameter('json', 'value', 'JSON document: a list, a map or a string');
const jsonpath = parameter('jsonpath', 'jsonpath', 'Path, such as $.value[0].id');
const variable = parameter('var', 'variable', 'Variable to set');

/** Creates the json commands; `files` reads schema files. */
export function jsonCommands(files: Pick<Files, 'read'>): readonly Command[] {
  return [
    group('assertWellformed', 'Asserts that a string is valid JSON without duplicate names in an object', {
      parameters: [json],
      example: 'json.assertWellformed: "${me.text}"',
      run(args, context) {
        readDocument(args.json, 'json', context);
      },
    }),
    group('assertValue', 'Asserts that the value at a path equals a value; several matches are compared as a list', {
      parameters: [json, jsonpath, parameter('expected', 'value', 'Expected value')],
      example: 'json.assertValue: ["${me.body}", "manager.name", Grace]',
      async run(args, context) {
        const { expected } = args;
        const actual = singleOrList(await findNodes(args, context), args.jsonpath, expected);
        assertStep(isSameValue(expected, actual), `${args.jsonpath} differs`, { expected, actual });
      },
    }),
    group('assertElementPresent', 'Asserts that a path matches an element, which may be null', {
      parameters: [json, jsonpath],
      example: 'json.assertElementPresent: ["${me.body}", "$.value[0].id"]',
      async run(args, context) {
        singleOrList(await findNodes(args, context), args.jsonpath);
      },
    }),
    group('assertElementNotPresent', 'Asserts that a path matches no element', {
      parameters: [json, jsonpath],
      example: 'json.assertElementNotPresent: ["${me.body}", "error"]',
      async run(args, context) {
        const [actual] = await findNodes(args, context);
        assertStep(actual === undefined, `${args.jsonpath} matches an element`, { actual });
      },
    }),
    group(
      'assertElementCount',
      'Asserts how many elements a path matches; of a single array, its elements are counted',
      {
        parameters: [json, jsonpath, parameter('count', 'count', 'Expected number of elements')],
        example: 'json.assertElementCount: ["${me.body}", value, 3]',
        async run({ count: expected, ...args }, context) {
          const actual = countElements(await findNodes(args, context));
          assertStep(actual === expected, `${args.jsonpath} matches a different number of elements`, {
            expected,
            actual,
          });
        },
      },
    ),
    group(
      'assertCorrectness',
      'Validates JSON against a JSON Schema (2020-12, 2019-09 or draft-07); remote $refs are not fetched',
      {
        parameters: [
          json,
          parameter('schema', 'value', 'Schema: a map, a JSON string, or @ followed by the path of a file'),
        ],
        example: 'json.assertCorrectness: ["${me.body}", "@user.schema.json"]',
        async run(args, context) {
          const document = readDocument(args.json, 'json', context);
          const errors = await findSchemaErrors(document, await readSchema(args.schema, files, context));
          const more = errors.length > MAX_LISTED ? `; and ${errors.length - MAX_LISTED} more` : '';
          const shown = errors.slice(0, MAX_LISTED).join('; ');
          assertStep(errors.length === 0, `does not match the schema: ${shown}${more}`);
        },
      },
    ),
    group(
      'storeValue',
      'Saves the value at a path with its type, several matches as a list; fails if nothing matches',
      {
        parameters: [json, jsonpath, variable],
        example: 'json.storeValue: ["${me.body}", "$.value[0].id", firstId]',
        async run(args, context) {
          context.set(args.var, singleOrList(await findNodes(args, context), args.jsonpath));
        },
      },
    ),
    group('storeCount', 'Saves the number of elements that a path matches, or of the elements of a single array', {
      parameters: [json, jsonpath, variable],
      example: 'json.storeCount: ["${me.body}", value, people]',
      async run(args, context) {
        context.set(args.var, countElements(await findNodes(args, context)));
      },
    }),
  ];
}

function findNodes(args: { json: Value; jsonpath: string }, context: StepContext): Promise<readonly Value[]> {
  return queryDocument(readDocument(args.json, 'json', context), args.jsonpath);
}

function countElements(found: readonly Value[]): number {
  const [first] = found;
  return found.length === 1 && Array.isArray(first) ? first.length : found.length;
}

function singleOrList(found: readonly Value[], path: string, expected?: Value): Value {
  const [first] = found;
  assertStep(first !== undefined, `${path} matches no element`, { expected });
  return found.length === 1 ? first : found;
}

/** The `@` of a file name must be written in the script: a resolved value that starts with `@` does not read a file. */
async function readSchema(schema: Value, files: Pick<Files, 'read'>, context: StepContext): Promise<JsonDocument> {
  const raw = context.rawParameter('schema');
  const isFile = typeof raw === 'string' && raw.startsWith('@') && typeof schema === 'string';
  if (!isFile) return readDocument(schema, 'schema', context);
  const path = schema.slice(1);
  return readDocument(new TextDecoder().decode(await files.read(path, context.source.directory)), path, context);
}
