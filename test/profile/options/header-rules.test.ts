import { validateHeaderName, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isForbiddenHeader, isHeaderName, isHeaderValue } from '../../../src/profile/options/header-rules.ts';

describe('a header name', () => {
  it('is accepted exactly if Node accepts it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[!-~]{0,9}$/)), (name) => {
        let accepted = true;
        try {
          validateHeaderName(name);
        } catch {
          accepted = false;
        }
        expect(isHeaderName(name)).toBe(accepted);
      }),
    );
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'TE',
    'Expect',
    'Proxy-Authorization',
    'proxy-x',
  ])('is forbidden for callers in any case: %s', (name) => {
    for (const written of [name, name.toLowerCase(), name.toUpperCase()]) expect(isForbiddenHeader(written)).toBe(true);
  });

  it.each(['Authorization', 'Content-Type', 'X-Host', 'Hostname', 'Teapot', 'x-proxy-y'])('is allowed: %s', (name) => {
    expect(isForbiddenHeader(name)).toBe(false);
  });
});

describe('a header value', () => {
  it('that is accepted is accepted by Node, and is ASCII without line breaks', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (value) => {
        fc.pre(isHeaderValue(value));
        validateHeaderValue('x', value);
        expect(value).toMatch(/^[\t -~]*$/);
      }),
    );
  });
});
