import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RedactedStream, Redactor } from '../../src/redaction/redactor.ts';
import { MASK, Secret } from '../../src/redaction/secret.ts';
import { anyString } from '../support/arbitraries.ts';
import { awkwardSecrets, encodings, encodingsBeforeBase64, toBase64 } from '../support/leaks.ts';

function createRedactor(...values: string[]): Redactor {
  const redactor = new Redactor();
  for (const value of values) redactor.add(new Secret(value));
  return redactor;
}

/** The output of a stream that receives these chunks. */
function redactChunks(redactor: Redactor, chunks: Iterable<string>): string {
  let out = '';
  const stream = new RedactedStream(redactor, (text) => {
    out += text;
  });
  for (const chunk of chunks) stream.push(chunk);
  stream.flush();
  return out;
}

/** The positions at which splitting `text` into two chunks gives something else than `expected`. */
function wrongSplits(redactor: Redactor, text: string, expected: string): number[] {
  const wrong: number[] = [];
  for (let at = 0; at <= text.length; at++) {
    if (redactChunks(redactor, [text.slice(0, at), text.slice(at)]) !== expected) wrong.push(at);
  }
  return wrong;
}

describe.each(Object.entries(awkwardSecrets))('a secret of %s', (_, secret) => {
  const redactor = createRedactor(secret);

  it.each(Object.entries(encodings))('is masked %s, in one chunk, in any two and in single characters', (_, encode) => {
    const text = `«${encode(secret)}»`;
    expect(redactor.redact(text)).toBe(`«${MASK}»`);
    expect(wrongSplits(redactor, text, `«${MASK}»`)).toEqual([]);
    // UTF-16 code units, not characters: a stream may split a surrogate pair.
    expect(redactChunks(redactor, text.split(''))).toBe(`«${MASK}»`);
  });

  describe.each(Object.entries(encodingsBeforeBase64))('%s', (_, encode) => {
    it.each(['base64', 'base64url'] as const)('is masked in %s at every alignment', (alphabet) => {
      for (const before of ['', 'x', 'id', 'id:', 'user', 'user:']) {
        for (const after of ['', 'x', ':y', '}}}']) {
          const { whole, part } = toBase64(before, encode(secret), after, alphabet);
          const expected = `Basic ${whole.replace(part, MASK)},`;
          expect(expected).not.toContain(part);
          expect(redactor.redact(`Basic ${whole},`)).toBe(expected);
        }
      }
    });

    it('is masked in base64 that is split into chunks', () => {
      for (const before of ['', 'x', 'id']) {
        const { whole, part } = toBase64(before, encode(secret), ':y', 'base64');
        const expected = `<${whole.replace(part, MASK)}>`;
        expect(wrongSplits(redactor, `<${whole}>`, expected)).toEqual([]);
        expect(redactChunks(redactor, `<${whole}>`.split(''))).toBe(expected);
      }
    });
  });

  it('is masked without the whitespace around it', () => {
    const padded = createRedactor(` \t${secret}\r\n`);
    for (const encode of Object.values(encodings)) {
      expect(padded.redact(`<${encode(secret.trim())}>`)).toBe(`<${MASK}>`);
    }
    const { whole, part } = toBase64('id:', secret.trim(), '', 'base64');
    expect(padded.redact(whole)).toBe(whole.replace(part, MASK));
  });

  it('is masked each time it occurs', () => {
    expect(redactor.redact(`${secret} ${encodeURIComponent(secret)}${secret}`)).toBe(`${MASK} ${MASK}${MASK}`);
  });

  it('is not found in a part of itself', () => {
    const trimmed = secret.trim();
    for (const part of [trimmed.slice(0, -1), trimmed.slice(1)]) {
      expect(redactor.redact(`«${part}»`)).toBe(`«${part}»`);
      expect(redactChunks(redactor, part.split(''))).toBe(part);
    }
  });
});

