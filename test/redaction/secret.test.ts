import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { joinStrings, MASK, onSecretCreated, registerSecret, Secret } from '../../src/redaction/secret.ts';
import { anyString } from '../support/arbitraries.ts';

const PLAINTEXT = 'hunter2-hunter2';
const secret = new Secret(PLAINTEXT);
const nested = { deep: { deeper: { deepest: [{ secret }] } }, list: [secret], map: new Map([['secret', secret]]) };

/** The output of `console.log`. */
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

const conversions: Record<string, () => unknown> = {
  'in a template': () => `${secret}`,
  'by String()': () => String(secret),
  'appended to a string': () => `Bearer ${secret as unknown as string}`,
  'joined in a list': () => [secret, secret].join(),
  'by JSON.stringify': () => JSON.stringify(secret),
  'by JSON.stringify, nested': () => JSON.stringify(nested),
  'by JSON.stringify, with indentation': () => JSON.stringify(nested, undefined, 2),
  'by toLocaleString': () => secret.toLocaleString(),
  'by inspect': () => inspect(secret),
  'by inspect, nested': () => inspect(nested, { depth: null }),
  'by inspect, hidden members shown': () => inspect(nested, { depth: null, showHidden: true, getters: true }),
  'by inspect, without its custom function': () =>
    inspect(nested, { depth: null, customInspect: false, showHidden: true }),
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
  it.each(Object.entries(conversions))('is not revealed %s', (_, print) => {
    expect(inspect(print(), { depth: null })).not.toContain('hunter2');
  });

  it.each([
    ['a template', () => `<${secret}>`, `<${MASK}>`],
    ['JSON', () => JSON.stringify({ secret }), `{"secret":"${MASK}"}`],
    ['inspect', () => inspect([secret]), `[ ${MASK} ]`],
    ['console.log', () => logged('%s', secret), `${MASK}\n`],
  ])('is printed as four dots in %s', (_, print, expected) => {
    expect(print()).toBe(expected);
  });

  it('prints the part that is not secret', () => {
    const header = new Secret(`Basic ${PLAINTEXT}`, `Basic ${MASK}`);
    expect([String(header), JSON.stringify(header), inspect(header)]).toEqual([
      `Basic ${MASK}`,
      `"Basic ${MASK}"`,
      `Basic ${MASK}`,
    ]);
  });

  it('reveals its value on request', () => {
    expect(secret.reveal()).toBe(PLAINTEXT);
    expect(secret.length).toBe(PLAINTEXT.length);
    expect(secret.test((value) => value === PLAINTEXT)).toBe(true);
    expect(secret.test((value) => value === '')).toBe(false);
  });

  it('is mapped to another secret', () => {
    const changed = secret.map((value) => value.toUpperCase());
    expect(changed.reveal()).toBe(PLAINTEXT.toUpperCase());
    expect(String(changed)).toBe(MASK);
    expect(secret.reveal()).toBe(PLAINTEXT);
  });

  it('is masked, whatever its value', () => {
    fc.assert(
      fc.property(anyString(1), (value) => {
        const hidden = new Secret(value);
        expect([`${hidden}`, JSON.stringify(hidden), inspect(hidden)]).toEqual([MASK, `"${MASK}"`, MASK]);
        expect(hidden.reveal()).toBe(value);
      }),
    );
  });
});

describe('joinStrings', () => {
  it('returns a string if no part is secret', () => {
    expect(joinStrings(['a', 'b'])).toBe('ab');
    expect(joinStrings([])).toBe('');
  });

  it('returns a secret if one part is secret', () => {
    const joined = joinStrings(['Bearer ', secret, '!']);
    expect(joined).toBeInstanceOf(Secret);
    expect((joined as Secret).reveal()).toBe(`Bearer ${PLAINTEXT}!`);
    expect(String(joined)).toBe(MASK);
  });
});

describe('a listener of onSecretCreated', () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
  const listen = (): string[] => {
    const seen: string[] = [];
    stops.push(onSecretCreated((found) => seen.push(found.reveal())));
    return seen;
  };

  it('is called for every secret that is created, mapped, joined or registered', () => {
    const seen = listen();
    const made = new Secret('made');
    made.map((value) => `${value} and changed`);
    joinStrings(['joined with ', made]);
    registerSecret('registered');
    expect(seen).toEqual(['made', 'made and changed', 'joined with made', 'registered']);
  });

  it('does not replace other listeners', () => {
    const [first, second] = [listen(), listen()];
    new Secret('for both');
    expect([first, second]).toEqual([['for both'], ['for both']]);
  });

  it('is not called after it was removed', () => {
    const seen = listen();
    stops[0]?.();
    new Secret('created later');
    expect(seen).toEqual([]);
  });

  it('is not called for an untracked secret', () => {
    const seen = listen();
    expect(String(Secret.untracked('wraps other secrets'))).toBe(MASK);
    expect(seen).toEqual([]);
  });
});
