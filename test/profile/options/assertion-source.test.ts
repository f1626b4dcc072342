import { describe, expect, it } from 'vitest';
import { flatten } from '../../../src/config/flatten.ts';
import { type Source, Variables } from '../../../src/config/variables.ts';
import { InvalidProfileError } from '../../../src/errors.ts';
import { buildTokenRequest } from '../../../src/oauth/token-request.ts';
import { completeProfile } from '../../../src/profile/complete-profile.ts';
import { parseProfile } from '../../../src/profile/parse-profile.ts';
import { profileOf } from '../../support/profiles.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const robot = {
  type: 'microsoft',
  tenant_id: 'contoso.com',
  client_id: 'app',
  grant_type: 'client_credentials',
  scope: 'https://graph.microsoft.com/.default',
};
const exchange = { type: 'custom', url: 'https://id.test/token', grant_type: TOKEN_EXCHANGE };
const withSource = (fields: object, assertion_source: string, more = {}) => ({
  ...fields,
  options: { assertion_source, ...more },
});

function issuesOf(fields: object): string[] {
  try {
    profileOf({ ...fields });
  } catch (error) {
    if (error instanceof InvalidProfileError) return error.issues.map(({ variable }) => variable);
    throw error;
  }
  return [];
}

describe('options.assertion_source', () => {
  it('supplies the client assertion, without a secret or key, for the audience of the provider', () => {
    const profile = profileOf(withSource(robot, 'github-actions'));
    const { form, pending } = buildTokenRequest(profile, '1');
    expect(form.map(({ name }) => name)).toEqual([
      'grant_type',
      'client_id',
      'scope',
      'client_assertion_type',
      'client_assertion',
    ]);
    expect(pending).toMatchObject([
      {
        name: 'client_assertion',
        spec: { source: { kind: 'github-actions' }, audience: 'api://AzureADTokenExchange' },
      },
    ]);
  });

  it('requests the audience of the options, else the token URL', () => {
    const audienceOf = (fields: object) => buildTokenRequest(profileOf({ ...fields }), '1').pending[0]?.spec.audience;
    expect(audienceOf(withSource(robot, 'github-actions', { audience: 'api://own' }))).toBe('api://own');
    expect(audienceOf(withSource(exchange, 'google-metadata'))).toBe('https://id.test/token');
  });

  it('supplies the assertion of a jwt-bearer grant, such as on-behalf-of, next to the client secret', () => {
    const fields = {
      ...robot,
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      client_secret: 'the-secret-1',
    };
    const { form } = buildTokenRequest(profileOf(withSource(fields, 'env:USER_TOKEN')), '1');
    expect(form.map(({ name }) => name)).toEqual(['grant_type', 'client_id', 'scope', 'client_secret', 'assertion']);
  });

  it.each([
    ['github-actions', 'jwt'],
    ['env:ID_TOKEN', 'jwt'],
    ['file:/var/run/token', 'jwt'],
    ['profile:other', 'access_token'],
    ['profile:other#id_token', 'id_token'],
  ])('%s supplies a subject token of type %s (RFC 8693 §2.1)', (source, type) => {
    const variables = { svc: withSource(exchange, source), other: { type: 'custom', url: 'https://b.test/' } };
    const parsed = new Variables().add(flatten(variables, 'data'), { label: 'data', directory: '', trust: 'given' });
    const sources = { env: () => undefined, readFileInside: () => undefined };
    const { form } = buildTokenRequest(completeProfile(parseProfile('svc', parsed, sources)), '1');
    expect(form.map(({ name, value }) => [name, String(value)])).toEqual([
      ['grant_type', TOKEN_EXCHANGE],
      ['subject_token_type', `urn:ietf:params:oauth:token-type:${type}`],
      ['subject_token', '••••'],
    ]);
  });

  it('does not replace a subject token or its type in the profile', () => {
    const own = { ...exchange, subject_token: 'own-token', subject_token_type: 'urn:x' };
    expect(buildTokenRequest(profileOf(withSource(own, 'github-actions')), '1').pending).toEqual([]);
    const typed = profileOf(withSource({ ...exchange, subject_token_type: 'urn:x' }, 'github-actions'));
    expect(typed.fields.filter(({ name }) => name === 'subject_token_type')).toMatchObject([{ value: 'urn:x' }]);
  });

  it.each(['github', 'env', 'env:', 'file:', 'profile:', 'GITHUB-ACTIONS', 'https://issuer.example/'])(
    'is an issue with the value %j',
    (source) => {
      expect(issuesOf(withSource(exchange, source))).toEqual(['svc.options.assertion_source']);
    },
  );

  it('is an issue with a variable of this program, or with an undefined profile', () => {
    expect(issuesOf(withSource(robot, 'env:OAUTH_PROFILE_KEY'))).toEqual(['svc.options.assertion_source']);
    expect(issuesOf(withSource(robot, 'env:oauth_profile_key'))).toEqual(['svc.options.assertion_source']);
    expect(issuesOf(withSource(robot, 'profile:none'))).toEqual(['svc.options.assertion_source']);
  });

  it('is required for a token exchange without a subject token', () => {
    expect(issuesOf(exchange)).toEqual(['svc.subject_token']);
  });

  it.each<[Source['trust'], Source['trust'], boolean]>([
    ['directory', 'user', false],
    ['user', 'directory', false],
    ['user', 'script', false],
    ['directory', 'directory', true],
    ['given', 'user', true],
    ['script', 'user', true],
  ])('of a %s file can name a profile of a %s file: %s', (from, to, allowed) => {
    const variables = new Variables()
      .add(flatten({ svc: withSource(exchange, 'profile:other') }, 'a'), { label: 'a', directory: '', trust: from })
      .add(flatten({ other: { type: 'custom', url: 'https://b.test/' } }, 'b'), {
        label: 'b',
        directory: '',
        trust: to,
      });
    const { draft } = parseProfile('svc', variables, { env: () => undefined, readFileInside: () => undefined });
    expect(draft.issues.map(({ variable }) => variable)).toEqual(allowed ? [] : ['svc.options.assertion_source']);
  });
});
