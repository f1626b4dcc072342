import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { invalidVariables, issuesOf, readAcme, samples } from '../support/profiles.ts';

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

describe('checkRequiredFields()', () => {
  it.each(rows)('R4.2 D16 reports each missing field of %s', (_, fields, required) => {
    for (const field of required) {
      for (const absent of [undefined, '', null]) {
        const issues = issuesOf(() => readAcme({ ...fields, [field]: absent }));
        expect(issues.map(({ variable }) => variable)).toEqual([`acme.${field}`]);
        expect(issues[0]?.message).toMatch(/^is missing/);
        expect(issues[0]?.hint).toMatch(new RegExp(`acme\\.${field}|^run: oauth-profile login acme$`));
      }
    }
  });

  it.each(rows)('D16 reports all missing fields of %s at once', (_, fields, required) => {
    const bare = Object.fromEntries(
      Object.entries(fields).filter(([name]) => name === 'type' || !required.includes(name)),
    );
    expect(invalidVariables(bare).sort()).toEqual(required.map((field) => `acme.${field}`).sort());
  });

  it.each(rows)('R4.2 requires no other field of %s', (_, fields, required) => {
    const least = Object.fromEntries(
      Object.entries(fields).filter(([name]) => name === 'type' || required.includes(name)),
    );
    expect(() => readAcme(least)).not.toThrow();
  });
});

