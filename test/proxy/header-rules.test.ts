import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rewriteLocation, toRequestHeaders, toResponseHeaders, toTrailers } from '../../src/proxy/header-rules.ts';

const names = [
  ...['Host', 'Connection', 'Keep-Alive', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Content-Length'],
  ...['Proxy-Authorization', 'Proxy-Connection', 'Authorization', 'X-Api-Token', 'X-Own', 'Cookie', 'Location'],
];
/** A name in any case. */
const name = fc
  .tuple(fc.constantFrom(...names), fc.infiniteStream(fc.boolean()))
  .map(([text, upper]) =>
    [...text].map((letter) => (upper.next().value ? letter.toUpperCase() : letter.toLowerCase())).join(''),
  );
const value = fc.oneof(
  fc.constantFrom('close', 'keep-alive', 'upgrade', 'trailers', 'chunked', '5'),
  fc.array(fc.constantFrom(...names), { maxLength: 3 }).map((list) => list.join(', ')),
  fc.string({ maxLength: 10 }),
);
const list = fc.array(fc.tuple(name, value), { maxLength: 12 }).map((pairs) => pairs.flat());
const rules = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PROPFIND'),
  host: fc.constant('api.example.com'),
  removed: fc.constant(new Set(['authorization', 'x-api-token'])),
  added: fc.constant(['X-Api-Token', 'the token']),
  upgrade: fc.option(fc.constant('websocket'), { nil: undefined }),
});

function pairsOf(headers: readonly string[]): [key: string, value: string][] {
  return headers.flatMap((text, index) =>
    index % 2 === 0 ? [[text.toLowerCase(), headers[index + 1] ?? '']] : [],
  ) as [string, string][];
}
const valuesOf = (headers: readonly string[], key: string): string[] =>
  pairsOf(headers)
    .filter(([one]) => one === key)
    .map(([, text]) => text);

test('a request that is sent on has one Host, one token, and no credentials of the client', () => {
  fc.assert(
    fc.property(list, rules, (received, given) => {
      const sent = toRequestHeaders(received, given);
      expect(valuesOf(sent, 'host')).toEqual(['api.example.com']);
      expect(valuesOf(sent, 'x-api-token')).toEqual(['the token']);
      expect(valuesOf(sent, 'authorization')).toEqual([]);
      expect(pairsOf(sent).filter(([key]) => /^(?:proxy-|keep-alive$)/.test(key))).toEqual([]);
    }),
  );
});

test('a request that is sent on is framed exactly as it was received', () => {
  fc.assert(
    fc.property(list, rules, (received, given) => {
      const sent = toRequestHeaders(received, given);
      const isChunked = valuesOf(received, 'transfer-encoding').length > 0;
      expect(valuesOf(sent, 'transfer-encoding')).toEqual(isChunked ? ['chunked'] : []);
      const lengths = valuesOf(received, 'content-length');
      const added = given.method === 'GET' || isChunked ? [] : ['0'];
      expect(valuesOf(sent, 'content-length')).toEqual(lengths.length > 0 ? lengths : added);
    }),
  );
});

test('a request that is sent on names in Connection only what this proxy supports', () => {
  fc.assert(
    fc.property(list, rules, (received, given) => {
      const sent = toRequestHeaders(received, given);
      const { upgrade } = given;
      expect(valuesOf(sent, 'upgrade')).toEqual(upgrade === undefined ? [] : [upgrade]);
      const expected = upgrade !== undefined ? ['Upgrade'] : valuesOf(sent, 'te').map(() => 'TE');
      expect(valuesOf(sent, 'connection')).toEqual(expected);
      expect(['', 'trailers']).toContain(valuesOf(sent, 'te').join());
    }),
  );
});

test('all other headers are sent on in their order, with their names and values', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('X-Own', 'cookie', 'X-OTHER'), fc.string()), { maxLength: 8 }),
      (pairs) => {
        const received = pairs.flat();
        const given = { method: 'GET', host: 'h', removed: new Set<string>(), added: [], upgrade: undefined };
        expect(toRequestHeaders(['Host', 'x', ...received, 'Connection', 'close'], given)).toEqual([
          'Host',
          'h',
          ...received,
        ]);
        expect(toResponseHeaders([...received, 'Connection', 'close'])).toEqual(received);
      },
    ),
  );
});

test('a response has no header of the connection to the API, and keeps its length', () => {
  fc.assert(
    fc.property(list, (received) => {
      const sent = toResponseHeaders(received);
      expect(
        pairsOf(sent).filter(([key]) =>
          /^(?:proxy-|(?:keep-alive|connection|te|transfer-encoding|upgrade)$)/.test(key),
        ),
      ).toEqual([]);
      expect(valuesOf(sent, 'content-length')).toEqual(valuesOf(received, 'content-length'));
    }),
  );
});

test('trailers cannot frame, route or authenticate a message', () => {
  fc.assert(
    fc.property(list, (received) => {
      const keys = toTrailers(received, new Set(['authorization', 'x-api-token'])).map(([key]) => key.toLowerCase());
      expect(keys.filter((key) => !['x-own', 'cookie', 'location'].includes(key))).toEqual([]);
    }),
  );
});

test('a rewritten redirect leads to the proxy, and a foreign one is not changed', () => {
  const target = new URL('https://api.example.com');
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      expect(rewriteLocation(url, target, '127.0.0.1:1')).toBe(url);
    }),
  );
  fc.assert(
    fc.property(
      fc.webPath(),
      fc.constantFrom('https://api.example.com', 'HTTPS://API.example.com:443', '//api.example.com'),
      (path, origin) => {
        const rewritten = new URL(rewriteLocation(`${origin}${path}`, target, '127.0.0.1:1'));
        expect([rewritten.origin, rewritten.pathname]).toEqual([
          'http://127.0.0.1:1',
          new URL(target.origin + path).pathname,
        ]);
      },
    ),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      const rewritten = rewriteLocation(text, target, '127.0.0.1:1');
      expect(rewritten === text || rewritten.startsWith('http://127.0.0.1:1/')).toBe(true);
    }),
  );
});
