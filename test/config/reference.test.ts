import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeReferences, hasReference, parsePath, parseTemplate, type Template } from '../../src/config/reference.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyString } from '../support/arbitraries.ts';

/** Returns the single reference of a string. */
function only(text: string) {
  const template = parseTemplate(text);
  expect(template).toHaveLength(1);
  const [reference] = template;
  if (typeof reference !== 'object') throw new TypeError(`${text} is not a reference`);
  return reference;
}

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('A reference', () => {
  it.each([
    ['${name}', ['name'], []],
    ['${graph.client_id}', ['graph', 'client_id'], []],
    ['${list[0]}', ['list'], [0]],
    ['${list[123456789]}', ['list'], [123456789]],
    ['${name.path[0].member}', ['name', 'path'], [0, 'member']],
    ['${name["odd key"]}', ['name'], ['odd key']],
    ["${name['odd key']}", ['name'], ['odd key']],
    ['${name["a\\"b\\u0041"]}', ['name'], ['a"bA']],
    ["${name['a\"b']}", ['name'], ['a"b']],
    ['${name["]}"].x}', ['name'], [']}', 'x']],
    ['${name[""]}', ['name'], ['']],
    ['${a[1][2]}', ['a'], [1, 2]],
    ['${a-b_c/d$e}', ['a-b_c/d$e'], []],
    ['${größe.漢字}', ['größe', '漢字'], []],
    ['${__proto__.constructor}', ['__proto__', 'constructor'], []],
    ['${environment}', ['environment'], []],
    ['${filex.y}', ['filex', 'y'], []],
  ])('names a variable and its members: %s', (text, names, members) => {
    expect(only(text)).toEqual({
      kind: 'variable',
      text: text.slice(2, -1),
      names,
      members,
      fallback: undefined,
    });
  });

  it.each([
    ['${env:HOME}', 'env', 'HOME'],
    ['${env:a.b[0]}', 'env', 'a.b[0]'],
    ['${file:path/to a file.txt}', 'file', 'path/to a file.txt'],
    ['${file:C:\\keys\\a.pem}', 'file', 'C:\\keys\\a.pem'],
    ['${file:~/x}', 'file', '~/x'],
  ])('names an environment variable or a file: %s', (text, kind, name) => {
    expect(only(text)).toMatchObject({ kind, names: [name], members: [] });
  });

  it.each([
    ['${a:-}', []],
    ['${a:-b}', ['b']],
    ['${a.b[0]:-x y}', ['x y']],
    ['${env:A:-$1:-2}', ['$1:-2']],
    ['${file:x:-{}', ['{']],
    ['${a:-$${b}', ['${b']],
  ])('may have a default: %s', (text, fallback) => {
    expect(only(text).fallback).toEqual(fallback);
  });

  it('may have references in its default', () => {
    expect(only('${a:-x ${b:-${env:C}} y}').fallback).toEqual([
      'x ',
      expect.objectContaining({
        text: 'b',
        fallback: [expect.objectContaining({ kind: 'env', text: 'env:C', names: ['C'] })],
      }),
      ' y',
    ]);
  });

  it('may be a part of a string', () => {
    expect(parseTemplate('a ${b}${c} d}')).toEqual([
      'a ',
      expect.objectContaining({ text: 'b' }),
      expect.objectContaining({ text: 'c' }),
      ' d}',
    ]);
  });

  it.each([
    ['$${a}', '${a}'],
    ['$$${a}', '$${a}'],
    ['a $${b} c $${d}', 'a ${b} c ${d}'],
    ['$', '$'],
    ['$$', '$$'],
    ['$a {b} $ {c}', '$a {b} $ {c}'],
    ['}', '}'],
  ])('is not in the string %s', (text, literal) => {
    expect(parseTemplate(text)).toEqual([literal]);
  });

  it('is not in an empty string', () => {
    expect(parseTemplate('')).toEqual([]);
  });

  it.each([
    '${',
    '${}',
    '${a',
    '${a.',
    '${a.}',
    '${.a}',
    '${a..b}',
    '${ a}',
    '${a }',
    '${a b}',
    '${a[}',
    '${a[]}',
    '${a[b]}',
    '${a[-1]}',
    '${a[1.5]}',
    '${a[1}',
    '${a["b}',
    '${a["\\x"]}',
    '${a["b"}',
    '${a[0]b}',
    '${a:b}',
    '${a:}',
    '${a:-',
    '${a:-${b}',
    '${a{b}}',
    '${a"b"}',
    '${env:}',
    '${env::-x',
    '${file:}',
    '${env:${a}}',
    '${file:${dir}/x}',
    'text ${a:-${}}',
  ])('is an error with a position if it is invalid: %s', (text) => {
    const error = errorOf(() => parseTemplate(text)) as OAuthProfileError;
    expect(error).toBeInstanceOf(OAuthProfileError);
    expect(error.code).toBe('data_invalid');
    expect(error.message).toMatch(/^the reference at character \d+ /);
  });

  it.each([
    ['x ${a', 3, 'is not closed or not well-formed'],
    ['${a b}', 1, 'is not closed or not well-formed'],
    ['${a..b}', 5, 'has no name'],
    ['${}', 3, 'has no name'],
    ['x ${ENV:S}', 5, 'must have env: or file: in lower case'],
    ['${fIle:x.txt}', 3, 'must have env: or file: in lower case'],
    ['${env:}', 7, 'has no name'],
    ['${file:${dir}/x}', 8, 'has a reference inside its name'],
    ['${a[b]}', 5, 'has brackets with neither a number nor a quoted name'],
    ['${a["\\x"]}', 10, 'has an invalid escape in a quoted name'],
    ['${a:-'.repeat(17), 81, 'has too many nested defaults'],
    [`\${a${'.a'.repeat(64)}}`, 132, 'has more than 64 parts'],
    [`\${a${'[0]'.repeat(64)}}`, 196, 'has more than 64 parts'],
  ])('is an error at its position: %s, character %i, %s', (text, character, problem) => {
    const error = errorOf(() => parseTemplate(text));
    expect(error).toMatchObject({
      message: `the reference at character ${character} ${problem}`,
      problem,
      offset: character - 1,
    });
  });

  it('may have 64 parts, and 16 nested defaults after another', () => {
    expect(parseTemplate(`\${a${'.a'.repeat(63)}}`)).toHaveLength(1);
    const deep = `${'${a:-'.repeat(16)}${'}'.repeat(16)}`;
    expect(parseTemplate(deep + deep)).toHaveLength(2);
  });

  it('does not quote the string in an error', () => {
    const error = errorOf(() => parseTemplate('hunter2 ${hunter2 hunter2')) as OAuthProfileError;
    expect(`${error.message} ${error.hint}`).not.toContain('hunter2');
  });

  it('cannot be nested or long without limit', () => {
    expect(errorOf(() => parseTemplate(`${'${a:-'.repeat(50_000)}`))).toBeInstanceOf(OAuthProfileError);
    expect(errorOf(() => parseTemplate(`\${a${'.a'.repeat(50_000)}}`))).toBeInstanceOf(OAuthProfileError);
    expect(errorOf(() => parseTemplate(`\${a${'[0]'.repeat(50_000)}}`))).toBeInstanceOf(OAuthProfileError);
    expect(parseTemplate(`${'${a:-'.repeat(16)}${'}'.repeat(16)}`)).toHaveLength(1);
  });
});

