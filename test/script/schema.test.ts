import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { InvalidScriptError } from '../../src/errors.ts';
import { commandName, Registry } from '../../src/script/command.ts';
import { builtinCommands } from '../../src/script/commands/builtin.ts';
import { exampleOf } from '../../src/script/describe-command.ts';
import { readScript } from '../../src/script/parser/yaml.ts';
import { scriptSchema } from '../../src/script/schema.ts';
import { commandsOf, sampleRegistry, sampleSource } from './sample-commands.ts';

const schemaOf = (registry: Registry) =>
  new Ajv2020({ strict: true, strictRequired: false, strictTuples: false, allowUnionTypes: true }).compile(
    scriptSchema(registry),
  );
const isValid = schemaOf(sampleRegistry);

/** Returns the issues that the parser reports. */
const issuesIn = (text: string): string[] => {
  try {
    readScript(text, sampleSource, sampleRegistry);
    return [];
  } catch (error) {
    if (error instanceof InvalidScriptError) return error.issues.map(({ message }) => message);
    throw error;
  }
};

describe('The JSON Schema of scripts', () => {
  it.each([
    'steps: [{ws.reset: }]',
    'version: 1\nname: x\ndata: {a: {b: 1}, c: [1]}\nsteps: [{ws.reset: []}]',
    'data:\nsteps: [{ws.reset: {}}]',
    'steps: [{ws.get: [a, "", me]}, {ws.get: [a, ~, me, {b: c}]}, {ws.get: {url: a, queryString: b, var: c}}]',
    'steps: [{base.waitFor: 5}, {base.waitFor: "${ms}"}, {base.waitFor: [5]}, {base.waitFor: {waitMs: 5}}]',
    'steps: [{base.clear: a}, {base.clear: [a]}, {base.clear: [a, b]}, {base.clear: [[a, b]]}]',
    'steps: [{base.note: }, {base.note: a}, {base.note: [a, true]}]',
    'steps: [{base.verbose: [[1, {a: b}]]}, {base.verbose: 7}]',
    'steps: [{ws.get: {url: a, var: c}}]',
    'steps: [{ws.reset: , name: x, if: "a = b", continueOnFailure: true, always: false}, {ws.reset: , if: true}]',
  ])('accepts %j, like the parser', (text) => {
    expect(issuesIn(text)).toEqual([]);
    expect(isValid(parse(text)), JSON.stringify(isValid.errors)).toBe(true);
  });

  it.each([
    '{}',
    '[]',
    'steps: []',
    'steps: {}',
    'step: [{ws.reset: }]',
    'version: 2\nsteps: [{ws.reset: }]',
    'name: [x]\nsteps: [{ws.reset: }]',
    'data: []\nsteps: [{ws.reset: }]',
    'steps: [ws.reset]',
    'steps: [{}]',
    'steps: [{name: x}]',
    'steps: [{ws.rset: }]',
    'steps: [{ws.reset: , base.note: }]',
    'steps: [{ws.reset: , nmae: x}]',
    'steps: [{ws.reset: , always: "true"}]',
    'steps: [{ws.reset: , if: [a]}]',
    'steps: [{ws.reset: a}]',
    'steps: [{ws.get: }]',
    'steps: [{ws.get: a}]',
    'steps: [{ws.get: [a, b]}]',
    'steps: [{ws.get: [a, b, c, {}, e]}]',
    'steps: [{ws.get: {url: a, queryString: b}}]',
    'steps: [{ws.get: {url: a, queryString: b, var: c, d: e}}]',
    'steps: [{ws.get: [[a], b, c]}]',
    'steps: [{base.verbose: [a, b]}]',
    'steps: [{base.waitFor: [[]]}]',
  ])('rejects %j, like the parser', (text) => {
    expect(issuesIn(text)).not.toEqual([]);
    expect(isValid(parse(text))).toBe(false);
  });

  it('agrees with the parser on everything that does not depend on values', () => {
    const name = fc.constantFrom('url', 'var', 'queryString', 'name', 'value', 'text', 'vars', 'other');
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.constantFrom('a', 'b', '${a}', 7, true, null),
      fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
      fc.dictionary(name, fc.constantFrom('a', 1), { maxKeys: 2 }),
    );
    const command = fc.constantFrom(...Array.from(sampleRegistry, commandName), 'ws.gett', 'get');
    const parameters = fc.oneof(value, fc.array(value, { maxLength: 4 }), fc.dictionary(name, value, { maxKeys: 4 }));
    const more = fc.dictionary(fc.constantFrom('name', 'if', 'always', 'continueOnFailure', 'nmae'), value, {
      maxKeys: 1,
    });
    const step = fc.tuple(command, parameters, more).map(([key, given, rest]) => ({ [key]: given, ...rest }));
    const onlyValues = /must be|^the reference|^if: /;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 2 }), (steps) => {
        const issues = issuesIn(stringify({ steps }));
        const valid = isValid({ steps });
        if (issues.length === 0) expect(valid, JSON.stringify(isValid.errors)).toBe(true);
        if (issues.some((issue) => !onlyValues.test(issue))) expect(valid).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('describes each command and each parameter', () => {
    const { $defs } = scriptSchema(sampleRegistry) as { $defs: { step: { properties: Record<string, unknown> } } };
    expect($defs.step.properties['base.waitFor']).toMatchObject({
      title: 'base.waitFor(waitMs)',
      description: 'Does waitFor.\n\n- base.waitFor: []',
      anyOf: [{ prefixItems: [{ title: 'non-negative integer', description: 'The waitMs' }] }, {}, {}],
    });
  });
});

describe('Built-in commands:', () => {
  // No command runs, so no ports are needed.
  const registry = new Registry(builtinCommands({} as Parameters<typeof builtinCommands>[0]));
  const takes = schemaOf(registry);

  it.each(Array.from(registry, (command) => [commandName(command), command] as const))(
    '%s has a valid example',
    (_, command) => {
      const text = `steps:\n${exampleOf(command).replace(/^/gm, '  ')}\n`;
      const [step] = commandsOf(readScript(text, sampleSource, registry).script);
      expect(step?.command).toBe(command);
      expect(takes(parse(text)), JSON.stringify(takes.errors)).toBe(true);
    },
  );

  it.each(Array.from(registry, (command) => [commandName(command), command] as const))(
    '%s has descriptions without a full stop',
    (_, command) => {
      for (const sentence of [command.summary, ...command.parameters.map(({ help }) => help)]) {
        expect(sentence).toMatch(/^\S.*[^.]$/);
      }
    },
  );
});