describe('a redactor', () => {
  it('does not search for values shorter than 8 characters', () => {
    const redactor = createRedactor('', 'a', 'abc', '1234567');
    const text = 'abc 1234567 YWJj 61626331323334353637';
    expect(redactor.redact(text)).toBe(text);
    expect(redactChunks(redactor, text.split(''))).toBe(text);
  });

  it('does not search for a value that is shorter than 8 characters without its line ends', () => {
    expect(createRedactor('a\n\n\n\n\n\n\nb').redact('a b')).toBe('a b');
  });

  it('masks a value of 8 characters', () => {
    expect(createRedactor('12345678').redact('x12345678x')).toBe(`x${MASK}x`);
  });

  it('masks a secret that is added between two chunks', () => {
    const redactor = createRedactor('first-secret');
    let out = '';
    const stream = new RedactedStream(redactor, (text) => {
      out += text;
    });
    stream.push('a first-');
    redactor.add(new Secret('second-secret'));
    stream.push('second-');
    stream.push('secret b');
    stream.flush();
    expect(out).toBe(`a first-${MASK} b`);
  });

  it('does not mask a secret that was not added', () => {
    expect(createRedactor('another secret').redact('never added')).toBe('never added');
    expect(new Redactor().redact('never added')).toBe('never added');
  });

  it('masks the longer of two secrets with a common prefix', () => {
    const redactor = createRedactor('abcdefgh', 'abcdefghijklmnop', 'abcdefghijkl');
    expect(wrongSplits(redactor, '<abcdefghijklmnop>', `<${MASK}>`)).toEqual([]);
  });

  it('masks the shorter of two secrets with a common prefix if the longer one does not follow', () => {
    const redactor = createRedactor('abcdefgh', 'abcdefghijklmnop');
    expect(wrongSplits(redactor, '<abcdefghijkl>', `<${MASK}ijkl>`)).toEqual([]);
  });

  it('masks a secret that contains another one', () => {
    const redactor = createRedactor('bcdefghi', 'abcdefghij', 'Bearer abcdefghij');
    expect(wrongSplits(redactor, '<Bearer abcdefghij> bcdefghi', `<${MASK}> ${MASK}`)).toEqual([]);
  });

  it('masks adjacent secrets separately', () => {
    const redactor = createRedactor('abcdefgh', 'ijklmnop');
    expect(wrongSplits(redactor, 'abcdefghijklmnop', MASK + MASK)).toEqual([]);
  });

  it('masks overlapping secrets as one', () => {
    const redactor = createRedactor('abcdefgh', 'efghijkl', 'cdefghij');
    expect(wrongSplits(redactor, '<abcdefghijkl>', `<${MASK}>`)).toEqual([]);
    expect(createRedactor('abcdefgh', 'efghijkl').redact('abcdefghijk efghijkl')).toBe(`${MASK}ijk ${MASK}`);
  });

  it('masks a secret that overlaps with itself', () => {
    const redactor = createRedactor('abcdabcdabcd');
    const text = '<abcdabcdabcdabcdabcd>abcdabcdabc';
    expect(wrongSplits(redactor, text, `<${MASK}>abcdabcdabc`)).toEqual([]);
  });

  it('masks overlapping secrets in different encodings', () => {
    const redactor = createRedactor('secret/one', 'one and the other');
    expect(redactor.redact('secret%2Fone+and+the+other!')).toBe(`${MASK}!`);
  });

  it('masks a secret that contains the mask', () => {
    const redactor = createRedactor(`abc${MASK}def`, MASK + MASK, 'abcdefgh');
    expect(wrongSplits(redactor, `<abc${MASK}def> <${MASK}> <abcdefgh>`, `<${MASK}> <${MASK}> <${MASK}>`)).toEqual([]);
  });

  it('masks a secret of equal characters', () => {
    const redactor = createRedactor('-'.repeat(800));
    const almost = `${'-'.repeat(799)}x`;
    expect(redactor.redact(almost.repeat(10))).toBe(almost.repeat(10));
    expect(redactor.redact('-'.repeat(8000))).toBe(MASK);
  });

  it('masks a secret whose characters are also parts of escapes', () => {
    expect(createRedactor('secret&secret&').redact('secret&amp;secret&amp;')).toBe(MASK);
    expect(createRedactor('\\\\\\\\\\\\\\\\').redact('\\'.repeat(16))).toBe(MASK);
    expect(wrongSplits(createRedactor('100%safe&sound%'), '100%25safe%26sound%25!', `${MASK}!`)).toEqual([]);
  });

  it('masks a lone surrogate, in plaintext and in JSON', () => {
    const secret = 'broken \ud83d secret';
    expect(createRedactor(secret).redact(`<${secret}>`)).toBe(`<${MASK}>`);
    expect(createRedactor(secret).redact(JSON.stringify(secret))).toBe(`"${MASK}"`);
  });

  it('masks a secret of several lines that is printed on one line', () => {
    const redactor = createRedactor('line one\nline two\nline three');
    expect(redactor.redact('>line one line two line three<')).toBe(`>${MASK}<`);
  });

  it('finds all of many secrets', () => {
    const values = Array.from({ length: 300 }, (_, index) => `secret number ${index};`);
    const redactor = createRedactor(...values);
    expect(redactor.redact(values.join('\n'))).toBe(values.map(() => MASK).join('\n'));
  });
});

