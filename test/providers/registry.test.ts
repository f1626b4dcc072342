import { describe, expect, it } from 'vitest';
import { coreTypes, findProvider, loadCatalogue, providerTypes } from '../../src/providers/registry.ts';

describe('findProvider()', () => {
  it('R1.5 R1.6 finds five types, oidc, custom and one alias, and those of the catalogue after it was loaded', async () => {
    expect([...coreTypes].sort()).toEqual([
      'custom',
      'gitlab',
      'google',
      'microsoft',
      'microsoft-refresh',
      'oidc',
      'okta',
      'twitter',
    ]);
    for (const type of coreTypes) expect(findProvider(type)).toBeDefined();
    await loadCatalogue();
    for (const type of providerTypes) expect(findProvider(type)).toBeDefined();
  });

  it.each(['Microsoft', 'OKTA', 'google ', '', 'toString', '__proto__', 'constructor'])(
    'R1.7 does not find %j',
    (type) => {
      expect(findProvider(type)).toBeUndefined();
    },
  );

  it('returns providers whose hints all name a variable or the login', () => {
    for (const type of providerTypes) {
      for (const one of Object.values(findProvider(type)?.hints ?? {}).flat()) {
        expect(typeof one === 'string' ? one : one.hint).toMatch(/\{[a-z_.]+\}/);
      }
    }
  });
});
