import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeReferences, hasReference, parsePath, parseTemplate } from '../../src/config/reference.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyString } from '../support/any-string.ts';

/** The single reference of a text. */
function only(text: string) {
  const template = parseTemplate(text);
  expect(template).toHaveLength(1);
  const [reference] = template;
  if (typeof reference !== 'object') throw new TypeError(`${text} is no reference`);
  return reference;
}

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a reference', () => {
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
  ])('%s names a variable and what is in it', (text, names, members) => {
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
  ])('%s reaches outside', (text, kind, name) => {
    expect(only(text)).toMatchObject({ kind, names: [name], members: [] });
  });

  it.each([
    ['${a:-}', []],
    ['${a:-b}', ['b']],
    ['${a.b[0]:-x y}', ['x y']],
    ['${env:A:-$1:-2}', ['$1:-2']],
    ['${file:x:-{}', ['{']],
    ['${a:-$${b}', ['${b']],
  ])('%s has a default', (text, fallback) => {
    expect(only(text).fallback).toEqual(fallback);
  });

  it('has references in its default', () => {
    expect(only('${a:-x ${b:-${env:C}} y}').fallback).toEqual([
      'x ',
      expect.objectContaining({
        text: 'b',
        fallback: [expect.objectContaining({ kind: 'env', text: 'env:C', names: ['C'] })],
      }),
      ' y',
    ]);
  });

  it('stands among other text', () => {
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
  ])('%s is none', (text, literal) => {
    expect(parseTemplate(text)).toEqual([literal]);
  });

  it('is none in an empty text', () => {
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
  ])('%s is an error that says where', (text) => {
    const error = errorOf(() => parseTemplate(text)) as OAuthProfileError;
    expect(error).toBeInstanceOf(OAuthProfileError);
    expect(error.code).toBe('data_invalid');
    expect(error.message).toMatch(/^the reference at character \d+ /);
    expect(error.hint).toBe(
      'write ${name}, ${name.member[0]}, ${env:NAME} or ${file:path}; a literal ${ is written $${',
    );
  });

  it.each([
    ['x ${a', 3, 'is not closed or not well-formed'],
    ['${a b}', 1, 'is not closed or not well-formed'],
    ['${a..b}', 5, 'lacks a name'],
    ['${}', 3, 'lacks a name'],
    ['${env:}', 7, 'names nothing'],
    ['${file:${dir}/x}', 8, 'has a reference inside its name'],
    ['${a[b]}', 5, 'has a bracket that holds neither a number nor a quoted name'],
    ['${a["\\x"]}', 10, 'has a quoted name with a wrong escape'],
    ['${a:-'.repeat(17), 81, 'is nested too deeply'],
    [`\${a${'.a'.repeat(64)}}`, 132, 'has more than 64 parts'],
    [`\${a${'[0]'.repeat(64)}}`, 196, 'has more than 64 parts'],
  ])('%s: at character %i it %s', (text, character, problem) => {
    const error = errorOf(() => parseTemplate(text));
    expect(error).toMatchObject({
      message: `the reference at character ${character} ${problem}`,
      problem,
      offset: character - 1,
    });
  });

  it('may have 64 parts, and follow another that is as deep as can be', () => {
    expect(parseTemplate(`\${a${'.a'.repeat(63)}}`)).toHaveLength(1);
    const deep = `${'${a:-'.repeat(16)}${'}'.repeat(16)}`;
    expect(parseTemplate(deep + deep)).toHaveLength(2);
  });

  it('does not quote the text around it, which may be a secret', () => {
    const error = errorOf(() => parseTemplate('hunter2 ${hunter2 hunter2')) as OAuthProfileError;
    expect(`${error.message} ${error.hint}`).not.toContain('hunter2');
  });

  it('is not nested or long without end', () => {
    expect(errorOf(() => parseTemplate(`${'${a:-'.repeat(50_000)}`))).toBeInstanceOf(OAuthProfileError);
    expect(errorOf(() => parseTemplate(`\${a${'.a'.repeat(50_000)}}`))).toBeInstanceOf(OAuthProfileError);
    expect(errorOf(() => parseTemplate(`\${a${'[0]'.repeat(50_000)}}`))).toBeInstanceOf(OAuthProfileError);
    expect(parseTemplate(`${'${a:-'.repeat(16)}${'}'.repeat(16)}`)).toHaveLength(1);
  });
});

describe('any text', () => {
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

  it('comes back unchanged after escaping its references', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseTemplate(escapeReferences(text)).join('')).toBe(text);
        expect(parseTemplate(escapeReferences(text)).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 1000 },
    );
  });

  it('is read, or refused with an error of our own', () => {
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

  it('without ${ has nothing to be read', () => {
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
  ])('of many %s is read all the same', (part, times) => {
    expect(parseTemplate(part.repeat(times)).length).toBeGreaterThan(0);
  });

  it.each(['${a["', "${a['", '${env:', '${file:', '${a:-'])('of %s and many letters is refused', (start) => {
    expect(errorOf(() => parseTemplate(start + 'x'.repeat(200_000)))).toBeInstanceOf(OAuthProfileError);
    expect(errorOf(() => parseTemplate(start + '\\"'.repeat(100_000)))).toBeInstanceOf(OAuthProfileError);
  });
});

describe('a path', () => {
  it.each([
    ['access_token', ['access_token']],
    ['data.token', ['data', 'token']],
    ['data.tokens[0].value', ['data', 'tokens', 0, 'value']],
    ['data["odd key"]', ['data', 'odd key']],
  ])('%s is read', (text, steps) => {
    expect(parsePath(text)).toEqual(steps);
  });

  it.each(['', '.', 'a.', '.a', 'a[', 'a b', 'a:-b', '${a}', 'a}', 'a[0]b', '[0]'])('%j is refused', (text) => {
    expect(errorOf(() => parsePath(text))).toBeInstanceOf(OAuthProfileError);
  });

  it('that goes on in another way is named as such', () => {
    expect(errorOf(() => parsePath('a b'))).toMatchObject({ message: 'the reference at character 2 is not a path' });
  });
});
