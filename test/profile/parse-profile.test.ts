import { describe, expect, it } from 'vitest';
import { type DataObject, flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { toLoginProfile } from '../../src/profile/login-profile.ts';
import { type ParsedProfile, parseProfile } from '../../src/profile/parse-profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { issuesOf, readAcme, reveal, samples, variablesWith } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';
import { readFromYaml } from './read-from-yaml.ts';

const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app' };
const custom = { type: 'custom', url: 'https://id.example.com/token', client_id: 'tool' };

function parse(fields: DataObject): ParsedProfile {
  return parseProfile('svc', variablesWith('svc', { ...fields }), createSources());
}

describe('a parsed profile', () => {
  it.each([
    ['without a grant', graph, 'https://login.microsoftonline.com', 'app'],
    ['of type custom', custom, 'https://id.example.com', 'tool'],
    ['with the grant refresh_token', { ...custom, grant_type: 'refresh_token' }, 'https://id.example.com', 'tool'],
    ['with an http: URL', { ...custom, url: 'http://id.lan:81/token' }, 'http://id.lan:81', 'tool'],
    ['with basic.user', { ...custom, basic: { user: 'u', password: 'p' } }, 'https://id.example.com', 'u'],
    ['without a client id', { type: 'custom', url: custom.url }, 'https://id.example.com', ''],
    [
      'whose grant is a reference to refresh_token',
      { ...graph, grant_type: '${svc.grant}', grant: 'refresh_token' },
      'https://login.microsoftonline.com',
      'app',
    ],
  ])('%s is bound to the origin of its token URL and its client id', (_, fields, origin, clientId) => {
    expect(parse(fields).binding).toEqual({ origin, clientId });
  });

  it.each<[string, DataObject]>([
    ['names another grant', samples.custom],
    ['names a grant by its URN', { ...graph, grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' }],
    ['names a grant with the prefix refresh_token', { ...graph, grant_type: 'refresh_token_of_mine' }],
    ['has username and password, which okta prefers', { ...samples.oktaPassword }],
    ['has a provider without user logins', samples.twitter],
    ['has an unknown type', { ...custom, type: 'nothing' }],
    ['has a refresh token that cannot be resolved', { ...graph, refresh_token: '${env:NOT_SET}' }],
    ['has an invalid url', { ...custom, url: 'id.example.com' }],
    ['refers to another grant', { ...graph, grant_type: '${svc.grant}', grant: 'password' }],
  ])('has no binding if it %s', (_, fields) => {
    expect(parse(fields).binding).toBeUndefined();
  });

  it('exposes the refresh token that is configured', () => {
    const { configuredRefreshToken } = parse({ ...graph, refresh_token: 'mine' });
    expect(configuredRefreshToken).toBeInstanceOf(Secret);
    expect(reveal(configuredRefreshToken)).toBe('mine');
  });

  it('treats an empty refresh token as missing', () => {
    expect(parse({ ...graph, refresh_token: '' }).configuredRefreshToken).toBeUndefined();
    expect(parse(graph).configuredRefreshToken).toBeUndefined();
  });

  it('resolves each reference once, however often it is completed', () => {
    let reads = 0;
    const sources = {
      ...createSources({ 'ca.pem': 'CERTIFICATE' }),
      env: () => {
        reads++;
        return 'app';
      },
    };
    const variables = variablesWith('svc', { ...graph, client_id: '${env:CLIENT_ID}' });
    const parsed = parseProfile('svc', variables, sources);
    completeProfile(parsed, { refreshToken: new Secret('stored'), family: 'f' });
    toLoginProfile(parsed);
    expect(reads).toBe(1);
  });

  it('can be completed several times, in any order, with the same results', () => {
    const parsed = parse({ ...graph, refresh_token: 'configured', unknown: 'x', user: 'ada' });
    const complete = (stored?: string): unknown =>
      attempt(() => {
        const profile = completeProfile(
          parsed,
          stored === undefined ? undefined : { refreshToken: new Secret(stored), family: 'f' },
        );
        const token = profile.fields.find(({ name }) => name === 'refresh_token');
        return { ...profile, token: reveal(token?.value), source: token?.source };
      });
    const first = [complete(), complete('stored'), attempt(() => toLoginProfile(parsed))];
    const second = [attempt(() => toLoginProfile(parsed)), complete('stored'), complete()].reverse();
    expect(second).toEqual(first);
    expect(first).toMatchObject([
      { token: 'configured', source: 'data', family: undefined },
      { token: 'stored', source: 'vault', family: 'f' },
      { configuredRefreshToken: { name: 'refresh_token', source: 'data' } },
    ]);
  });

  it('reports the same issues each time it is completed', () => {
    const parsed = parse({ type: 'microsoft', options: { timeout: 'soon' } });
    const variables = (error: unknown): string[] =>
      (error as { issues: { variable: string }[] }).issues.map(({ variable }) => variable);
    const complete = variables(attempt(() => completeProfile(parsed)));
    const login = variables(attempt(() => toLoginProfile(parsed)));
    expect(login).toEqual(['svc.options.timeout', 'svc.tenant_id', 'svc.client_id']);
    expect(complete).toContain('svc.username');
    expect(variables(attempt(() => completeProfile(parsed)))).toEqual(complete);
    expect(variables(attempt(() => toLoginProfile(parsed)))).toEqual(login);
  });
});

function attempt(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    if (error instanceof OAuthProfileError) return error;
    throw error;
  }
}

describe('a profile with values of --set', () => {
  const directory = { label: 'p.yaml', directory: '', trust: 'directory' } as const;
  const given = (label: string) => ({ label, directory: '', trust: 'given' }) as const;
  const parseBoth = (file: DataObject, set: DataObject, label = '--set') => {
    const variables = new Variables()
      .define(flatten({ svc: file }, 'p.yaml'), directory)
      .add(flatten({ svc: set }, label), given(label));
    return parseProfile('svc', variables, createSources({}, { RT: 'refresh-1', APP: 'app' }));
  };
  const { url } = custom;

  it.each<[string, DataObject, DataObject]>([
    ['a secret', custom, { client_secret: 'secret-1' }],
    ['a reference to a secret', { url }, { type: 'gitlab', client_id: 'a', refresh_token: '${env:RT}' }],
    ['an external value', custom, { pin: '${env:RT}' }],
    ['a Basic password', custom, { basic: { user: 'u', password: 'secret-1' } }],
  ])('warns that %s is sent to the url of the directory', (_, file, set) => {
    const { disclosure } = parseBoth(file, set);
    expect(disclosure).toContain(url);
    expect(disclosure).toContain('p.yaml');
    expect(disclosure).not.toMatch(/secret-1|refresh-1/);
  });

  it('does not warn about public values, about other files, or about a url of its own', () => {
    expect(parseBoth(custom, { client_id: '${env:APP}', scope: 'x' }).disclosure).toBeUndefined();
    expect(parseBoth(custom, { client_secret: 's' }, 'mine.env').disclosure).toBeUndefined();
    expect(parseBoth({ audience: 'a' }, { ...custom, client_secret: 's' }).disclosure).toBeUndefined();
    expect(parseBoth(graph, { client_secret: 's' }).disclosure).toBeUndefined();
  });
});

describe('the type of a profile', () => {
  const allTypes =
    'one of microsoft, microsoft-refresh, google, okta, gitlab, twitter, oidc, custom, or another type that oauth-profile providers lists';

  it.each([
    ['Microsoft', 'types are case-sensitive: did you mean microsoft?'],
    ['MICROSOFT-REFRESH', 'types are case-sensitive: did you mean microsoft-refresh?'],
    ['Custom', 'types are case-sensitive: did you mean custom?'],
    ['microsft', 'did you mean microsoft?'],
    ['okta ', 'did you mean okta?'],
    ['gitlab.com', `use ${allTypes}`],
    ['__proto__', `use ${allTypes}`],
  ])('R1.7 cannot be %j', (type, hint) => {
    const [issue] = issuesOf(() => readAcme({ ...samples.custom, type }));
    expect(issue).toMatchObject({ variable: 'acme.type', hint });
    expect(issue?.message).toContain(`"${type}"`);
  });

  it.each(['Google', 'google ', ' Google\n'])('D16 does not hide other issues if it is written %j', (type) => {
    const issues = issuesOf(() => readAcme({ type, client_id: 'x', options: { timeout: 'soon' } }));
    expect(issues.map(({ variable }) => variable)).toEqual([
      'acme.type',
      'acme.options.timeout',
      'acme.client_secret',
      'acme.refresh_token',
    ]);
  });

  it('D16 hides issues that depend on it if it is only similar to a known one', () => {
    const fields = { type: 'microsft', client_id: 'x', scope: ['a', ['b']], options: { timeout: 'soon' } };
    const issues = issuesOf(() => readAcme(fields));
    expect(issues.map(({ variable }) => variable)).toEqual(['acme.scope', 'acme.type', 'acme.options.timeout']);
  });

  it.each([
    ['graf.type: microsoft', 'graf.type is set: did you mean graph.type?'],
    ['graph.Type: microsoft', 'graph.Type is set: did you mean graph.type?'],
    ['graph.typ: microsoft', 'graph.typ is set: did you mean graph.type?'],
    ['other: x', `set graph.type to ${allTypes}`],
    // The type of another profile, which has other fields too.
    ['graf.type: microsoft\ngraf.client_id: b', `set graph.type to ${allTypes}`],
    ['graf.typo: microsoft', `set graph.type to ${allTypes}`],
  ])('D16 is reported as missing, with a suggestion from %j', (line, hint) => {
    expect(issuesOf(() => readFromYaml('graph', `${line}\ngraph.client_id: a\n`))).toMatchObject([
      { variable: 'graph.type', message: 'is missing', hint },
    ]);
  });

  it('D16 is not reported as missing if it cannot be resolved', () => {
    const issues = issuesOf(() => readAcme({ type: '${env:TYPE}' }));
    expect(issues.map(({ variable }) => variable)).toEqual(['acme.type']);
    expect(issues[0]?.message).toContain('TYPE');
    expect(readAcme({ ...samples.google, type: '${env:TYPE}' }, createSources({}, { TYPE: 'google' })).grant).toBe(
      'refresh_token',
    );
  });

  it('is shown with control characters escaped', () => {
    const [issue] = issuesOf(() => readAcme({ type: 'x\u001b[31m\u202e' }));
    expect(issue?.message).toContain('"x\\u001b[31m\\u202e"');
  });
});