describe('a redacted stream', () => {
  const written = (steps: (stream: RedactedStream) => void, ...values: string[]): string[] => {
    const out: string[] = [];
    steps(new RedactedStream(createRedactor(...values), (text) => out.push(text)));
    return out;
  };

  it('writes at once what cannot be the beginning of a secret', () => {
    expect(written((stream) => stream.push('a line\n'), 'secret-value')).toEqual(['a line\n']);
  });

  it.each(['s', 'se', 'sec', 'secr', 'secret-valu'])('holds back only the beginning of a secret: %s', (start) => {
    expect(written((stream) => stream.push(`a line and ${start}`), 'secret-value')).toEqual(['a line and ']);
  });

  it('writes what it held back once a secret no longer matches', () => {
    const steps = (stream: RedactedStream) => {
      stream.push('secret-v');
      stream.push('iew\n');
    };
    expect(written(steps, 'secret-value')).toEqual(['secret-view\n']);
  });

  it('writes a short line end before another stream continues, and hides the rest if a secret follows', () => {
    const ending = (rest: string) => (stream: RedactedStream) => {
      stream.push('the profile\n');
      stream.endLine();
      stream.endLine();
      stream.push(rest);
      stream.flush();
    };
    expect(written(ending('and so on\n'), 'e\nxq8Q~secret')).toEqual(['the profil', 'e\n', 'and so on\n']);
    expect(written(ending('xq8Q~secret, and more\n'), 'e\nxq8Q~secret').join('')).toBe('the profile\n, and more\n');
  });

  it.each([
    ['is not a line end', 'a line and secr'],
    ['is as long as a secret', 'a line and secret-\n'],
  ])('does not write a held-back end that %s', (_, text) => {
    const steps = (stream: RedactedStream) => {
      stream.push(text);
      stream.endLine();
    };
    expect(written(steps, 'secret-value', 'secret-\nvalue')).toEqual(['a line and ']);
  });

  it('never writes an empty string', () => {
    const steps = (stream: RedactedStream) => {
      stream.push('');
      stream.push('secr');
      stream.push('');
      stream.flush();
      stream.flush();
    };
    expect(written(steps, 'secret-value')).toEqual(['secr']);
  });

  it('writes plaintext on request, after what it held back', () => {
    const steps = (stream: RedactedStream) => {
      stream.push('token: secr');
      stream.pushClear('secret-value\n');
      stream.push('secret-value\n');
    };
    expect(written(steps, 'secret-value').join('')).toBe(`token: secrsecret-value\n${MASK}\n`);
  });
});

