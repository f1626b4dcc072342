import { Script } from 'node:vm';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Value } from '../../../src/config/value.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { type Outcome, runStep, runSteps } from '../run-steps.ts';

const people = {
  value: [
    { id: 1, name: 'Ada', tags: ['math'], boss: null },
    { id: 2, name: 'Grace', tags: [], 'odd key': 'x' },
  ],
  total: 2,
};
const text = JSON.stringify(people);

/** Runs a step on a document that an earlier step has saved. */
async function over(document: Value, command: string, parameters: readonly Value[]): Promise<Outcome> {
  return runSteps([
    ['base.save', ['doc', document]],
    [`json.${command}`, ['${doc}', ...parameters]],
  ]);
}

const failureOf = ({ result }: Outcome): string | undefined => result.steps.at(-1)?.failure?.message;

describe('json.assertWellformed', () => {
  it.each(['{}', '[]', '1', 'null', '"a"', ' {"a": [1, 2.5e3, true]} ', text])('passes for %s', async (json) => {
    expect((await runStep(['json.assertWellformed', [json]])).step.state).toBe('passed');
  });

  it.each([
    '',
    ' ',
    '{',
    '{a:1}',
    "{'a':1}",
    '[1,]',
    '01',
    'undefined',
    '{"a":1}{',
    '{"a":1,"a":2}',
    '\ufeff{}',
    '[NaN]',
  ])('fails for %j', async (json) => {
    expect((await runStep(['json.assertWellformed', [json]])).step.state).toBe('failed');
  });

  it('reports the position of a syntax error', async () => {
    const { step } = await runStep(['json.assertWellformed', ['{"a":\n 1,}']]);
    expect(step.failure).toEqual({ code: 'step_failed', message: expect.stringMatching(/^json:2:4: /) });
  });

  it.each<Value>([{ a: 1 }, [1], 5, true, null])('accepts the value %j', async (json) => {
    expect((await runStep(['json.assertWellformed', [json]])).step.state).toBe('passed');
  });

  it('rejects JSON that is nested too deep', async () => {
    const { step } = await runStep(['json.assertWellformed', ['['.repeat(100_000)]]);
    expect(step.failure?.message).toMatch(/64 levels/);
  });

  it('quotes nothing of a secret', async () => {
    const json = new Secret('{"hunter22hunter":1,"hunter22hunter":2}');
    const { step } = await runStep(['json.assertWellformed', [json]]);
    expect(step.failure?.message).toBe('json is not valid JSON');
  });
});

