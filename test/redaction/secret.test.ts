import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { joinStrings, MASK, onSecretCreated, Secret } from '../../src/redaction/secret.ts';
import { anyString } from '../support/any-string.ts';

const CLEAR = 'hunter2-hunter2';
const secret = new Secret(CLEAR);
const nested = { deep: { deeper: { deepest: [{ secret }] } }, list: [secret], map: new Map([['secret', secret]]) };

/** What a program's console would print. */
function logged(...values: unknown[]): string {
  let out = '';
  const sink = new Writable({
    write(chunk, _, done) {
      out += String(chunk);
      done();
    },
  });
  new Console({ stdout: sink, stderr: sink }).log(...values);
  return out;
}

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return `${String(error)} ${(error as Error).stack}`;
  }
  return 'nothing was thrown';
}

const ways: Record<string, () => unknown> = {
  'in a template': () => `${secret}`,
  'by String()': () => String(secret),
  'added to a text': () => `Bearer ${secret as unknown as string}`,
  'joined in a list': () => [secret, secret].join(),
  'by JSON.stringify': () => JSON.stringify(secret),
  'by JSON.stringify, nested': () => JSON.stringify(nested),
  'by JSON.stringify, with indentation': () => JSON.stringify(nested, undefined, 2),
  'by toLocaleString': () => secret.toLocaleString(),
  'by inspect': () => inspect(secret),
  'by inspect, nested': () => inspect(nested, { depth: null }),
  'by inspect, hidden members shown': () => inspect(nested, { depth: null, showHidden: true, getters: true }),
  'by inspect, without our own say': () => inspect(nested, { depth: null, customInspect: false, showHidden: true }),
  'by inspect, beyond its depth': () => inspect({ a: { b: { c: { d: secret } } } }, { depth: 0 }),
  'by inspect as a key': () => inspect(new Map([[secret, 1]])),
  'by format': () => format('%s %o %O %j %d', secret, secret, secret, secret, secret),
  'by console.log': () => logged(secret, nested, '%o', secret),
  'in an error': () => new Error(`wrong: ${secret}`).stack,
  'in a cause': () => inspect(new Error('wrong', { cause: secret })),
  'in an error of the engine': () => messageOf(() => (secret as unknown as () => void)()),
  'in an error of a missing method': () => messageOf(() => (secret as unknown as { nope(): void }).nope()),
  'by Object.keys': () => Object.keys(secret),
  'by Object.entries': () => Object.entries(secret),
  'by Reflect.ownKeys': () => Reflect.ownKeys(secret).map(String),
  'by its property descriptors': () => inspect(Object.getOwnPropertyDescriptors(secret)),
  'by for…in': () => {
    const seen: unknown[] = [];
    for (const name in secret) seen.push(name, secret[name as keyof Secret]);
    return seen;
  },
  spread: () => JSON.stringify({ ...secret }),
  assigned: () => JSON.stringify(Object.assign({}, secret)),
  'by structuredClone': () => inspect(structuredClone(secret), { showHidden: true }),
  'by structuredClone, nested': () => inspect(structuredClone(nested), { depth: null, showHidden: true }),
  'as its source': () => Secret.toString() + Object.getOwnPropertyNames(secret).join(),
};

describe('a secret', () => {
  it.each(Object.entries(ways))('does not show %s', (_, print) => {
    expect(inspect(print(), { depth: null })).not.toContain('hunter2');
  });

  it.each([
    ['a template', () => `<${secret}>`, `<${MASK}>`],
    ['JSON', () => JSON.stringify({ secret }), `{"secret":"${MASK}"}`],
    ['inspect', () => inspect([secret]), `[ ${MASK} ]`],
    ['console.log', () => logged('%s', secret), `${MASK}\n`],
  ])('is four dots in %s', (_, print, expected) => {
    expect(print()).toBe(expected);
  });

  it('shows the part that may be seen', () => {
    const header = new Secret(`Basic ${CLEAR}`, `Basic ${MASK}`);
    expect([String(header), JSON.stringify(header), inspect(header)]).toEqual([
      `Basic ${MASK}`,
      `"Basic ${MASK}"`,
      `Basic ${MASK}`,
    ]);
  });

  it('gives its value to who asks for it', () => {
    expect(secret.reveal()).toBe(CLEAR);
    expect(secret.length).toBe(CLEAR.length);
    expect(secret.test((value) => value === CLEAR)).toBe(true);
    expect(secret.test((value) => value === '')).toBe(false);
  });

  it('is changed into another secret', () => {
    const changed = secret.map((value) => value.toUpperCase());
    expect(changed.reveal()).toBe(CLEAR.toUpperCase());
    expect(String(changed)).toBe(MASK);
    expect(secret.reveal()).toBe(CLEAR);
  });

  it('never shows, whatever it is', () => {
    fc.assert(
      fc.property(anyString(1), (value) => {
        const hidden = new Secret(value);
        expect([`${hidden}`, JSON.stringify(hidden), inspect(hidden)]).toEqual([MASK, `"${MASK}"`, MASK]);
        expect(hidden.reveal()).toBe(value);
      }),
    );
  });
});

describe('joining texts', () => {
  it('gives a plain text when no part is secret', () => {
    expect(joinStrings(['a', 'b'])).toBe('ab');
    expect(joinStrings([])).toBe('');
  });

  it('gives a secret as soon as one part is', () => {
    const joined = joinStrings(['Bearer ', secret, '!']);
    expect(joined).toBeInstanceOf(Secret);
    expect((joined as Secret).reveal()).toBe(`Bearer ${CLEAR}!`);
    expect(String(joined)).toBe(MASK);
  });
});

describe('a watcher', () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
  const watch = (): string[] => {
    const seen: string[] = [];
    stops.push(onSecretCreated((found) => seen.push(found.reveal())));
    return seen;
  };

  it('is told of every secret from now on: made, changed and joined', () => {
    const seen = watch();
    const made = new Secret('made');
    made.map((value) => `${value} and changed`);
    joinStrings(['joined with ', made]);
    expect(seen).toEqual(['made', 'made and changed', 'joined with made']);
  });

  it('is one of many', () => {
    const [first, second] = [watch(), watch()];
    new Secret('for both');
    expect([first, second]).toEqual([['for both'], ['for both']]);
  });

  it('hears nothing more once it stopped', () => {
    const seen = watch();
    stops[0]?.();
    new Secret('unheard');
    expect(seen).toEqual([]);
  });
});
