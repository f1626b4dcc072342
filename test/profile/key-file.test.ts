import { describe, expect, it } from 'vitest';
import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { InvalidProfileError } from '../../src/errors.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const account = {
  type: 'service_account',
  client_email: 'robot@project.iam.gserviceaccount.com',
  private_key: 'the private key',
  private_key_id: 'key-1',
  token_uri: 'https://oauth2.googleapis.com/token',
};

function profileWith(fields: Record<string, unknown>, file: unknown = account): Profile {
  const variables = new Variables().add(flatten({ svc: fields }, 'data'), {
    label: 'data',
    directory: '',
    trust: 'given',
  });
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  return completeProfile(parseProfile('svc', variables, { env: () => undefined, readFileInside: () => text }));
}

function issuesOf(fields: Record<string, unknown>, file?: unknown): string[] {
  try {
    profileWith(fields, file);
  } catch (error) {
    if (error instanceof InvalidProfileError) return error.issues.map(({ variable }) => variable);
    throw error;
  }
  return [];
}

const google = { type: 'google', scope: 'drive mail', options: { key_file: 'robot.json' } };
const box = {
  type: 'custom',
  url: 'https://api.box.test/oauth2/token',
  grant_type: JWT_BEARER,
  client_id: 'app',
  client_secret: 'app-secret-value',
  options: { key_file: 'key.pem', assertion: { sub: '12345', box_sub_type: 'enterprise', lifetime: '45s' } },
};

describe('a service account file of Google', () => {
  it('supplies token URL, grant, issuer, audience, key and key id; the scope becomes a claim', () => {
    const profile = profileWith(google);
    expect(profile).toMatchObject({ grant: JWT_BEARER, createsGrant: true, url: { href: account.token_uri } });
    const { form, pending } = buildTokenRequest(profile, '1');
    expect(form.map(({ name, source }) => [name, source])).toEqual([
      ['grant_type', 'robot.json'],
      ['assertion', 'signed with robot.json'],
    ]);
    expect(pending).toMatchObject([
      {
        name: 'assertion',
        spec: {
          clientId: account.client_email,
          audience: account.token_uri,
          keyId: 'key-1',
          lifetimeMs: 3_600_000,
          claims: { scope: 'drive mail' },
        },
      },
    ]);
    expect(profile.options.key?.text).toBe('the private key');
  });

  it('can be used to act for a user of the domain', () => {
    const fields = { ...google, options: { ...google.options, assertion: { sub: 'ada@example.com' } } };
    const [field] = buildTokenRequest(profileWith(fields), '1').pending;
    expect(field?.spec).toHaveProperty('claims', { scope: 'drive mail', sub: 'ada@example.com' });
  });

  it('requests an ID token for a target audience, which is valid for an hour', () => {
    const options = { ...google.options, assertion: { target_audience: 'https://run.example' } };
    const { options: parsed } = profileWith({ type: 'google', options });
    expect(parsed).toMatchObject({ tokenPath: ['id_token'], defaultTtlMs: 3_600_000 });
  });

  it('does not replace what the profile sets', () => {
    const options = {
      ...google.options,
      key_id: 'own',
      assertion: { iss: 'other', aud: 'https://aud', lifetime: '5m' },
    };
    const profile = profileWith({ ...google, url: 'https://emulator.test/token', options });
    const [field] = buildTokenRequest(profile, '1').pending;
    expect(profile.url.href).toBe('https://emulator.test/token');
    expect(field?.spec).toMatchObject({
      clientId: 'other',
      audience: 'https://aud',
      keyId: 'own',
      lifetimeMs: 300_000,
    });
  });

  it.each(['client_email', 'private_key', 'token_uri'])('is an issue without %s', (member) => {
    expect(issuesOf(google, { ...account, [member]: undefined })).toContain('svc.options.key_file');
  });

  it('is an issue with a token URL that is not https', () => {
    expect(issuesOf(google, { ...account, token_uri: 'http://attacker.example/token' })).toEqual(['svc.url']);
  });

  it('requires a scope or a target audience', () => {
    expect(issuesOf({ ...google, scope: '' })).toEqual(['svc.scope']);
  });
});