describe.each<[kind: string, document: Value]>([
  ['a value', people],
  ['a string', text],
  ['a secret text', new Secret(text)],
])('JSONPath in %s', (_, document) => {
  it.each<[path: string, count: number]>([
    ['$', 1],
    ['total', 1],
    ['$.total', 1],
    ['value[0].name', 1],
    ['$["value"][-1]["odd key"]', 1],
    ['$.value[*]', 2],
    ['$..name', 2],
    ['$.value[0,1,0]', 3],
    ['$.value[?@.id > 1]', 1],
    ['$.value[?@.name == "Ada"].tags[0]', 1],
    ['$.value[?match(@.name, "A.*")]', 1],
    ['$.value[?search(@.name, "a")]', 2],
    ['$.value[?length(@.tags) == 0]', 1],
    ['$.value[*].boss', 1],
    ['$.unknown', 0],
    ['$.value[9]', 0],
    ['$.value.length', 0],
    ['$.constructor', 0],
    ['$.__proto__', 0],
    ['$.value[0].name.length', 0],
    ['$.total[0]', 0],
    ['$.value', 2],
    ['value', 2],
    ['$.value[0].tags[*]', 1],
    ['$.value[0].tags', 1],
    ['$.value[0]', 1],
    ['$.value[*].tags', 2],
  ])('%s has %d elements', async (path, count) => {
    const outcome = await runSteps(
      [
        ['json.assertElementCount', [document, path, count]],
        [count > 0 ? 'json.assertElementPresent' : 'json.assertElementNotPresent', [document, path]],
        ['json.storeCount', [document, path, 'n']],
        [count > 0 ? 'json.assertElementNotPresent' : 'json.assertElementPresent', [document, path]],
      ],
      {},
    );
    expect(outcome.result.steps.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed', 'failed']);
    expect(outcome.saved('n')).toBe(count);
  });
});

describe('JSONPath', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each(['$.', '$[', '$.a b', '$[?', '$[?unknown(@.a)]', '$[?match(@.a)]', '$..', '$[01]', '$.a[?(@.x=1)]'])(
    'rejects the invalid path %s',
    async (path) => {
      const { step } = await runStep(['json.storeCount', [people, path, 'n']]);
      expect(step.failure?.message).toContain(`the JSONPath ${path} cannot be evaluated`);
    },
  );

  it('rejects a secret as a path', async () => {
    const { step } = await runStep(['json.storeCount', [people, new Secret('$.hunter22'), 'n']]);
    expect(step.failure).toMatchObject({ message: expect.stringContaining('jsonpath'), actual: '••••' });
  });

  it('matches a member named __proto__', async () => {
    const { saved } = await runStep([
      'json.storeValue',
      ['{"__proto__": {"length": 5}}', '$["__proto__"].length', 'n'],
    ]);
    expect(saved('n')).toBe(5);
    expect(({} as Record<string, unknown>)['length']).toBeUndefined();
  });

  it('fails after the time limit for a path with too many combinations', async () => {
    const path = `$${'[*,*,*,*]'.repeat(12)}.unknown`;
    const nested = `${'['.repeat(20)}1${']'.repeat(20)}`;
    limitTo(30);
    const { step } = await runStep(['json.storeCount', [nested, path, 'n']]);
    expect(step.failure?.message).toContain('takes longer than');
  });

  it('fails after the time limit for a catastrophic pattern in a filter', async () => {
    limitTo(30);
    const { step } = await runStep(['json.storeCount', [[`${'a'.repeat(60)}!`], '$[?match(@, "(a+)+")]', 'n']]);
    expect(step.failure?.message).toMatch(/takes longer than/);
  });

  it('fails for more than 100,000 matches', async () => {
    const { step } = await runStep(['json.storeCount', [Array(100_001).fill(0), '$[*]', 'n']]);
    expect(step.failure?.message).toMatch(/more than 100000 elements|too deep/);
  });

  it('matches the deepest level of a parsed document', async () => {
    const nested = `${'['.repeat(64)}${']'.repeat(64)}`;
    expect((await runStep(['json.storeCount', [nested, '$..*', 'n']])).saved('n')).toBe(63);
  });

  it('fails for a value that is nested too deep', async () => {
    let deep: Value = 1;
    for (let level = 0; level < 1000; level++) deep = [deep];
    const { step } = await runStep(['json.storeCount', [deep, '$..*', 'n']]);
    expect(step.failure?.message).toMatch(/recursion limit/);
  });
});

it('a JSONPath of names and indexes needs no time limit', async () => {
  const limit = vi.spyOn(Script.prototype, 'runInContext');
  onTestFinished(() => limit.mockRestore());
  expect((await runStep(['json.assertValue', [people, "value[1]['odd key']", 'x']])).step.state).toBe('passed');
  expect(limit).not.toHaveBeenCalled();
  expect((await runStep(['json.assertValue', [people, '$..total', 2]])).step.state).toBe('passed');
  expect(limit).toHaveBeenCalled();
});

function limitTo(timeout: number): void {
  const run = Script.prototype.runInContext;
  vi.spyOn(Script.prototype, 'runInContext').mockImplementation(function (this: Script, context) {
    return run.call(this, context, { timeout });
  });
}

describe('json.assertValue', () => {
  it.each<[path: string, expected: Value]>([
    ['total', 2],
    ['total', '2'],
    ['value[0].name', 'Ada'],
    ['value[0].boss', ''],
    ['value[0].tags', ['math']],
    ['value[0]', { name: 'Ada', id: 1, boss: null, tags: ['math'] }],
    ['$..name', ['Ada', 'Grace']],
    ['$.value[?@.id == 2].name', 'Grace'],
  ])('passes if %s is %j', async (path, expected) => {
    expect((await over(people, 'assertValue', [path, expected])).result.state).toBe('passed');
    expect((await over(text, 'assertValue', [path, expected])).result.state).toBe('passed');
  });

  it.each<[path: string, expected: Value, failure: object]>([
    ['total', 3, { expected: '3', actual: '2' }],
    ['$..name', 'Ada', { expected: 'Ada', actual: '["Ada","Grace"]' }],
    ['missing', '', { message: '$.missing matches no element', expected: '' }],
  ])('fails if %s is not %j', async (path, expected, failure) => {
    const { result } = await over(people, 'assertValue', [path, expected]);
    expect(result.steps[1]?.failure).toMatchObject({ code: 'step_failed', ...failure });
  });

  it('compares a secret and masks it in the failure', async () => {
    const document = JSON.stringify({ access_token: 'hunter22hunter' });
    expect((await over(document, 'assertValue', ['access_token', 'hunter22hunter'])).result.state).toBe('passed');
    const { result } = await over(document, 'assertValue', ['access_token', 'x']);
    expect(result.steps[1]?.failure).toMatchObject({ expected: 'x', actual: '••••' });
  });
});

