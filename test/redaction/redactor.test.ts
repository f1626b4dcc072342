import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RedactedStream, Redactor } from '../../src/redaction/redactor.ts';
import { MASK, Secret } from '../../src/redaction/secret.ts';
import { anyString } from '../support/any-string.ts';
import { awkwardSecrets, encodedBeforeBase64, escapings, toBase64, wrapped } from '../support/encodings.ts';

const secrets = Object.entries(awkwardSecrets);

function redactorOf(...values: string[]): Redactor {
  const redactor = new Redactor();
  for (const value of values) redactor.add(new Secret(value));
  return redactor;
}

/** What comes out when the pieces go in one after the other. */
function streamed(redactor: Redactor, pieces: Iterable<string>): string {
  let out = '';
  const stream = new RedactedStream(redactor, (text) => {
    out += text;
  });
  for (const piece of pieces) stream.push(piece);
  stream.flush();
  return out;
}

/** The splits of a text into two pieces that gave something else than expected. */
function wrongSplits(redactor: Redactor, text: string, expected: string): number[] {
  const wrong: number[] = [];
  // Of long texts not all, but with a step that meets every place of every escape.
  for (let at = 0; at <= text.length; at += text.length > 300 ? 11 : 1) {
    if (streamed(redactor, [text.slice(0, at), text.slice(at)]) !== expected) wrong.push(at);
  }
  return wrong;
}

describe.each(secrets)('a secret of %s', (_, secret) => {
  const redactor = redactorOf(secret);

  it.each(Object.entries(escapings))('is masked %s, in one piece or in any two', (_, encode) => {
    const text = `«${encode(secret)}»`;
    expect(redactor.redact(text)).toBe(`«${MASK}»`);
    expect(wrongSplits(redactor, text, `«${MASK}»`)).toEqual([]);
    // UTF-16 units, not characters: a stream may cut a character in half.
    expect(streamed(redactor, text.match(text.length > 300 ? /.{1,7}/gs : /./gs) ?? [])).toBe(`«${MASK}»`);
  });

  describe.each(Object.entries(encodedBeforeBase64))('%s', (_, encode) => {
    it.each(['base64', 'base64url'] as const)('is masked in %s at every alignment', (alphabet) => {
      for (const before of ['', 'x', 'id', 'id:', 'user', 'user:']) {
        for (const after of ['', 'x', ':y', '}}}']) {
          const { whole, core } = toBase64(before, encode(secret), after, alphabet);
          const expected = `Basic ${whole.replace(core, MASK)},`;
          expect(expected).not.toContain(core);
          expect(redactor.redact(`Basic ${whole},`)).toBe(expected);
        }
      }
    });

    it('is masked in base64 that comes in pieces', () => {
      for (const before of ['', 'x', 'id']) {
        const { whole, core } = toBase64(before, encode(secret), ':y', 'base64');
        const expected = `<${whole.replace(core, MASK)}>`;
        expect(wrongSplits(redactor, `<${whole}>`, expected)).toEqual([]);
        expect(streamed(redactor, `<${whole}>`.split(''))).toBe(expected);
      }
    });

    it.each([
      ['percent-encoded', encodeURIComponent],
      ['percent-encoded twice', (text: string) => encodeURIComponent(encodeURIComponent(text))],
      ['escaped for JSON with \\/', (text: string) => text.replaceAll('/', '\\/')],
      ['as HTML entities', (text: string) => text.replace(/[+/=]/g, (char) => `&#${char.charCodeAt(0)};`)],
    ])('is masked in base64 that was %s', (_, again) => {
      for (const before of ['', 'x', 'id']) {
        const { whole, core } = toBase64(before, encode(secret), '', 'base64');
        expect(redactor.redact(again(whole))).toBe(again(whole).replace(again(core), () => MASK));
      }
    });
  });

  it.each([
    [76, '\n'],
    [76, '\r\n'],
    [64, '\n'],
    [64, '\r\n'],
    [76, '\\n'],
    [64, '&#10;'],
  ])('is masked in base64 of %i columns with %j between the lines, wherever a line ends', (columns, lineEnd) => {
    for (let room = 0; room < columns; room++) {
      const { whole, core } = toBase64('x'.repeat(room), secret, 'yy', 'base64');
      const text = wrapped(whole, columns, lineEnd);
      const shown = redactor.redact(text);
      expect(shown.replaceAll(lineEnd, '')).toBe(whole.replace(core, MASK));
      if (room === 20) expect(wrongSplits(redactor, text, shown)).toEqual([]);
    }
  });

  it('is masked without the white space around it', () => {
    const padded = redactorOf(` \t${secret}\r\n`);
    for (const encode of [escapings['in clear'], escapings['in hex'], escapings['percent-encoded']]) {
      expect(padded.redact(`<${encode?.(secret.trim())}>`)).toBe(`<${MASK}>`);
    }
    const { whole, core } = toBase64('id:', secret.trim(), '', 'base64');
    expect(padded.redact(whole)).toBe(whole.replace(core, MASK));
  });

  it('is masked each time it appears', () => {
    expect(redactor.redact(`${secret} ${encodeURIComponent(secret)}${secret}`)).toBe(`${MASK} ${MASK}${MASK}`);
  });

  it('is not found in its own beginning or end', () => {
    // Without the white space around it, it is still the secret.
    const bare = secret.trim();
    for (const part of [bare.slice(0, -1), bare.slice(1)]) {
      expect(redactor.redact(`«${part}»`)).toBe(`«${part}»`);
      expect(streamed(redactor, part.split(''))).toBe(part);
    }
  });
});

