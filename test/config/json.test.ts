import { describe, expect, it } from 'vitest';
import { readJson } from '../../src/config/json.ts';
import { RawScalar } from '../../src/config/value.ts';
import { failureOf } from '../support/resolving.ts';

describe('a JSON file', () => {
  it('holds variables, nested or dotted', () => {
    const text =
      '{"graph": {"type": "microsoft", "options": {"timeout": "5s"}}, "mail.type": "google", "list": [1, {"a": 2}]}';
    expect(readJson(text, 'f.json')).toEqual([
      { name: 'graph.type', value: 'microsoft' },
      { name: 'graph.options.timeout', value: '5s' },
      { name: 'mail.type', value: 'google' },
      { name: 'list', value: [1, { a: 2 }] },
    ]);
  });

  it('keeps scalars as they are written', () => {
    const text = '{"a": 1.0, "b": 1234567890123456789, "c": 1e3, "d": true, "e": null, "f": [1000000000000000000]}';
    expect(readJson(text, 'f.json').map(({ value }) => value)).toEqual([
      new RawScalar('1.0', 1),
      new RawScalar('1234567890123456789', Number('1234567890123456789')),
      new RawScalar('1e3', 1000),
      true,
      null,
      [new RawScalar('1000000000000000000', 1e18)],
    ]);
  });

  it('may begin with a byte order mark and end with blanks', () => {
    expect(readJson('\ufeff{"a": "b"}\r\n', 'f.json')).toEqual([{ name: 'a', value: 'b' }]);
  });

  it('keeps odd names as they are', () => {
    const text = '{"__proto__": {"x": 1}, "constructor": {"prototype": 2}, "\\u0000": {"\\u0000": "3"}}';
    expect(readJson(text, 'f.json').map(({ name, value }) => [name, value])).toEqual([
      ['__proto__.x', 1],
      ['constructor.prototype', 2],
      ['\0.\0', '3'],
    ]);
    expect(Object.prototype).not.toHaveProperty('x');
  });

  it.each(['[]', '"text"', '7', 'null', 'true', '[{"a": 1}]'])('that is only %s holds no variables', (text) => {
    expect(failureOf(() => readJson(text, 'f.json'))).toMatchObject({
      code: 'data_invalid',
      message: 'f.json: holds no map of variables',
      hint: 'write {"profile": {"type": "…"}}',
    });
  });

  it('is refused where it defines a name twice', () => {
    expect(failureOf(() => readJson('{"a.b": 1, "a": {"b": 2}}', 'f.json')).message).toBe(
      'f.json: a.b is defined twice',
    );
    expect(failureOf(() => readJson('{"a": 1, "a": 2}', 'f.json')).message).toBe('f.json:1:10: a is defined twice');
  });

  it('is refused with the place of its fault', () => {
    expect(failureOf(() => readJson('{\n  "a": hunter2\n}', 'conf/f.json')).message).toBe(
      'conf/f.json:2:8: is not valid JSON',
    );
  });
});
