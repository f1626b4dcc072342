import { describe, expect, it } from 'vitest';
import { isSecretName } from '../../src/secret/secret-names.ts';

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

describe('a field', () => {
  it.each([...named, ...matching])('%s is secret', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(isSecretName(`graph.${name}`)).toBe(true);
  });

  it.each([...harmless, ...other])('%s is not', (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(isSecretName(`graph.${name}`)).toBe(false);
  });

  it.each(['token.client_id', 'secrets.prod.username', 'password.type', 'code.scope'])(
    '%s is not: a profile may have any name',
    (name) => {
      expect(isSecretName(name)).toBe(false);
    },
  );

  it('client_assertion_type is secret, as the pattern says', () => {
    expect(isSecretName('client_assertion_type')).toBe(true);
  });
});
