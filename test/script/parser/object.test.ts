import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { RawScalar } from '../../../src/config/value.ts';
import { InvalidScriptError } from '../../../src/errors.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { parseScriptObject, type ScriptObject } from '../../../src/script/parser/object.ts';
import { readScript } from '../../../src/script/parser/yaml.ts';
import { commandsOf, issuesOf, sampleRegistry, sampleSource } from '../sample-commands.ts';

const read = (object: unknown) => parseScriptObject(object as ScriptObject, sampleSource, sampleRegistry).script;
const issues = (object: unknown) => issuesOf(() => read(object)).map(({ path, message }) => `${path} ${message}`);

describe('A script as an object', () => {
  it('is parsed like a file', () => {
    const script = read({
      name: 'Who am I',
      data: { graph: { type: 'microsoft' }, list: [1, false] },
      steps: [
        { 'ws.get': ['https://x', '', 'me'], if: true, always: true, name: undefined },
        { 'base.save': { var: 'id', value: 12345678901234567890n } },
      ],
    });
    expect(script.name).toBe('Who am I');
    expect(script.data).toEqual([
      { name: 'graph.type', value: 'microsoft' },
      { name: 'list', value: [1, false] },
    ]);
    expect(
      commandsOf(script).map(({ parameters, always, name, position }) => ({ parameters, always, name, position })),
    ).toEqual([
      {
        parameters: { url: 'https://x', queryString: '', var: 'me' },
        always: true,
        name: undefined,
        position: undefined,
      },
      {
        parameters: { var: 'id', value: new RawScalar('12345678901234567890', Number(12345678901234567890n)) },
        always: false,
        name: undefined,
        position: undefined,
      },
    ]);
  });

  it('can contain secrets, in which references are not resolved', () => {
    const script = read({
      data: { password: new Secret('a${b}') },
      steps: [{ 'ws.header': ['a', new Secret('hunter2')] }, { 'base.verbose': [[new Secret('x${')]] }],
    });
    const { data } = script;
    const steps = commandsOf(script);
    const clear = (value: unknown) => (value instanceof Secret ? value.reveal() : value);
    expect(clear(data[0]?.value)).toBe('a$${b}');
    expect(clear(steps[0]?.parameters['value'])).toBe('hunter2');
    expect([steps[1]?.parameters['text']].flat().map(clear)).toEqual(['x$${']);
  });

  it.each([
    [{}, 'script the script has no steps'],
    [[], 'script a script must be a map, not a list'],
    [undefined, 'script must be a string, number, boolean, list or map'],
    ['steps', 'script not a script'],
    [{ steps: [] }, 'steps the script has no steps'],
    [{ version: 2, steps: [{ 'ws.reset': [] }] }, 'version unsupported version 2: this program supports version 1'],
    [{ stps: 1, steps: [{ 'ws.reset': [] }] }, 'stps unknown key stps'],
    [{ steps: [{ 'ws.reset': [] }, { 'ws.gett': [] }] }, 'steps[1].ws.gett unknown command ws.gett'],
    [{ steps: [{ 'ws.get': ['a', 'b'] }] }, 'steps[0].ws.get ws.get expects 3 to 4 parameters, got 2'],
    [{ steps: [{ 'ws.get': { url: 'a', vra: 'b' } }] }, 'steps[0].ws.get.vra unknown parameter vra of ws.get'],
    [
      { steps: [{ 'ws.get': ['a', 'b', 'env'] }] },
      expect.stringMatching(/^steps\[0\]\.ws\.get\[2\] var must be a variable name/),
    ],
    [{ steps: [{ 'ws.reset': [], if: 'x' }] }, expect.stringMatching(/^steps\[0\]\.if if: operator expected/)],
    [
      { steps: [{ 'base.verbose': [() => 1] }] },
      'steps[0].base.verbose[0] must be a string, number, boolean, list or map',
    ],
    [
      { steps: [{ 'base.verbose': [new Date()] }] },
      'steps[0].base.verbose[0] must be a string, number, boolean, list or map',
    ],
    [{ steps: [{ 'base.verbose': [Number.NaN] }] }, 'steps[0].base.verbose[0] is not an exact number'],
    [{ steps: [{ 'base.verbose': [2 ** 60] }] }, 'steps[0].base.verbose[0] is not an exact number'],
    [{ data: { a: { b: '${' } }, steps: [{ 'ws.reset': [] }] }, expect.stringMatching(/^data\.a\.b the reference /)],
    [{ data: { 'a.b': 1, a: { b: 2 } }, steps: [{ 'ws.reset': [] }] }, 'data.a.b a.b is defined twice'],
    [{ steps: [{ 'ws.reset': [], name: new Secret('x') }] }, 'steps[0].name name must be a string'],
  ])('is rejected with the path of the issue: %j', (object, issue) => {
    expect(issues(object)).toContainEqual(issue);
  });

  it('is rejected if it contains itself', () => {
    const loop: unknown[] = [];
    loop.push(loop, loop);
    expect(issues({ data: { loop }, steps: [{ 'ws.reset': [] }] })).toEqual([
      expect.stringMatching(/^data\.loop\[0\].* more than 300000 values or 64 levels$/),
    ]);
  });

  it('has no secrets in its issues', () => {
    const object = { data: { password: 'hunter2 ${' }, steps: [{ 'ws.header': ['a', 'hunter2', 'hunter2'] }] };
    expect(JSON.stringify(issuesOf(() => read(object)))).not.toContain('hunter2');
  });

  const name = fc.constantFrom('a', 'url', 'var', 'queryString', 'name', 'value', 'text', 'env', '__proto__');
  const value: fc.Arbitrary<unknown> = fc.oneof(
    fc.constantFrom('a', '', '${a}', '${', '$${', 'env', 7, -1, 1.5, true, null),
    fc.array(fc.constantFrom('a', 1, '${'), { maxLength: 3 }),
    fc.dictionary(name, fc.constantFrom('a', 1), { maxKeys: 2 }),
  );
  const command = fc.constantFrom(...Array.from(sampleRegistry, (one) => `${one.group}.${one.name}`), 'ws.gett', 'get');
  const parameters = fc.oneof(value, fc.array(value, { maxLength: 5 }), fc.dictionary(name, value, { maxKeys: 4 }));
  const step = fc
    .tuple(
      command,
      parameters,
      fc.dictionary(fc.constantFrom('name', 'if', 'always', 'continueOnFailure', 'nmae'), value, { maxKeys: 1 }),
    )
    .map(([key, given, more]) => ({ [key]: given, ...more }));

  it('has the same issues as the same script in a file', () => {
    const words = (run: () => unknown): unknown => {
      try {
        run();
        return 'accepted';
      } catch (error) {
        if (!(error instanceof InvalidScriptError)) throw error;
        return error.issues.map(({ message }) => message).sort();
      }
    };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 3 }), (steps) => {
        const text = stringify({ steps });
        expect(words(() => readScript(text, sampleSource, sampleRegistry))).toEqual(words(() => read({ steps })));
      }),
      { numRuns: 500 },
    );
  });
});