describe('for any output,', () => {
  /** Splits a string at any positions, also within surrogate pairs. */
  const split = (text: string, positions: readonly number[]): string[] => {
    const points = [0, ...positions.map((at) => at % (text.length + 1)).sort((a, b) => a - b), text.length];
    return points.slice(1).map((end, index) => text.slice(points[index], end));
  };
  const positions = fc.array(fc.nat(), { maxLength: 5 });
  const syntax = fc.constantFrom('\\', '"', "'", '%', '&', 'a', '2', '5', ';', '+', ' ', '\n');
  const anyText = fc.oneof(anyString(0, 20), fc.string({ unit: syntax, maxLength: 20 }));
  const anySecret = fc
    .oneof(
      anyString(8, 40),
      fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 }),
      fc.string({ unit: syntax, minLength: 8 }),
    )
    // The output contains the mask itself.
    .filter((secret) => !secret.includes('•'));

  it('a secret is masked in every encoding, whatever is around it and wherever it is split', () => {
    fc.assert(
      fc.property(
        anySecret,
        fc.constantFrom(...Object.values(encodings)),
        anyText,
        anyText,
        positions,
        (secret, encode, before, after, at) => {
          const redactor = createRedactor(secret);
          const encoded = encode(secret);
          const text = before + encoded + after;
          expect(redactor.redact(text)).not.toContain(encoded);
          expect(redactChunks(redactor, split(text, at))).not.toContain(encoded);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('a secret is masked in base64, whatever is around it and wherever it is split', () => {
    fc.assert(
      fc.property(
        anySecret,
        fc.constantFrom(...Object.values(encodingsBeforeBase64)),
        fc.constantFrom('base64' as const, 'base64url' as const),
        anyText,
        anyText,
        positions,
        (secret, encode, alphabet, before, after, at) => {
          const redactor = createRedactor(secret);
          const { whole, part } = toBase64(before, encode(secret), after, alphabet);
          expect(redactor.redact(whole)).not.toContain(part);
          expect(redactChunks(redactor, split(whole, at))).not.toContain(part);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('chunks make no difference', () => {
    fc.assert(
      fc.property(
        fc.array(anySecret, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...Object.values(encodings)),
        anyText,
        positions,
        (secrets, encode, text, at) => {
          const redactor = createRedactor(...secrets);
          const parts = secrets.map((secret) => encode(secret) + secret.slice(0, 7) + encode(secret).slice(0, 9));
          const whole = text + parts.join('') + text;
          expect(redactChunks(redactor, split(whole, at))).toBe(redactor.redact(whole));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('text without a secret is unchanged', () => {
    const redactor = createRedactor('one of the secrets', '{"another": "\\one"}', '%20%20%20%20%20%20');
    fc.assert(
      fc.property(anyString(0, 200), positions, (text, at) => {
        expect(redactor.redact(text)).toBe(text);
        expect(redactChunks(redactor, split(text, at))).toBe(text);
      }),
    );
  });

  it('exactly the secret is masked, also between its own prefixes', () => {
    const secret = 'abcabcabd';
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'abc', 'abcabc', secret), maxLength: 40 });
    fc.assert(
      fc.property(texts, positions, (text, at) => {
        expect(redactChunks(createRedactor(secret), split(text, at))).toBe(text.replaceAll(secret, MASK));
      }),
    );
  });

  it('plaintext on request stays in its place, unchanged', () => {
    const secret = 'abcabcabd';
    const chunks = fc.array(
      fc.record({
        clear: fc.boolean(),
        text: fc.string({ unit: fc.constantFrom('a', 'b', 'abc', 'abcabc', 'd', secret), maxLength: 5 }),
      }),
    );
    fc.assert(
      fc.property(chunks, (steps) => {
        let out = '';
        let expected = '';
        let waiting = '';
        const stream = new RedactedStream(createRedactor(secret), (text) => {
          out += text;
        });
        for (const { clear, text } of steps) {
          if (clear) {
            stream.pushClear(text);
            expected += waiting.replaceAll(secret, MASK) + text;
            waiting = '';
          } else {
            stream.push(text);
            waiting += text;
          }
        }
        stream.flush();
        expect(out).toBe(expected + waiting.replaceAll(secret, MASK));
      }),
    );
  });
});