describe('json.storeValue', () => {
  it.each<[path: string, stored: unknown]>([
    ['total', 2],
    ['value[0].boss', null],
    ['value[0].tags', ['math']],
    ['value[1]', { id: 2, name: 'Grace', tags: [], 'odd key': 'x' }],
    ['$..id', [1, 2]],
    ['$.value[?@.id == 1].name', 'Ada'],
  ])('preserves the type of %s', async (path, stored) => {
    for (const document of [people, text]) {
      expect((await over(document, 'storeValue', [path, 'x'])).saved('x')).toEqual(stored);
    }
  });

  it('D2 fails and does not set the variable if nothing matches', async () => {
    const outcome = await runStep(['json.storeValue', [people, 'missing', 'x']], { data: { x: 'before' } });
    expect(failureOf(outcome)).toBe('$.missing matches no element');
    expect(outcome.saved('x')).toBe('before');
  });

  it('preserves all digits of a large number', async () => {
    const outcome = await runSteps([
      ['json.storeValue', ['{"id": 1234567890123456789}', 'id', 'id']],
      ['base.assertEqual', ['1234567890123456789', '${id}']],
    ]);
    expect(outcome.result.state).toBe('passed');
  });

  it.each<[kind: string, document: Value, path: string, stored: unknown]>([
    ['a secret in a value', { a: { t: new Secret('hunter22') } }, '$.a.t', { secret: 'hunter22' }],
    ['a map with one', { a: { t: new Secret('hunter22'), n: 1 } }, '$.a', { t: { secret: 'hunter22' }, n: 1 }],
    ['a list of them', [new Secret('hunter22'), 'x'], '$[*]', [{ secret: 'hunter22' }, 'x']],
    ['one that a filter looked at', [{ t: new Secret('hunter22') }], '$[?@.t == "hunter22"].t', { secret: 'hunter22' }],
    ['one that its name gives away', '{"a": {"access_token": "hunter22"}}', '$.a.access_token', { secret: 'hunter22' }],
    ['all of a secret text', new Secret('{"a": "hunter22", "n": null}'), '$', { a: { secret: 'hunter22' }, n: null }],
  ])('%s stays a secret', async (_, document, path, stored) => {
    expect((await runStep(['json.storeValue', [document, path, 'x']])).saved('x')).toEqual(stored);
  });

  it('does not resolve ${ in the stored value', async () => {
    const document = '{"a": "${client_secret}"}';
    const { result } = await runSteps(
      [
        ['base.save', ['doc', { a: '$${client_secret}' }]],
        ['json.storeValue', ['${doc}', 'a', 'x']],
        ['base.verbose', ['${x}']],
      ],
      { data: { client_secret: 'hunter22hunter', document } },
    );
    expect(result.steps[2]?.output).toEqual(['${client_secret}']);
  });
});

