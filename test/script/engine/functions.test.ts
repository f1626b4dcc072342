import { describe, expect, it } from 'vitest';
import { functions } from '../../../src/config/reference.ts';
import { Resolver } from '../../../src/config/resolver.ts';
import { Variables } from '../../../src/config/variables.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { createFunctions } from '../../../src/script/engine/functions.ts';
import { issuesInText, runText } from '../run-text.ts';

const source = { label: 'x', directory: '/', trust: 'given' } as const;
const sources = { env: (name: string) => (name === 'HOST' ? 'a b' : undefined), readFileInside: () => undefined };
const clock = { now: () => Date.UTC(2026, 0, 31, 8, 15, 2, 7), sleep: async () => {} };
const variables = new Variables().add(
  [
    { name: 'x', value: 'Ä b' },
    { name: 'list', value: [1, 2] },
    { name: 'map', value: { a: { b: ' c ' } } },
    { name: 'client_secret', value: 'hunter22' },
  ],
  source,
);
const evaluate = (text: string) => new Resolver(variables, sources, createFunctions(clock)).follow(text, source);

describe('A function in a reference', () => {
  it.each([
    ['${now()}', '2026-01-31T08:15:02.007Z'],
    ['${now("+1h")}', '2026-01-31T09:15:02.007Z'],
    ["${now('-30d')}", '2026-01-01T08:15:02.007Z'],
    ['${now( "+90m" )}', '2026-01-31T09:45:02.007Z'],
    ['${date("yyyy-MM-dd")}', '2026-01-31'],
    ['${date("dd.MM.yyyy HH:mm:ss.SSS", "+1d")}', '01.02.2026 08:15:02.007'],
    ['${random(7, 7)}', 7],
    ['${base64(x)}', 'w4QgYg=='],
    ['${base64url(x)}', 'w4QgYg'],
    ['${urlencode(x)}', '%C3%84%20b'],
    ['${urlencode(env:HOST)}', 'a%20b'],
    ['${sha256("abc")}', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      '${hmacSha256("key", "The quick brown fox jumps over the lazy dog")}',
      'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
    ],
    ['${json(map)}', '{"a":{"b":" c "}}'],
    ['${json(x)}', '"Ä b"'],
    ['${json(list)}', '[1,2]'],
    ['${lower(x)}', 'ä b'],
    ['${upper(map.a.b)}', ' C '],
    ['${trim(map["a"].b)}', 'c'],
    ['${length(x)}', 3],
    ['${length(list)}', 2],
    ['${length(map)}', 1],
    ['${upper(base64(trim("  a ")))}', 'YQ=='],
    ['id-${lower("A")}-${list[0]}', 'id-a-1'],
    ['$${uuid()}', '${uuid()}'],
  ])('%s is %j', (text, value) => {
    expect(evaluate(text)).toEqual(value);
  });

  it('uuid is different at each call', () => {
    const [one, other] = [evaluate('${uuid()}'), evaluate('${uuid()}')];
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(other).not.toBe(one);
  });

  it('random returns integers of the range', () => {
    const found = new Set(Array.from({ length: 200 }, () => evaluate('${random(1, 3)}')));
    expect([...found].sort()).toEqual([1, 2, 3]);
  });

  it.each(Object.keys(functions).filter((name) => functions[name]?.parameters.at(-1) === 'value'))(
    '%s of a secret is a secret',
    (name) => {
      const before = functions[name]?.parameters.length === 2 ? '"key", ' : '';
      expect(evaluate(`\${${name}(${before}client_secret)}`)).toBeInstanceOf(Secret);
    },
  );

  it.each([
    ['${random(3, 1)}', 'two integers'],
    ['${random("a", 1)}', 'two integers'],
    ['${now("soon")}', 'must be a duration'],
    ['${lower(missing)}', 'missing is not defined'],
  ])('%s fails', (text, message) => {
    expect(() => evaluate(text)).toThrow(message);
  });

  it('is an error outside of scripts', () => {
    expect(() => new Resolver(variables, sources).follow('${uuid()}', source)).toThrow(
      'functions can be used in scripts only',
    );
  });

  it.each([
    ['${uid()}', 'the reference calls the unknown function uid'],
    ['${uuid(1)}', 'the reference calls uuid with 1 arguments'],
    ['${random(1)}', 'the reference calls random with 1 arguments'],
    ['${lower(a b)}', 'the reference has no comma or ) after an argument'],
    ['${lower(}', 'the reference has no name'],
    ['${lower("\\x")}', 'the reference has an invalid escape in a quoted argument'],
    ['${lower(a)', 'the reference is not closed or not well-formed'],
  ])('is validated before anything runs: %s', async (text, message) => {
    const [issue = ''] = await issuesInText(`steps:\n  - base.verbose: '${text}'`);
    expect(issue.replace(/^main\.yaml:2:\d+ /, '')).toBe(message);
  });

  it('in the data of a script is evaluated once', async () => {
    const { output } = await runText(
      'data: {id: "order-${uuid()}", copy: "${id}", list: ["${uuid()}"]}\nsteps: [{base.verbose: "${id} ${list[0]}"}, {base.verbose: "${copy} ${list[0]}"}]',
    );
    expect(output[0]).toMatch(/^order-[0-9a-f-]{36} [0-9a-f-]{36}$/);
    expect(output[1]).toBe(output[0]);
  });
});

describe('secrets', () => {
  it('are masked by the names that the script lists, from data and from responses', async () => {
    const { output, everything, steps } = await runText(`
data: {pin: value-of-the-pin, response: {body: {session: abc-session-1, other: visible-value}}}
secrets: [pin, login.body.session]
steps:
  - base.verbose: "\${pin}"
  - base.verbose: "\${upper(pin)}"
  - base.save: [login, {body: {session: abc-session-1, other: visible-value}}]
  - base.verbose: "\${login.body.session}"
  - base.verbose: "\${login.body.other}"
  - base.assertEqual: [abc-session-1, "\${login.body.session}"]
`);
    expect(output).toEqual(['••••', '••••', '••••', 'visible-value']);
    expect(steps.every(({ state }) => state === 'passed')).toBe(true);
    expect(everything).not.toContain('value-of-the-pin');
  });

  it('unmask shows a member of a response in spite of its name', async () => {
    const text = (unmask: string) => `
${unmask}
steps:
  - json.storeValue: ['{"body": {"password": "not-a-secret"}, "password": "a-real-secret"}', "$", x]
  - base.verbose: "\${x.body.password}"
  - base.verbose: "\${x.password}"
`;
    expect((await runText(text(''))).output).toEqual(['••••', '••••']);
    expect((await runText(text('unmask: [body.body]'))).output).toEqual(['not-a-secret', '••••']);
  });
});