describe('the jwt-bearer grant', () => {
  it('is signed with any key, with the claims of the options, and sent with the other fields', () => {
    const { form, pending } = buildTokenRequest(profileWith(box, 'a PEM'), '1');
    expect(form.map(({ name }) => name)).toEqual(['grant_type', 'client_id', 'client_secret', 'assertion']);
    expect(pending[0]?.spec).toMatchObject({
      clientId: 'app',
      audience: box.url,
      claims: { sub: '12345', box_sub_type: 'enterprise' },
      lifetimeMs: 45_000,
    });
  });

  it('uses an assertion of the profile as it is', () => {
    const { form, pending } = buildTokenRequest(profileWith({ ...box, options: {}, assertion: 'own.jwt.value' }), '1');
    expect(pending).toEqual([]);
    expect(form.filter(({ name }) => name === 'assertion')).toHaveLength(1);
  });

  it('may be combined with a client assertion', () => {
    const options = { ...box.options, client_auth: 'private_key_jwt' };
    const { pending } = buildTokenRequest(profileWith({ ...box, options }, 'a PEM'), '1');
    expect(pending.map(({ name }) => name)).toEqual(['client_assertion', 'assertion']);
  });

  it.each([
    ['an assertion', { ...box, options: {} }, ['svc.assertion']],
    ['a subject', { ...box, options: { key_file: 'key.pem' } }, ['svc.options.assertion.sub']],
    [
      'an issuer',
      { ...box, client_id: undefined, options: { key_file: 'key.pem', assertion: { sub: 'x' } } },
      ['svc.options.assertion.iss'],
    ],
    [
      'a valid lifetime',
      { ...box, options: { key_file: 'key.pem', assertion: { sub: 'x', lifetime: 'soon' } } },
      ['svc.options.assertion.lifetime'],
    ],
  ])('requires %s', (_what, fields, expected) => {
    expect(issuesOf(JSON.parse(JSON.stringify(fields)), 'a PEM')).toEqual(expected);
  });

  it('reports claims that another grant does not use', () => {
    expect(profileWith({ ...box, grant_type: 'client_credentials' }, 'a PEM').warnings).toEqual([
      expect.stringContaining('options.assertion'),
    ]);
  });
});

describe('an external account file of Google', () => {
  const external = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ci/providers/github',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: { file: '/var/run/token' },
  };
  const federated = { type: 'google', options: { key_file: 'ci.json' } };

  it('supplies the token exchange and its subject token', () => {
    const profile = profileWith(federated, external);
    expect(profile).toMatchObject({ createsGrant: true, url: { href: external.token_url } });
    const { pending } = buildTokenRequest(profile, '1');
    expect(pending).toMatchObject([
      {
        name: 'subject_token',
        spec: { source: { kind: 'file', value: '/var/run/token' }, audience: `https:${external.audience}` },
      },
    ]);
  });

  it('can get its subject token from a CI system instead', () => {
    const options = { key_file: 'ci.json', assertion_source: 'github-actions' };
    const profile = profileWith({ ...federated, options }, { ...external, credential_source: undefined });
    expect(profile.options.assertionSource?.kind).toBe('github-actions');
  });

  it.each([
    ['a URL with headers, which may be credentials', 'https://issuer.example/token'],
    ['a metadata service', 'http://169.254.169.254/metadata/identity/oauth2/token?resource=x'],
  ])('can name %s', (_what, url) => {
    const format = { type: 'json', subject_token_field_name: 'access_token' };
    const source = { url, headers: { Authorization: 'Bearer of-the-job' }, format };
    const { options } = profileWith(federated, { ...external, credential_source: source });
    expect(options.assertionSource).toMatchObject({ kind: 'url', value: url, member: 'access_token' });
    expect(JSON.stringify(options)).not.toContain('of-the-job');
  });

  it.each([
    ['without an audience', { audience: undefined }],
    ['without a source', { credential_source: undefined }],
    ['with AWS and no URL to sign', { credential_source: { environment_id: 'aws1', region_url: 'https://x' } }],
    [
      'with AWS and credentials from another machine',
      {
        credential_source: {
          environment_id: 'aws1',
          url: 'http://example.com/credentials',
          regional_cred_verification_url: 'https://sts.{region}.amazonaws.com',
        },
      },
    ],
    ['with another version of AWS', { credential_source: { environment_id: 'aws2' } }],
    ['with an executable without a command', { credential_source: { executable: {} } }],
    ['with a source without TLS', { credential_source: { url: 'http://issuer.example/token' } }],
    ['with a service account without TLS', { service_account_impersonation_url: 'http://attacker.example/' }],
  ])('is an issue %s', (_what, changes) => {
    expect(issuesOf(federated, { ...external, ...changes })).toContain('svc.options.key_file');
  });

  it('is an issue with a token URL without TLS', () => {
    expect(issuesOf(federated, { ...external, token_url: 'http://attacker.example/token' })).toEqual(['svc.url']);
  });
});