describe('what is searched', () => {
  it('leaves values shorter than 8 characters to their own field', () => {
    const redactor = redactorOf('', 'a', 'abc', '1234567');
    const text = 'abc 1234567 YWJj 61626331323334353637';
    expect(redactor.redact(text)).toBe(text);
    expect(streamed(redactor, text.split(''))).toBe(text);
  });

  it('masks a value of 8 characters', () => {
    expect(redactorOf('12345678').redact('x12345678x')).toBe(`x${MASK}x`);
  });

  it('masks a secret that was added between two pieces', () => {
    const redactor = redactorOf('first-secret');
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

  it('masks the longer of two secrets that begin alike, wherever the text is cut', () => {
    const redactor = redactorOf('abcdefgh', 'abcdefghijklmnop', 'abcdefghijkl');
    const text = '<abcdefghijklmnop>';
    expect(redactor.redact(text)).toBe(`<${MASK}>`);
    expect(wrongSplits(redactor, text, `<${MASK}>`)).toEqual([]);
  });

  it('falls back to the shorter of two secrets that begin alike', () => {
    const redactor = redactorOf('abcdefgh', 'abcdefghijklmnop');
    expect(wrongSplits(redactor, '<abcdefghijkl>', `<${MASK}ijkl>`)).toEqual([]);
  });

  it('masks two secrets side by side', () => {
    expect(redactorOf('abcdefgh', 'ijklmnop').redact('abcdefghijklmnop')).toBe(MASK + MASK);
  });

  it('masks two secrets that overlap, as one', () => {
    const redactor = redactorOf('abcdefgh', 'efghijkl', 'cdefghij');
    expect(redactor.redact('<abcdefghijkl>')).toBe(`<${MASK}>`);
    expect(wrongSplits(redactor, '<abcdefghijkl>', `<${MASK}>`)).toEqual([]);
    expect(redactorOf('abcdefgh', 'efghijkl').redact('abcdefghijk efghijkl')).toBe(`${MASK}ijk ${MASK}`);
  });

  it('masks a secret that overlaps with itself', () => {
    const redactor = redactorOf('abcdabcdabcd');
    const text = '<abcdabcdabcdabcdabcd>abcdabcdabc';
    expect(redactor.redact(text)).toBe(`<${MASK}>abcdabcdabc`);
    expect(wrongSplits(redactor, text, `<${MASK}>abcdabcdabc`)).toEqual([]);
  });

  it('masks overlapping secrets that are written in different ways', () => {
    const redactor = redactorOf('secret/one', 'one and the other');
    expect(redactor.redact('secret%2Fone%20and+the\\u0020other!')).toBe(`${MASK}!`);
  });

  it.each([
    ['in clear', 8000, '-', '-'],
    ['percent-encoded', 8000, '-', '%2D'],
    ['as entities', 8000, '-', '&#45;'],
    ['in pairs', 4000, '-+', '-+'],
    ['of backslashes', 800, '\\', '\\'],
    ['of quotes', 800, "'", "'"],
  ])('does not search in vain for a secret of equal characters, %s', (_, length, unit, written) => {
    const redactor = redactorOf(unit.repeat(length));
    const almost = `${written.repeat(length - 1)}x`;
    expect(redactor.redact(almost.repeat(10))).toBe(almost.repeat(10));
    expect(redactor.redact(written.repeat(length * 10))).toBe(MASK);
  });

  it('masks what a character of the secret and one beside it could both be part of', () => {
    expect(redactorOf('secret&secret&').redact('secret&amp;secret&amp;')).toBe(MASK);
    expect(redactorOf('\\\\\\\\\\\\\\\\').redact('\\'.repeat(16))).toBe(MASK);
    expect(wrongSplits(redactorOf('100%safe&sound%'), '100%25safe&amp;sound%25!', `${MASK}!`)).toEqual([]);
  });

  it('masks half a surrogate pair, in clear and as JSON writes it', () => {
    const secret = 'broken \ud83d secret';
    expect(redactorOf(secret).redact(`<${secret}>`)).toBe(`<${MASK}>`);
    expect(redactorOf(secret).redact(JSON.stringify(secret))).toBe(`"${MASK}"`);
  });

  it('masks a secret of several lines that was put into one', () => {
    expect(redactorOf('line one\nline two\nline three').redact('>line one line two line three<')).toBe(`>${MASK}<`);
  });

  it('leaves the line end after base64 where it is', () => {
    const base64 = Buffer.from('a secret of 21 bytes!').toString('base64');
    expect(redactorOf('a secret of 21 bytes!').redact(`${base64}\r\n${base64}\n\nmore`)).toBe(
      `${MASK}\r\n${MASK}\n\nmore`,
    );
  });

  it('tells nothing of a secret that nobody added', () => {
    new Secret('never added');
    expect(new Redactor().redact('never added')).toBe('never added');
  });
});

describe('a stream', () => {
  const written = (steps: (stream: RedactedStream) => void, ...values: string[]): string[] => {
    const out: string[] = [];
    steps(new RedactedStream(redactorOf(...values), (text) => out.push(text)));
    return out;
  };

  it('writes at once what cannot be the beginning of a secret', () => {
    expect(written((stream) => stream.push('a line\n'), 'secret-value')).toEqual(['a line\n']);
  });

  it('holds back only what may be the beginning of a secret', () => {
    expect(written((stream) => stream.push('a line and secret-v'), 'secret-value')).toEqual(['a line and ']);
  });

  it('lets go of what turned out to be no secret', () => {
    const steps = (stream: RedactedStream) => {
      stream.push('secret-v');
      stream.push('iew\n');
    };
    expect(written(steps, 'secret-value')).toEqual(['secret-view\n']);
  });

  it('shows the short end of a line before another output goes on, and hides the rest should it be a secret after all', () => {
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
    ['ends no line', 'a line and secr'],
    ['is as long as a secret', 'a line and secret-v\n'],
  ])('keeps what %s until it is known to be none', (_, text) => {
    const steps = (stream: RedactedStream) => {
      stream.push(text);
      stream.endLine();
    };
    expect(written(steps, 'secret-value', 'secret-v\nalue')).toEqual(['a line and ']);
  });

  it('never writes an empty text', () => {
    const steps = (stream: RedactedStream) => {
      stream.push('');
      stream.push('secr');
      stream.push('');
      stream.flush();
      stream.flush();
    };
    expect(written(steps, 'secret-value')).toEqual(['secr']);
  });

  it('writes what a person asked for in clear, after what came before', () => {
    const steps = (stream: RedactedStream) => {
      stream.push('token: secr');
      stream.pushClear('secret-value\n');
      stream.push('secret-value\n');
    };
    expect(written(steps, 'secret-value').join('')).toBe(`token: secrsecret-value\n${MASK}\n`);
  });
});

describe('for any text', () => {
  /** Cuts a text at any places, in the middle of characters too. */
  const cut = (text: string, places: readonly number[]): string[] => {
    const points = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
    return points.slice(1).map((end, index) => text.slice(points[index], end));
  };
  const places = fc.array(fc.nat(), { maxLength: 5 });
  const anyText = fc.oneof(
    anyString(0, 20),
    fc.string({ unit: fc.constantFrom('\\', '"', "'", '%', '&', 'a', '2', '5', ';', '+', ' ', '\n'), maxLength: 20 }),
  );
  const anySecret = fc
    .oneof(
      anyString(8, 40),
      fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 }),
      fc.string({ unit: fc.constantFrom('\\', '"', "'", '%', '&', 'a', '2', '5', '+', ' ', '\n'), minLength: 8 }),
    )
    // The mask itself is the one text that masking brings in.
    .filter((secret) => !secret.includes('•'));

  it('no escaping of a secret survives, whatever stands around it and however it is cut', () => {
    fc.assert(
      fc.property(
        anySecret,
        fc.constantFrom(...Object.values(escapings)),
        anyText,
        anyText,
        places,
        (secret, encode, before, after, at) => {
          const redactor = redactorOf(secret);
          const encoded = encode(secret);
          const text = before + encoded + after;
          expect(redactor.redact(text)).not.toContain(encoded);
          expect(streamed(redactor, cut(text, at))).not.toContain(encoded);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('no base64 of a secret survives, whatever stands around it and however it is cut', () => {
    fc.assert(
      fc.property(
        anySecret,
        fc.constantFrom(...Object.values(encodedBeforeBase64)),
        fc.constantFrom('base64' as const, 'base64url' as const),
        anyText,
        anyText,
        places,
        (secret, encode, alphabet, before, after, at) => {
          const redactor = redactorOf(secret);
          const { whole, core } = toBase64(before, encode(secret), after, alphabet);
          expect(redactor.redact(whole)).not.toContain(core);
          expect(streamed(redactor, cut(whole, at))).not.toContain(core);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('the pieces make no difference', () => {
    fc.assert(
      fc.property(
        anySecret,
        fc.constantFrom(...Object.values(escapings)),
        anyText,
        places,
        (secret, encode, text, at) => {
          const redactor = redactorOf(secret);
          const whole = text + encode(secret) + text + secret.slice(0, 7) + encode(secret).slice(0, 9);
          expect(streamed(redactor, cut(whole, at))).toBe(redactor.redact(whole));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('a text without the secret passes unchanged', () => {
    fc.assert(
      fc.property(anyString(0, 200), places, (text, at) => {
        const redactor = redactorOf('one of the secrets', '{"another": "\\one"}', '%20%20%20%20%20%20');
        expect(redactor.redact(text)).toBe(text);
        expect(streamed(redactor, cut(text, at)).split('')).toEqual(text.split(''));
      }),
    );
  });

  it('exactly the secret is masked, also between many of its beginnings', () => {
    const secret = 'abcabcabd';
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'abc', 'abcabc', secret), maxLength: 40 });
    fc.assert(
      fc.property(texts, places, (text, at) => {
        expect(streamed(redactorOf(secret), cut(text, at))).toBe(text.replaceAll(secret, MASK));
      }),
    );
  });

  it('text in clear stays in its place and as it is', () => {
    const secret = 'abcabcabd';
    const pieces = fc.array(
      fc.record({
        clear: fc.boolean(),
        text: fc.string({ unit: fc.constantFrom('a', 'b', 'abc', 'abcabc', 'd', secret), maxLength: 5 }),
      }),
    );
    fc.assert(
      fc.property(pieces, (steps) => {
        let out = '';
        let expected = '';
        let waiting = '';
        const stream = new RedactedStream(redactorOf(secret), (text) => {
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
