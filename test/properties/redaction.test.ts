import assert from 'node:assert/strict';
import { RedactedStream, Redactor } from '../../src/redaction/redactor.ts';
import { escapeControls, escapeControlsInJson, excerpt, hasControls } from '../../src/redaction/sanitize.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { awkwardSecrets, encodings, encodingsBeforeBase64, toBase64 } from '../support/leaks.ts';
import { callTwice, itHolds } from './mutated-input.ts';

/** Shorter values are redacted in their own field only. */
const MIN_LENGTH = 8;
const namedEncodings = Object.entries(encodings);
const beforeBase64 = Object.values(encodingsBeforeBase64);

/** A number that depends on every character, so that each input tries another encoding. */
function digest(text: string): number {
  let sum = 7;
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) >>> 0;
  return sum;
}

/** A secret, an empty line, and output that the encoded secret is inserted into. */
itHolds('hides a secret in every encoding, also in a stream of chunks', {
  maxLength: 1_024,
  runs: 15,
  seeds: Object.values(awkwardSecrets).map((secret, at) => `${secret}\n\nbefore ${at} %41&#4`),
  tokens: [
    '%',
    '%2',
    '\\',
    '\\u00',
    '&#',
    '&amp;',
    '+',
    '=',
    '\n\n',
    '\n',
    'aaaaaaaa',
    '....',
    '%25',
    '\\\\',
    "'",
    'é',
    '😀',
  ],
  check(input) {
    const at = input.indexOf('\n\n');
    const secret = (at < 0 ? input : input.slice(0, at)).toWellFormed();
    const text = at < 0 ? '' : input.slice(at + 2);
    if (secret.trim().length < MIN_LENGTH) return;
    const middle = text.length >> 1;
    const [before, after] = [text.slice(0, middle), text.slice(middle)];
    const round = digest(input);
    const [how, encode] = namedEncodings[round % namedEncodings.length] as (typeof namedEncodings)[number];
    const inBase64 = beforeBase64[round % beforeBase64.length] as (text: string) => string;
    const form = encode(secret);
    const base64 = toBase64('x'.repeat(round % 3), inBase64(secret), ':y', round % 2 === 0 ? 'base64' : 'base64url');
    const known = new Redactor();
    known.add(new Secret(secret));
    const whole = before + form + after;
    const { value: shown = '' } = callTwice(() => known.redact(whole));
    assert.ok(!shown.includes(form), `a secret is shown (${how})`);
    assert.ok(!known.redact(`${before} ${base64.whole} ${after}`).includes(base64.part), 'a secret in base64 is shown');
    assert.equal(
      inPieces(known, whole, pieceLength(whole, round)),
      shown,
      'the stream of chunks is redacted differently',
    );
  },
});

const everySecret = new Redactor();
for (const secret of Object.values(awkwardSecrets)) everySecret.add(new Secret(secret));

/** Any output, which may contain secrets or many prefixes of them. */
itHolds('hides known secrets in any string, also in a stream of chunks', {
  runs: 40,
  seeds: ['nothing to hide', ...Object.values(awkwardSecrets), 's3cr3tPasss3cr3tPassw0rd', 's3cr3t%50assw0rd'],
  tokens: [
    ...Object.values(awkwardSecrets).flatMap((secret) => [secret.slice(0, 7), encodeURIComponent(secret).slice(0, 9)]),
    ...['%25', '%2525', '\\', '&amp;', '&#', '\\u00', 'czNj', 'c3Mz', '733363'],
  ],
  check(input) {
    const { value: shown = '' } = callTwice(() => everySecret.redact(input));
    for (const secret of Object.values(awkwardSecrets)) assert.ok(!shown.includes(secret), 'a secret is shown');
    assert.equal(
      inPieces(everySecret, input, pieceLength(input, input.length)),
      shown,
      'the stream of chunks is redacted differently',
    );
  },
});

/** About twenty chunks: each is searched again together with what was held back before it. */
function pieceLength(text: string, round: number): number {
  return 1 + (round % 13) + Math.floor(text.length / 20);
}

function inPieces(known: Redactor, text: string, length: number): string {
  let out = '';
  const stream = new RedactedStream(known, (piece) => {
    out += piece;
  });
  for (let at = 0; at < text.length; at += length) stream.push(text.slice(at, at + length));
  stream.flush();
  return out;
}

itHolds('escapes every control character', {
  seeds: ['plain', '\u001b[31mred\u202eback', 'two\r\nlines\t', '\ud83d\ude00\ud800'],
  tokens: ['\u001b]0;', '\u009b', '\u200b', '\u2066', '\ufff9', '\u2029'],
  check(input) {
    const { value: line = '' } = callTwice(() => escapeControls(input));
    assert.ok(!hasControls(line) && !/[\n\t]/.test(line), 'the output has control characters');
    assert.equal(escapeControls(line), line, 'printable output changes');
    assert.deepEqual(JSON.parse(escapeControlsInJson({ a: input })), { a: input }, 'the JSON has another value');
    for (const length of [1, 5, 40]) assert.ok(excerpt(input, length).length <= length, 'an excerpt is too long');
  },
});
