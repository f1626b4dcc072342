import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/data/flatten.ts';
import { faultsOf, faultyIn, readAcme } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const rows: [row: string, fields: DataObject, required: string[]][] = [
  ['P1', samples.microsoftPassword, ['tenant_id', 'client_id', 'username', 'password']],
  [
    'P1 microsoft-refresh',
    { ...samples.microsoftRefresh, type: 'microsoft-refresh' },
    ['tenant_id', 'client_id', 'refresh_token'],
  ],
  ['P2', samples.google, ['client_id', 'client_secret', 'refresh_token']],
  ['P3', samples.oktaPassword, ['tenant_id', 'client_id', 'username', 'password']],
  ['P4', samples.gitlabPassword, ['username', 'password']],
  ['P5', samples.twitter, ['client_id', 'client_secret']],
  ['custom', samples.custom, ['url']],
];

describe('what a profile cannot do without', () => {
  it.each(rows)('R4.2 D16 %s: each required field is missed by its name', (_, fields, required) => {
    for (const field of required) {
      for (const absent of [undefined, '', null]) {
        const faults = faultsOf(() => readAcme({ ...fields, [field]: absent }));
        expect(faults.map(({ variable }) => variable)).toEqual([`acme.${field}`]);
        expect(faults[0]?.message).toMatch(/^is missing/);
        expect(faults[0]?.advice).toContain(`acme.${field}`);
      }
    }
  });

  it.each(rows)('D16 %s: everything that is missing is told at once', (_, fields, required) => {
    const bare = Object.fromEntries(
      Object.entries(fields).filter(([name]) => name === 'type' || !required.includes(name)),
    );
    expect(faultyIn(bare).sort()).toEqual(required.map((field) => `acme.${field}`).sort());
  });

  it.each(rows)('R4.2 %s: nothing else is required', (_, fields, required) => {
    const least = Object.fromEntries(
      Object.entries(fields).filter(([name]) => name === 'type' || required.includes(name)),
    );
    expect(() => readAcme(least)).not.toThrow();
  });
});

describe('a profile that somebody has yet to sign in for', () => {
  const ready: DataObject[] = [
    { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', scope: 'user.read' },
    { type: 'google', client_id: 'c', client_secret: 's', scope: 'openid' },
    { type: 'okta', url: 'https://id.acme.com/oauth2/v1/token', client_id: 'c' },
    { type: 'gitlab', client_id: 'c' },
  ];

  it.each(ready)('has this one fault, with the command to run: $type', (fields) => {
    const { type } = fields;
    expect(faultsOf(() => readAcme(fields))).toEqual([
      {
        variable: 'acme.refresh_token',
        message: 'is missing: nobody has signed in for acme yet',
        advice: `run: oauth-profile login acme; or set ${type === 'google' ? 'acme.refresh_token' : 'acme.username and acme.password'}`,
      },
    ]);
  });

  it.each([
    [{ username: 'ada' }, ['acme.password']],
    [{ client_id: '' }, ['acme.client_id', 'acme.username', 'acme.password']],
    [{ tenant_id: '' }, ['acme.tenant_id', 'acme.username', 'acme.password']],
    [{ grant_type: 'password' }, ['acme.username', 'acme.password']],
    [{ pasword: 'p' }, ['acme.username', 'acme.password']],
    [{ refresh_token: ['a'] }, ['acme.refresh_token']],
    [{ username: ['a'] }, ['acme.username', 'acme.password']],
  ])('is another one with %j', (change, faulty) => {
    expect(faultyIn({ ...ready[0], ...change })).toEqual(faulty);
  });

  it('needs for Google a scope first', () => {
    expect(faultsOf(() => readAcme({ ...ready[1], scope: '' }))).toMatchObject([
      {
        variable: 'acme.refresh_token',
        advice: 'set acme.refresh_token, or set acme.scope and sign in once: oauth-profile login acme',
      },
    ]);
  });
});

describe('near misses', () => {
  it.each([
    ['clientid', 'client_id'],
    ['Client_Id', 'client_id'],
    ['client-id', 'client_id'],
    ['clientId', 'client_id'],
    ['cleint_id', 'client_id'],
    ['user_name', 'username'],
    ['Password', 'password'],
    ['pasword', 'password'],
    ['tenant', 'tenant_id'],
    ['tenantId', 'tenant_id'],
  ])('D16 %s for %s', (written, field) => {
    const { [field as 'client_id']: value, ...rest } = samples.microsoftPassword;
    expect(faultsOf(() => readAcme({ ...rest, [written]: value }))).toMatchObject([
      { variable: `acme.${field}`, advice: `acme.${written} is there: did you mean acme.${field}?` },
    ]);
  });

  it.each(['microsoft', 'okta', 'gitlab'])(
    'D16 %s: a misspelt refresh token explains why another grant was taken',
    (type) => {
      const fields = { type, tenant_id: type === 'okta' ? 'acme' : 'contoso.com', client_id: 'c', refreshtoken: 'r' };
      const faults = faultsOf(() => readAcme(fields));
      expect(faults).toContainEqual(
        expect.objectContaining({ variable: 'acme.refreshtoken', advice: 'did you mean acme.refresh_token?' }),
      );
      expect(faults.map(({ variable }) => variable).sort()).toEqual(
        ['acme.password', 'acme.refreshtoken', 'acme.username'].sort(),
      );
    },
  );

  it('D16 a field with a right name of its own is not taken for a near miss', () => {
    const { username: _, ...rest } = samples.oktaPassword;
    expect(faultsOf(() => readAcme({ ...rest, user: 'u', nickname: 'n' }))).toMatchObject([
      { variable: 'acme.username', advice: expect.stringMatching(/^set acme\.username/) },
    ]);
  });
});
