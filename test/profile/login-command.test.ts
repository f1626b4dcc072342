import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loginCommand } from '../../src/profile/login-command.ts';

describe('the command that signs in', () => {
  it('names the profile as it is', () => {
    expect(loginCommand('graph')).toBe('oauth-profile login graph');
    expect(loginCommand('acme.prod')).toBe('oauth-profile login acme.prod');
  });

  it('can be pasted into a shell whatever the profile is called', () => {
    const odd = fc.string({ unit: fc.constantFrom(...'ab $`\'"\\;&|<>(){}*?!#~-=%'), minLength: 1, maxLength: 12 });
    const names = fc.sample(odd, { numRuns: 40, seed: 7 });
    const line = names.map((name) => loginCommand(name).replace('oauth-profile login', "printf '%s\\0'")).join('\n');
    expect(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(names);
  });
});
