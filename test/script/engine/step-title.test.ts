import { describe, expect, it } from 'vitest';
import type { Value } from '../../../src/config/value.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { defineCommand } from '../../../src/script/command.ts';
import { stepTitle } from '../../../src/script/engine/step-title.ts';

const command = defineCommand({
  group: 'ws',
  name: 'ask',
  summary: 'Calls',
  parameters: [
    { name: 'url', kind: 'text', help: 'Where' },
    { name: 'body', kind: 'value', help: 'What' },
    { name: 'key', kind: 'text', help: 'Whose', optional: true, secret: true },
  ],
  example: 'ws.ask: [a, b]',
  run() {},
});

const title = (parameters: Record<string, Value>): string =>
  stepTitle({
    command,
    parameters,
    name: undefined,
    condition: undefined,
    continueOnFailure: false,
    always: false,
    position: undefined,
  });

describe('The title of a step', () => {
  it.each<[parameters: Record<string, Value>, title: string]>([
    [{}, 'ws.ask()'],
    [{ url: 'a', body: '' }, 'ws.ask(a, )'],
    [{ body: 'b' }, 'ws.ask(b)'],
    [{ body: 'b', url: 'a' }, 'ws.ask(a, b)'],
    [{ url: 'a', body: null }, 'ws.ask(a, )'],
    [{ url: 5, body: false }, 'ws.ask(5, false)'],
    [{ url: '${base}/me', body: { a: [1, '${x}'] } }, 'ws.ask(${base}/me, {"a":[1,"${x}"]})'],
    [{ url: 'a\nb\u001b[31m', body: '\u202e' }, 'ws.ask(a b\\u001b[31m, \\u202e)'],
    [{ toString: 'x', nobody: 'y' } as never, 'ws.ask()'],
  ])('of %j is %s', (parameters, expected) => {
    expect(title(parameters)).toBe(expected);
  });

  it('is truncated between characters', () => {
    expect(title({ url: 'x'.repeat(61) })).toBe(`ws.ask(${'x'.repeat(59)}…)`);
    expect(title({ url: 'x'.repeat(60) })).toBe(`ws.ask(${'x'.repeat(60)})`);
    expect(title({ url: `${'x'.repeat(58)}😀😀` })).toBe(`ws.ask(${'x'.repeat(58)}…)`);
  });

  it.each<[written: Record<string, Value>, title: string]>([
    [{ url: new Secret('hunter22') }, 'ws.ask(••••)'],
    [{ key: 'hunter22' }, 'ws.ask(••••)'],
    [{ key: '${KEY}' }, 'ws.ask(${KEY})'],
    [{ key: '${env:KEY}' }, 'ws.ask(${env:KEY})'],
    [{ key: '${KEY:-hunter22}' }, 'ws.ask(••••)'],
    [{ key: 'hunter22${KEY}' }, 'ws.ask(••••)'],
    [{ key: '${KEY}hunter22${KEY}' }, 'ws.ask(••••)'],
    [{ key: ['hunter22', { a: 'hunter22' }] }, 'ws.ask(["••••",{"a":"••••"}])'],
    [{ key: '' }, 'ws.ask()'],
    [{ body: { client_secret: 'hunter22', n: 1 } }, 'ws.ask({"client_secret":"••••","n":1})'],
    [{ body: { client_secret: '${s}' } }, 'ws.ask({"client_secret":"${s}"})'],
    [{ body: { credentials: { user: 'ada', id: 5 } } }, 'ws.ask({"credentials":{"user":"ada","id":5}})'],
    [{ body: [{ password: 'hunter22' }] }, 'ws.ask([{"password":"••••"}])'],
  ])('masks a secret that is written in %j', (written, expected) => {
    expect(title(written)).toBe(expected);
  });
});
