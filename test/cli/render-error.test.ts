import { describe, expect, it } from 'vitest';
import { addCallerFlags, withCallerFlags } from '../../src/cli/render-error.ts';

function argsWith(values: Record<string, string[]>) {
  return { positionals: [], command: [], switches: new Set<string>(), values: new Map(Object.entries(values)) };
}

describe('addCallerFlags()', () => {
  it.each<[string, Record<string, string[]>, string]>([
    ['run: oauth-profile login graph', {}, 'run: oauth-profile login graph'],
    [
      'run: oauth-profile login graph',
      { data: ['a.yaml', 'b c.env'] },
      "run: oauth-profile login graph --data a.yaml --data 'b c.env'",
    ],
    [
      'run: oauth-profile login graph; or set x',
      { data: ['d/a.yaml'] },
      'run: oauth-profile login graph --data d/a.yaml; or set x',
    ],
    [
      'run: oauth-profile login graph --device',
      { data: ['a.yaml'] },
      'run: oauth-profile login graph --data a.yaml --device',
    ],
    [
      "oauth-profile explain 'it'\\''s mine'",
      { data: ['a.yaml'] },
      "oauth-profile explain 'it'\\''s mine' --data a.yaml",
    ],
    [
      'oauth-profile explain graph',
      { set: ['graph.scope=a b'] },
      "oauth-profile explain graph --set 'graph.scope=a b'",
    ],
    [
      'oauth-profile explain g',
      { store: ['redis://host:6379/2'] },
      'oauth-profile explain g --store redis://host:6379/2',
    ],
    ['start an emulator: oauth-profile emulate', { data: ['a.yaml'] }, 'start an emulator: oauth-profile emulate'],
  ])('adds the flags that find the same profile: %s with %j', (hint, values, expected) => {
    expect(addCallerFlags(hint, argsWith(values))).toBe(expected);
  });

  it('masks secrets', () => {
    const set = ['g.client_secret=in-plaintext', 'g.password=${env:PW}', 'g.refresh_token=${env:PW:-in-plaintext}'];
    const shown = addCallerFlags('oauth-profile login g', argsWith({ set, store: ['redis://me:in-plaintext@host:1'] }));
    expect(shown).toBe(
      "oauth-profile login g --set 'g.client_secret=••••' --set 'g.password=${env:PW}' --set 'g.refresh_token=••••' --store 'redis://me:••••@host:1'",
    );
  });
});

describe('withCallerFlags()', () => {
  it('adds flags to every hint in an object', () => {
    const error = { message: 'oauth-profile login g', issues: [{ hint: 'oauth-profile login g' }] };
    expect(withCallerFlags(error, argsWith({ data: ['a.yaml'] }))).toEqual({
      message: 'oauth-profile login g',
      issues: [{ hint: 'oauth-profile login g --data a.yaml' }],
    });
  });
});
