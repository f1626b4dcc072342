import { describe, expect, it } from 'vitest';
import { displayName, isSensitiveName } from '../../src/redaction/sensitive-names.ts';

const named = [
  'client_secret',
  'password',
  'refresh_token',
  'access_token',
  'id_token',
  'assertion',
  'client_assertion',
  'subject_token',
  'actor_token',
  'code',
  'device_code',
  'basic.password',
];
const matching = [
  'secret',
  'SECRET_KEY',
  'clientSecret',
  'passwd',
  'options.key_passphrase',
  'PFX_PASSPHRASE',
  'Password',
  'passw',
  'user_password_2',
  'token',
  'x-token-x',
  'id_token_hint',
  'saml_assertion',
  'credential',
  'aws_credentials',
  'apikey',
  'api_key',
  'api-key',
  'X-API-KEY',
  'private_key',
  'PRIVATE',
];
const harmless = [
  'token_type',
  'requested_token_type',
  'subject_token_type',
  'SUBJECT_TOKEN_TYPE',
  'token_url',
  'secret_url',
  'api_key_url',
  'token_endpoint',
  'private_key_ENDPOINT',
  'options.token_path',
];
const other = [
  '',
  'type',
  'url',
  'client_id',
  'username',
  'tenant_id',
  'scope',
  'grant_type',
  'expires_in',
  'user_code',
  'code_verifier',
  'status_code',
  'codes',
  'api__key',
  'basic.user',
  'options.client_auth',
  'options.key_file',
];

describe('isSensitiveName', () => {
  it.each([...named, ...matching])('matches %s', (name) => {
    expect(isSensitiveName(name)).toBe(true);
    expect(isSensitiveName(`graph.${name}`)).toBe(true);
  });

  it.each([...harmless, ...other])('does not match %s', (name) => {
    expect(isSensitiveName(name)).toBe(false);
    expect(isSensitiveName(`graph.${name}`)).toBe(false);
  });

  it.each(['token.client_id', 'secrets.prod.username', 'password.type', 'code.scope'])(
    'does not match %s, because a profile may have any name',
    (name) => {
      expect(isSensitiveName(name)).toBe(false);
    },
  );

  it('matches client_assertion_type', () => {
    expect(isSensitiveName('client_assertion_type')).toBe(true);
  });
});

describe('displayName', () => {
  it.each([
    ['graph.client_secret.S3cr3t', 'graph', 'graph.client_secret.••••'],
    ['graph.client_secret.S3.cr3t', 'graph', 'graph.client_secret.••••'],
    ['graph.basic.password.S3cr3t', 'graph', 'graph.basic.password.••••'],
    ['graph.options.token.S3cr3t', 'graph', 'graph.options.token.••••'],
    ['acme.prod.client_secret.S3cr3t', 'acme', 'acme.prod.client_secret.••••'],
    ['graph.client_secret', 'graph', 'graph.client_secret'],
    ['graph.client_id', 'graph', 'graph.client_id'],
    ['token.client_id', 'token', 'token.client_id'],
    ['acme.token.client_id', 'acme.token', 'acme.token.client_id'],
  ])('masks what follows a sensitive name: %s of profile %s', (name, profile, expected) => {
    expect(displayName(name, profile)).toBe(expected);
  });

  it('takes the first part for the profile by default', () => {
    expect(displayName('token.client_id')).toBe('token.client_id');
    expect(displayName('graph.client_secret.S3cr3t')).toBe('graph.client_secret.••••');
    expect(displayName('plain')).toBe('plain');
  });
});
