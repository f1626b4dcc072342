import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findStrayCharacters, getClientId, loginCommand, providerName } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { readAcme, samples } from '../support/profiles.ts';

describe('loginCommand()', () => {
  it('contains a plain name unchanged', () => {
    expect(loginCommand('graph')).toBe('oauth-profile login graph');
    expect(loginCommand('acme.prod')).toBe('oauth-profile login acme.prod');
  });

  it('quotes any name for a POSIX shell', () => {
    const odd = fc.string({ unit: fc.constantFrom(...'ab $`\'"\\;&|<>(){}*?!#~-=%'), minLength: 1, maxLength: 12 });
    const names = fc.sample(odd, { numRuns: 40, seed: 7 });
    const line = names.map((name) => loginCommand(name).replace('oauth-profile login', "printf '%s\\0'")).join('\n');
    expect(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(names);
  });
});

describe('getClientId()', () => {
  it('returns basic.user, else client_id, else an empty string', () => {
    expect(getClientId(readAcme({ ...samples.custom, basic: { user: 'u', password: 'p' } }))).toBe('u');
    expect(getClientId(readAcme(samples.custom))).toBe('me');
    expect(getClientId(readAcme(samples.gitlabPassword))).toBe('');
  });
});

describe('providerName()', () => {
  it('returns the type, or the host of a custom profile', () => {
    expect(providerName(readAcme(samples.google))).toBe('google');
    expect(providerName(readAcme({ ...samples.custom, url: 'https://id.example.com:8443/t' }))).toBe(
      'id.example.com:8443',
    );
  });
});

describe('findStrayCharacters()', () => {
  const find = (value: string, name = 'client_secret') => {
    const plain = findStrayCharacters({ name, value, source: '' });
    expect(findStrayCharacters({ name, value: new Secret(value), source: '' })).toBe(plain);
    return plain;
  };

  it.each(['x\n', 'x\r\n', ' x\n', 'x\n ', '"x"\n'])('finds the line break at the end of %j', (value) => {
    expect(find(value)).toContain('line break');
    expect(find(value, 'other')).toContain('line break');
  });

  it.each([' x', 'x ', '\tx', 'x\t', '\nx', '\ufeffx', 'x\u00a0', ' '])('finds the whitespace around %j', (value) => {
    expect(find(value)).toContain('whitespace');
  });

  it.each(['"x"', "'x'", '“x”', '“xyz”', '""', '"x\ny"'])('finds the quotes around %j', (value) => {
    expect(find(value)).toContain('quotes');
  });

  it.each([...['client_id', 'client_secret', 'username', 'password', 'refresh_token', 'basic.user', 'basic.password']])(
    'finds a line break inside %s',
    (name) => {
      expect(find('a\nb', name)).toContain('line break');
      expect(find('a\rb', name)).toContain('line break');
    },
  );

  it('accepts a line break inside other fields, such as JSON or PEM', () => {
    expect(find('{"a":\n1}', 'claims')).toBeUndefined();
  });

  it.each(['', 'x', 'a b', '"x', "x'", '"', 'a"b"c', '\'x"', 'x"y"', '"x"y'])('accepts %j', (value) => {
    expect(find(value)).toBeUndefined();
  });

  it('accepts any value without whitespace and quotes, and never repeats the value', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const problem = find(value);
        if (/^[^\s"'“]+$/.test(value)) expect(problem).toBeUndefined();
        if (value.length > 4 && value.trim() !== value) expect(problem).not.toContain(value);
      }),
    );
  });
});
