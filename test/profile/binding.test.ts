import { describe, expect, it } from 'vitest';
import { findConfiguredGrant } from '../../src/profile/binding.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { variablesWith } from '../support/login-world.ts';
import { clear, outsideWith } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app' };
const custom = { type: 'custom', url: 'https://id.example.com/token', client_id: 'tool' };
const read = (fields: object) => findConfiguredGrant('svc', variablesWith('svc', { ...fields }), outsideWith());

describe('what a login is bound to', () => {
  it.each([
    ['a profile without any grant', graph, 'https://login.microsoftonline.com', 'app'],
    ['a custom profile', custom, 'https://id.example.com', 'tool'],
    ['a profile that names the grant', { ...custom, grant_type: 'refresh_token' }, 'https://id.example.com', 'tool'],
    ['a profile without TLS', { ...custom, url: 'http://id.lan:81/token' }, 'http://id.lan:81', 'tool'],
    ['a Basic pair', { ...custom, basic: { user: 'u', password: 'p' } }, 'https://id.example.com', 'u'],
    ['no client at all', { type: 'custom', url: custom.url }, 'https://id.example.com', ''],
  ])('is its server and its client: %s', (_, fields, origin, clientId) => {
    expect(read(fields)).toEqual({ origin, clientId, pasted: undefined });
  });

  it('comes with the refresh token that the profile itself holds', () => {
    const { configuredRefreshToken: pasted } = read({ ...graph, refresh_token: 'mine' }) ?? {};
    expect(pasted).toBeInstanceOf(Secret);
    expect(clear(pasted)).toBe('mine');
    expect(read({ ...graph, refresh_token: '' })?.configuredRefreshToken).toBeUndefined();
  });

  it.each([
    ['names another grant', samples.custom],
    ['names a grant by its URN', { ...graph, grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' }],
    ['names a grant that begins alike', { ...graph, grant_type: 'refresh_token_of_mine' }],
    ['has a user, which okta prefers', { ...samples.oktaPassword }],
    ['is of a provider for applications', samples.twitter],
    ['has a type that is not known', { ...custom, type: 'nothing' }],
    ['has a refresh token that cannot be read', { ...graph, refresh_token: '${env:NOT_SET}' }],
    ['has a url that cannot be used', { ...custom, url: 'id.example.com' }],
    ['refers to another grant', { ...graph, grant_type: '${svc.grant}', grant: 'password' }],
  ])('is nothing where the profile %s', (_, fields) => {
    expect(read(fields)).toBeUndefined();
  });

  it('is known where the grant is a reference to the right one', () => {
    expect(read({ ...graph, grant_type: '${svc.grant}', grant: 'refresh_token' })).toMatchObject({ clientId: 'app' });
  });
});
