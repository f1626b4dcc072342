import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
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
        const issues = faultsOf(() => readAcme({ ...fields, [field]: absent }));
        expect(issues.map(({ variable }) => variable)).toEqual([`acme.${field}`]);
        expect(issues[0]?.message).toMatch(/^is missing/);
        expect(issues[0]?.hint).toContain(`acme.${field}`);
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
        hint: `run: oauth-profile login acme; or set ${type === 'google' ? 'acme.refresh_token' : 'acme.username and acme.password'}`,
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
        hint: 'set acme.refresh_token, or set acme.scope and sign in once: oauth-profile login acme',
      },
    ]);
  });
});

describe('the hint for what is missing', () => {
  const microsoft = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c' };
  const needed = (grant: string): string => `is missing; the grant ${grant} needs it`;
  const signIn = 'or sign in once: oauth-profile login acme';

  it.each<[situation: string, fields: DataObject, issues: [field: string, message: string, hint: string][]]>([
    [
      'nothing but the type',
      { type: 'gitlab' },
      [
        ['username', needed('password'), `set acme.username, ${signIn}`],
        ['password', needed('password'), `set acme.password, ${signIn}`],
      ],
    ],
    ['a user', { type: 'gitlab', username: 'u' }, [['password', needed('password'), 'set acme.password']]],
    [
      'a grant that a login does not bring',
      { ...microsoft, grant_type: 'password' },
      [
        ['username', needed('password'), 'set acme.username'],
        ['password', needed('password'), 'set acme.password'],
      ],
    ],
    [
      'the grant that a login brings, and no client',
      { type: 'gitlab', grant_type: 'refresh_token' },
      [['refresh_token', needed('refresh_token'), `set acme.refresh_token, ${signIn}`]],
    ],
    [
      'the grant that a login brings, and a client',
      { type: 'gitlab', grant_type: 'refresh_token', client_id: 'c' },
      [
        [
          'refresh_token',
          'is missing: nobody has signed in for acme yet',
          'run: oauth-profile login acme; or set acme.refresh_token',
        ],
      ],
    ],
    [
      'a client with a secret, and a password',
      { ...microsoft, client_secret: 's', password: 'p' },
      [
        [
          'username',
          needed('password'),
          'set acme.username, or set acme.grant_type: client_credentials to sign in as the application itself',
        ],
      ],
    ],
    [
      'half a client where nobody can sign in',
      { type: 'twitter', client_id: 'c' },
      [['client_secret', needed('client_credentials'), 'set acme.client_secret']],
    ],
    [
      'half a client and no grant',
      {
        type: 'custom',
        url: 'https://id.example.com/token',
        client_id: 'c',
        options: { client_auth: 'client_secret_basic' },
      },
      [['client_secret', 'is missing', 'set acme.client_secret']],
    ],
    [
      'a misspelt refresh token and a grant that was chosen',
      { ...microsoft, grant_type: 'password', username: 'u', refreshtoken: 'r' },
      [['password', needed('password'), 'set acme.password']],
    ],
  ])('D16 fits the profile with %s', (_, fields, issues) => {
    expect(faultsOf(() => readAcme(fields))).toEqual(
      issues.map(([field, message, hint]) => ({ variable: `acme.${field}`, message, hint })),
    );
  });

  it('D16 names a field that nobody knows only where something is missing', () => {
    expect(() => readAcme({ ...samples.microsoftPassword, refreshtoken: 'r' })).not.toThrow();
    expect(faultsOf(() => readAcme({ ...microsoft, refreshtoken: 'r' }))).toContainEqual({
      variable: 'acme.refreshtoken',
      message: 'is not a field that we know',
      hint: 'did you mean acme.refresh_token?',
      where: 'data',
    });
  });

  it('D16 names a misspelt secret also where a person could sign in instead', () => {
    const issues = faultsOf(() => readAcme({ ...microsoft, client_secrt: 's' }));
    expect(issues.map(({ variable }) => variable)).toEqual(['acme.refresh_token', 'acme.client_secrt']);
    expect(issues[1]).toMatchObject({ hint: 'did you mean acme.client_secret?' });
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
      { variable: `acme.${field}`, hint: `acme.${written} is there: did you mean acme.${field}?` },
    ]);
  });

  it.each(['microsoft', 'okta', 'gitlab'])(
    'D16 %s: a misspelt refresh token explains why another grant was taken',
    (type) => {
      const fields = { type, tenant_id: type === 'okta' ? 'acme' : 'contoso.com', client_id: 'c', refreshtoken: 'r' };
      const issues = faultsOf(() => readAcme(fields));
      expect(issues).toContainEqual(
        expect.objectContaining({ variable: 'acme.refreshtoken', hint: 'did you mean acme.refresh_token?' }),
      );
      expect(issues.map(({ variable }) => variable).sort()).toEqual(
        ['acme.password', 'acme.refreshtoken', 'acme.username'].sort(),
      );
    },
  );

  it('D16 a field with a right name of its own is not taken for a near miss', () => {
    const { username: _, ...rest } = samples.oktaPassword;
    expect(faultsOf(() => readAcme({ ...rest, user: 'u', nickname: 'n' }))).toMatchObject([
      { variable: 'acme.username', hint: expect.stringMatching(/^set acme\.username/) },
    ]);
  });
});