describe('a profile without a login', () => {
  const ready: DataObject[] = [
    { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', scope: 'user.read' },
    { type: 'google', client_id: 'c', client_secret: 's', scope: 'openid' },
    { type: 'okta', url: 'https://id.acme.com/oauth2/v1/token', client_id: 'c' },
    { type: 'gitlab', client_id: 'c' },
  ];

  it.each(ready)('has one issue, with the command to run: $type', (fields) => {
    expect(issuesOf(() => readAcme(fields))).toMatchObject([
      { variable: 'acme.refresh_token', hint: 'run: oauth-profile login acme' },
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
  ])('has other issues with %j', (change, variables) => {
    expect(invalidVariables({ ...ready[0], ...change })).toEqual(variables);
  });

  it('requires a scope for Google', () => {
    expect(issuesOf(() => readAcme({ ...ready[1], scope: '' }))).toMatchObject([
      {
        variable: 'acme.refresh_token',
        hint: 'set acme.refresh_token, or set acme.scope and run: oauth-profile login acme',
      },
    ]);
  });
});

describe('the hint for a missing field', () => {
  const microsoft = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c' };

  it.each<[description: string, fields: DataObject, issues: [field: string, hint: string][]]>([
    [
      'only a type',
      { type: 'gitlab' },
      [
        ['username', 'set acme.client_id and run: oauth-profile login acme'],
        ['password', 'set acme.client_id and run: oauth-profile login acme'],
      ],
    ],
    ['a username', { type: 'gitlab', username: 'u' }, [['password', 'set acme.password']]],
    [
      'a grant that does not use a login',
      { ...microsoft, grant_type: 'password' },
      [
        ['username', 'set acme.username'],
        ['password', 'set acme.password'],
      ],
    ],
    [
      'the grant refresh_token and no client',
      { type: 'gitlab', grant_type: 'refresh_token' },
      [['refresh_token', 'set acme.refresh_token, or set acme.client_id and run: oauth-profile login acme']],
    ],
    [
      'the grant refresh_token and a client',
      { type: 'gitlab', grant_type: 'refresh_token', client_id: 'c' },
      [['refresh_token', 'run: oauth-profile login acme']],
    ],
    [
      'a client with a secret, and a password',
      { ...microsoft, client_secret: 's', password: 'p' },
      [
        [
          'username',
          'set acme.grant_type: client_credentials for a token of the application itself, or set acme.username',
        ],
      ],
    ],
    [
      'a client without a secret at a provider without logins',
      { type: 'twitter', client_id: 'c' },
      [['client_secret', 'set acme.client_secret']],
    ],
    [
      'a client without a secret and no grant',
      {
        type: 'custom',
        url: 'https://id.example.com/token',
        client_id: 'c',
        options: { client_auth: 'client_secret_basic' },
      },
      [['client_secret', 'set acme.client_secret']],
    ],
    [
      'a misspelled refresh token and another grant',
      { ...microsoft, grant_type: 'password', username: 'u', refreshtoken: 'r' },
      [['password', 'set acme.password']],
    ],
  ])('D16 suits a profile with %s', (_, fields, issues) => {
    expect(issuesOf(() => readAcme(fields))).toMatchObject(
      issues.map(([field, hint]) => ({ variable: `acme.${field}`, hint })),
    );
  });

  it('recommends neither a username nor a password where a login or client_credentials is possible', () => {
    for (const type of ['microsoft', 'okta', 'gitlab']) {
      for (const fields of [{}, { client_id: 'c' }, { client_id: 'c', client_secret: 's' }, { client_secret: 's' }]) {
        const hints = issuesOf(() => readAcme({ type, ...fields })).map(({ hint }) => hint);
        expect(hints.join()).not.toMatch(/username|password/);
        expect(hints.join()).toMatch(/oauth-profile login acme|client_credentials/);
      }
    }
  });

  it('D16 names the grant only if there is one', () => {
    const options = { client_auth: 'client_secret_basic' };
    const fields = { type: 'custom', url: 'https://id.example.com/token', client_id: 'c', options };
    expect(issuesOf(() => readAcme(fields))[0]?.message).toBe('is missing');
    expect(issuesOf(() => readAcme({ ...fields, grant_type: 'own' }))[0]?.message).toContain('the own grant');
  });

  it('D16 names a misspelled field only if something is missing', () => {
    expect(() => readAcme({ ...samples.microsoftPassword, refreshtoken: 'r' })).not.toThrow();
    expect(issuesOf(() => readAcme({ ...microsoft, refreshtoken: 'r' }))).toContainEqual({
      variable: 'acme.refreshtoken',
      message: expect.any(String),
      hint: 'did you mean acme.refresh_token?',
      where: 'data',
    });
  });

  it('D16 names a misspelled secret even if a login could replace it', () => {
    const issues = issuesOf(() => readAcme({ ...microsoft, client_secrt: 's' }));
    expect(issues.map(({ variable }) => variable)).toEqual(['acme.refresh_token', 'acme.client_secrt']);
    expect(issues[1]).toMatchObject({ hint: 'did you mean acme.client_secret?' });
  });
});

describe('several misspelled fields', () => {
  it('D16 are reported at once', () => {
    const fields = { type: 'microsoft', tenantid: 'contoso.com', clientId: 'c', client_secrt: 's' };
    const hints = issuesOf(() => readAcme(fields)).map(({ hint }) => hint ?? '');
    for (const field of ['acme.tenant_id?', 'acme.client_id?', 'acme.client_secret?']) {
      expect(hints.some((hint) => hint.endsWith(`did you mean ${field}`))).toBe(true);
    }
  });
});

describe('a misspelled field', () => {
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
  ])('D16 %s is suggested for the missing %s', (written, field) => {
    const { [field as 'client_id']: value, ...rest } = samples.microsoftPassword;
    expect(issuesOf(() => readAcme({ ...rest, [written]: value }))).toMatchObject([
      { variable: `acme.${field}`, hint: `acme.${written} is set: did you mean acme.${field}?` },
    ]);
  });

  it.each(['microsoft', 'okta', 'gitlab'])('D16 refreshtoken of %s explains why another grant was selected', (type) => {
    const fields = { type, tenant_id: type === 'okta' ? 'acme' : 'contoso.com', client_id: 'c', refreshtoken: 'r' };
    const issues = issuesOf(() => readAcme(fields));
    expect(issues).toContainEqual(
      expect.objectContaining({ variable: 'acme.refreshtoken', hint: 'did you mean acme.refresh_token?' }),
    );
    expect(issues.map(({ variable }) => variable).sort()).toEqual(
      ['acme.password', 'acme.refreshtoken', 'acme.username'].sort(),
    );
  });

  it('D16 is not suggested if it is not similar', () => {
    const { username: _, ...rest } = samples.oktaPassword;
    expect(issuesOf(() => readAcme({ ...rest, user: 'u', nickname: 'n' }))).toMatchObject([
      { variable: 'acme.username', hint: expect.stringMatching(/set acme\.username$/) },
    ]);
  });
});