describe('json.assertCorrectness', () => {
  const schema = {
    type: 'object',
    required: ['value', 'total'],
    properties: {
      value: { type: 'array', items: { $ref: '#/$defs/user' } },
      total: { type: 'integer', minimum: 1 },
    },
    additionalProperties: false,
    $defs: { user: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
  } as const;

  it.each<[kind: string, schema: Value]>([
    ['a map', schema as unknown as Value],
    ['a string', JSON.stringify(schema)],
    ['a secret text', new Secret(JSON.stringify(schema))],
    ['a file', '@schemas/people.json'],
    ['true', true],
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [false] }],
    ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', $ref: '#/$defs/a', $defs: { a: {} } }],
    ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} } }],
    ['an unknown format', { properties: { total: { format: 'unknown' } } }],
    ['an unknown keyword', { 'x-unknown': 5 }],
  ])('accepts a schema that is %s', async (_, given) => {
    const files = { '/work/schemas/people.json': JSON.stringify(schema) };
    for (const document of [people, text, new Secret(text)]) {
      const { step } = await runStep(['json.assertCorrectness', [document, given]], { files });
      expect(step).toMatchObject({ state: 'passed' });
    }
  });

  it('lists every error with its location', async () => {
    const document = { value: [{ id: 1 }, { id: 'x' }, {}], total: 0, more: 1, 'a/b': 2 };
    const { step } = await runStep(['json.assertCorrectness', [document, schema as unknown as Value]]);
    expect(step.failure?.message.replace('does not match the schema: ', '').split('; ').sort()).toEqual([
      '/total must be >= 1',
      '/value/1/id must be integer',
      "/value/2 must have required property 'id'",
      'the document must NOT have additional properties (a/b)',
      'the document must NOT have additional properties (more)',
    ]);
  });

  it('lists the allowed values', async () => {
    const outcome = await runStep([
      'json.assertCorrectness',
      [{ a: 'x', b: 1 }, { properties: { a: { enum: ['y', 'z'] }, b: { const: 2 } } }],
    ]);
    expect(failureOf(outcome)).toContain('/a must be equal to one of the allowed values: ["y","z"]');
    expect(failureOf(outcome)).toContain('/b must be equal to constant: 2');
  });

  it('counts the errors beyond the first 100', async () => {
    const outcome = await runStep(['json.assertCorrectness', [Array(150).fill(1), { items: { type: 'string' } }]]);
    expect(failureOf(outcome)).toMatch(/; and 50 more$/);
  });

  it.each<[kind: string, schema: Value, message: RegExp]>([
    ['has an unknown type', { type: 'unknown' }, /^invalid schema: .*type/],
    [
      'refers to another host',
      { $ref: 'https://example.com/s.json' },
      /^invalid schema: can't resolve reference https:\/\/example/,
    ],
    ['refers to a file', { $ref: 'file:///etc/passwd' }, /^invalid schema: can't resolve/],
    ['has an unresolvable reference', { $ref: '#/$defs/unknown' }, /^invalid schema: can't resolve/],
    ['has a broken pattern', { pattern: '(' }, /^invalid schema: /],
    ['has an unsupported $schema', { $schema: 'http://json-schema.org/draft-04/schema#' }, /^unknown \$schema/],
    ['is asynchronous', { $async: true, type: 'string' }, /^invalid schema: \$async/],
    ['is a list', [1], /^the schema must be a map/],
    ['is a number', 5, /^the schema must be a map/],
    ['is not JSON', '{', /^schema:1:2: /],
    ['is a missing file', '@unknown.json', /unknown\.json cannot be read/],
    ['is a file without JSON', '@bad.json', /^bad\.json:1:1: /],
  ])('rejects a schema that %s', async (_, given, message) => {
    const files = { '/work/bad.json': 'x' };
    const outcome = await runStep(['json.assertCorrectness', [people, given]], { files });
    expect(outcome.result.state).toBe('failed');
    expect(failureOf(outcome)).toMatch(message);
  });

  it('reads a file named in the script, not one named in a response', async () => {
    const data = { directory: 'schemas', response: '@schemas/people.json' };
    const files = { '/work/schemas/people.json': 'true' };
    const named = await runStep(['json.assertCorrectness', [people, '@${directory}/people.json']], { data, files });
    expect(named.result.state).toBe('passed');
    const received = await runStep(['json.assertCorrectness', [people, '${response}']], { data, files });
    expect(failureOf(received)).toMatch(/^schema:1:1: /);
  });

  it('requires own properties', async () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      const outcome = await runStep(['json.assertCorrectness', [{}, { required: [name] }]]);
      expect(failureOf(outcome)).toContain(`must have required property '${name}'`);
    }
  });

  it.each<[kind: string, document: Value, schema: Value]>([
    ['a document', { a: new Secret('hunter22') }, { properties: { a: { const: 'x', pattern: '^x$', maxLength: 1 } } }],
    ['a schema', { a: 'x' }, { properties: { a: { const: new Secret('hunter22'), pattern: new Secret('hunter22') } } }],
    [
      'the names of a secret text',
      new Secret('{"hunter22": 1}'),
      { additionalProperties: false, propertyNames: { maxLength: 1 } },
    ],
    ['the places of a secret text', new Secret('{"hunter22": 1}'), { additionalProperties: { type: 'string' } }],
  ])('masks the secrets of %s', async (_, document, given) => {
    const { result, events } = await runStep(['json.assertCorrectness', [document, given]]);
    expect(result.state).toBe('failed');
    expect(JSON.stringify([result, events]).replace(/"title":"[^"]*"/g, '')).not.toContain('hunter2');
  });

  it('fails after the time limit for a catastrophic pattern', async () => {
    limitTo(100);
    const outcome = await runStep(['json.assertCorrectness', [`"${'a'.repeat(60)}!"`, { pattern: '^(a+)+$' }]]);
    vi.restoreAllMocks();
    expect(failureOf(outcome)).toBe('the schema takes longer than 5 s');
  });
});