describe('Any template', () => {
  const name = fc.stringMatching(/^[^.[\]{}():,"'\s]{1,5}$/u).filter((one) => one !== 'env' && one !== 'file');
  const member = fc.oneof(fc.nat(999_999_999), anyString(0, 5));
  const template = fc.letrec<{ reference: string; template: string }>((tie) => ({
    reference: fc
      .tuple(
        fc.oneof(
          fc
            .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), fc.array(member, { maxLength: 2 }))
            .map(([names, members]) => names.join('.') + members.map((one) => `[${JSON.stringify(one)}]`).join('')),
          fc.constantFrom('env:NAME', 'file:path/to file.txt'),
        ),
        fc.option(tie('template'), { nil: undefined, depthIdentifier: 'default', maxDepth: 3 }),
      )
      .map(([path, fallback]) => `\${${path}${fallback === undefined ? '' : `:-${fallback}`}}`),
    template: fc
      .array(fc.oneof(tie('reference'), fc.stringMatching(/^[a-z ]{0,4}$/)), { maxLength: 3 })
      .map((parts) => parts.join('')),
  })).template;

  const write = (parts: Template): string =>
    parts
      .map((part) => {
        if (typeof part === 'string') return escapeReferences(part);
        const { kind, names, members, fallback } = part;
        const path = `${kind === 'variable' ? '' : `${kind}:`}${names.join('.')}`;
        const brackets = members.map((one) => `[${JSON.stringify(one)}]`).join('');
        return `\${${path}${brackets}${fallback === undefined ? '' : `:-${write(fallback)}`}}`;
      })
      .join('');

  it('is parsed into the parts that it was written from', () => {
    fc.assert(
      fc.property(template, (text) => {
        expect(write(parseTemplate(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('Any string', () => {
  const texts = fc.oneof(
    anyString(0, 60),
    fc.string({
      unit: fc.constantFrom(
        '$',
        '{',
        '}',
        '${',
        '$${',
        ':-',
        'env:',
        'file:',
        '.',
        '[0]',
        '["',
        '"]',
        "'",
        '\\',
        'a',
        ' ',
      ),
      maxLength: 40,
    }),
  );

  it('is unchanged when it is escaped and parsed', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseTemplate(escapeReferences(text)).join('')).toBe(text);
        expect(parseTemplate(escapeReferences(text)).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 1000 },
    );
  });

  it('is parsed, or rejected with an OAuthProfileError', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const error = errorOf(() => parseTemplate(text));
        if (error !== undefined) expect(error).toBeInstanceOf(OAuthProfileError);
        const wrong = errorOf(() => parsePath(text));
        if (wrong !== undefined) expect(wrong).toBeInstanceOf(OAuthProfileError);
      }),
      { numRuns: 1000 },
    );
  });

  it('without ${ is a literal', () => {
    fc.assert(
      fc.property(texts, (text) => {
        if (!hasReference(text)) expect(parseTemplate(text).join('')).toBe(text);
      }),
    );
  });

  it.each([
    ['$', 200_000],
    ['${a}', 20_000],
    ['$${', 100_000],
    ['${a:-}', 30_000],
    ['${a["\\u0041"]}', 20_000],
  ])('is parsed if it contains many %s', (part, times) => {
    expect(parseTemplate(part.repeat(times)).length).toBeGreaterThan(0);
  });

  it.each(['${a["', "${a['", '${env:', '${file:', '${a:-'])('is rejected if it is %s and many characters', (start) => {
    expect(errorOf(() => parseTemplate(start + 'x'.repeat(200_000)))).toBeInstanceOf(OAuthProfileError);
    expect(errorOf(() => parseTemplate(start + '\\"'.repeat(100_000)))).toBeInstanceOf(OAuthProfileError);
  });
});

describe('A path', () => {
  it.each([
    ['access_token', ['access_token']],
    ['data.token', ['data', 'token']],
    ['data.tokens[0].value', ['data', 'tokens', 0, 'value']],
    ['data["odd key"]', ['data', 'odd key']],
  ])('is parsed: %s', (text, steps) => {
    expect(parsePath(text)).toEqual(steps);
  });

  it.each(['', '.', 'a.', '.a', 'a[', 'a b', 'a:-b', '${a}', 'a}', 'a[0]b', '[0]'])('is rejected: %j', (text) => {
    expect(errorOf(() => parsePath(text))).toBeInstanceOf(OAuthProfileError);
  });

  it('is rejected if other characters follow', () => {
    expect(errorOf(() => parsePath('a b'))).toMatchObject({ message: 'the reference at character 2 is not a path' });
  });
});
