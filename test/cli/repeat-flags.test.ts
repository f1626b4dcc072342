import { describe, expect, it } from 'vitest';
import { appendCallerFlags, appendCallerFlagsTo } from '../../src/cli/repeat-flags.ts';

function callWith(values: Record<string, string[]>) {
  return { positionals: [], switches: new Set<string>(), values: new Map(Object.entries(values)) };
}

describe('a command that hint names', () => {
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
    ['start one: oauth-profile emulate', { data: ['a.yaml'] }, 'start one: oauth-profile emulate'],
  ])('has the flags that find the same profile: %s with %j', (hint, values, expected) => {
    expect(appendCallerFlags(hint, callWith(values))).toBe(expected);
  });

  it('shows no secret among them', () => {
    const set = ['g.client_secret=in-clear-text', 'g.password=${env:PW}', 'g.refresh_token=${env:PW:-in-clear-text}'];
    const shown = appendCallerFlags(
      'oauth-profile login g',
      callWith({ set, store: ['redis://me:in-clear-text@host:1'] }),
    );
    expect(shown).toBe(
      "oauth-profile login g --set 'g.client_secret=••••' --set 'g.password=${env:PW}' --set 'g.refresh_token=••••' --store 'redis://me:••••@host:1'",
    );
  });

  it('has them wherever hint stands in an object', () => {
    const found = { message: 'oauth-profile login g', issues: [{ hint: 'oauth-profile login g' }] };
    expect(appendCallerFlagsTo(found, callWith({ data: ['a.yaml'] }))).toEqual({
      message: 'oauth-profile login g',
      issues: [{ hint: 'oauth-profile login g --data a.yaml' }],
    });
  });
});
