import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidProfileError, OAuthProfileError } from '../../src/errors.ts';
import { buildRequest, encodeBody } from '../../src/token/build-request.ts';
import { anyUnits } from '../support/any-text.ts';
import { faultsOf, readAcme, readFromYaml } from '../support/read-sample.ts';
import { samples, secrets } from '../support/sample-profiles.ts';

describe('reading a profile', () => {
  it('D16 tells all faults at once, each with its variable, its place and what to do', () => {
    const text = [
      'graph.type: Okta',
      'graph.tenant_id: evil.com/',
      'graph.clientid: c',
      'graph.url:',
      'graph.scope: {a: 1}',
      'graph.audience: [a]',
      'graph.resource: ${nothing}',
      'graph.options.timout: 5',
      'graph.options.replay: perhaps',
      'graph.basic.password: x',
    ].join('\n');
    const faults = faultsOf(() => readFromYaml('graph', text));
    expect(faults.map(({ variable, where }) => [variable, where])).toEqual([
      ['graph.audience', 'profiles.yaml:6'],
      ['graph.resource', 'profiles.yaml:7'],
      ['graph.type', 'profiles.yaml:1'],
      ['graph.options.timout', 'profiles.yaml:8'],
      ['graph.options.replay', 'profiles.yaml:9'],
      ['graph.basic.user', undefined],
      ['graph.tenant_id', 'profiles.yaml:2'],
      ['graph.username', undefined],
      ['graph.password', undefined],
    ]);
    for (const { advice } of faults) expect(advice).toBeTruthy();
  });

  it('D16 is one error with a stable code and a count', () => {
    expect(() => readAcme({ type: 'google' })).toThrow(
      expect.objectContaining({ code: 'profile_invalid', message: 'profile acme has 3 faults' }),
    );
    expect(() => readAcme({ type: 'custom' })).toThrow('profile acme has a fault');
  });

  it.each(Object.entries(samples))('hides the secrets of %s from everything that prints', (_, sample) => {
    const profile = readAcme({ ...sample, basic: { user: 'u', password: 'the-basic-password' } });
    const request = buildRequest(profile, '1');
    for (const text of [
      inspect(profile, { depth: 9 }),
      JSON.stringify(profile),
      inspect(request, { depth: 9 }),
      JSON.stringify(request),
    ]) {
      for (const secret of [...Object.values(secrets), 'the-basic-password']) expect(text).not.toContain(secret);
      expect(text).not.toContain(btoa('u:the-basic-password'));
    }
  });

  it('shows no secret in its faults', () => {
    const fields = {
      type: 'microsoft',
      client_secret: ['a-secret-in-a-list'],
      password: 'a-secret\ud800',
      refresh_token: '${a-secret-with-braces',
      basic: { password: 'another-secret' },
    };
    try {
      readAcme(fields);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidProfileError);
      expect(JSON.stringify(error) + inspect(error, { depth: 9 })).not.toMatch(/a-secret|another-secret/);
    }
  });

  it('D16 whatever the fields, a profile is read and its request made, or the faults are told', () => {
    const names = fc.constantFrom(
      ...['type', 'url', 'tenant_id', 'grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope'],
      ...['refresh_token', 'options', 'options.timeout', 'options.client_auth', 'options.key_file', 'basic.user'],
      ...['basic.password', 'client_assertion', 'options.token_path', 'code', 'x.y', '__proto__'],
    );
    const values = fc.oneof(
      fc.constantFrom('microsoft', 'okta', 'gitlab', 'custom', 'google', 'twitter', 'https://a.example/', 'basic_raw'),
      fc.constantFrom('private_key_jwt', 'key', 'acme', 'constructor', '${env:X}', '${acme.type}', '${', 'a:b', ''),
      fc.constantFrom(7, true, null, ['a'], [['b']], []),
      anyUnits,
    );
    const outside = {
      env: () => undefined,
      readText: () => undefined,
      readFile: (path: string) => (path === 'key' ? 'KEY' : undefined),
    };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(samples)),
        fc.dictionary(names, values, { maxKeys: 6 }),
        (sample, more) => {
          try {
            const request = buildRequest(readAcme({ ...sample, ...more }, outside), '1');
            expect(encodeBody(request).match(/(?:^|&)grant_type=/g)?.length ?? 0).toBeLessThanOrEqual(1);
          } catch (error) {
            expect(error).toBeInstanceOf(OAuthProfileError);
            if (error instanceof InvalidProfileError) expect(error.faults).not.toEqual([]);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });
});
