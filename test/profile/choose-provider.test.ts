import { describe, expect, it } from 'vitest';
import { faultsOf, outsideWith, readAcme, readFromYaml } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

describe('the type of a profile', () => {
  it.each([
    ['Microsoft', 'types are case-sensitive: did you mean microsoft?'],
    ['MICROSOFT-REFRESH', 'types are case-sensitive: did you mean microsoft-refresh?'],
    ['Custom', 'types are case-sensitive: did you mean custom?'],
    ['microsft', 'did you mean microsoft?'],
    ['okta ', 'did you mean okta?'],
    ['gitlab.com', 'types are microsoft, microsoft-refresh, google, okta, gitlab, twitter, custom'],
    ['__proto__', 'types are microsoft, microsoft-refresh, google, okta, gitlab, twitter, custom'],
  ])('R1.7 %j is no type', (type, hint) => {
    const issues = faultsOf(() => readAcme({ ...samples.custom, type }));
    expect(issues[0]).toMatchObject({ variable: 'acme.type', hint });
    expect(issues[0]?.message).toContain(type.trim());
  });

  it('D16 a misspelt type does not hide the other issues', () => {
    const issues = faultsOf(() => readAcme({ type: 'Google', client_id: 'x', options: { timeout: 'soon' } }));
    expect(issues.map(({ variable }) => variable)).toEqual([
      'acme.type',
      'acme.options.timeout',
      'acme.client_secret',
      'acme.refresh_token',
    ]);
  });

  it('of a type that is only guessed, no issues are told that depend on it', () => {
    const fields = { type: 'microsft', client_id: 'x', scope: ['a', ['b']], options: { timeout: 'soon' } };
    const issues = faultsOf(() => readAcme(fields));
    expect(issues.map(({ variable }) => variable)).toEqual(['acme.scope', 'acme.type', 'acme.options.timeout']);
  });

  it.each([
    ['graf.type: microsoft', 'graf.type is there: did you mean graph.type?'],
    ['graph.Type: microsoft', 'graph.Type is there: did you mean graph.type?'],
    ['graph.typ: microsoft', 'graph.typ is there: did you mean graph.type?'],
    ['other: x', 'set it to one of microsoft, microsoft-refresh, google, okta, gitlab, twitter, custom'],
    // That is the type of a profile of its own.
    [
      'graf.type: microsoft\ngraf.client_id: b',
      'set it to one of microsoft, microsoft-refresh, google, okta, gitlab, twitter, custom',
    ],
    ['graf.typo: microsoft', 'set it to one of microsoft, microsoft-refresh, google, okta, gitlab, twitter, custom'],
  ])('D16 a profile without type, beside %j', (line, hint) => {
    expect(faultsOf(() => readFromYaml('graph', `${line}\ngraph.client_id: a\n`))).toMatchObject([
      { variable: 'graph.type', message: 'is missing', hint },
    ]);
  });

  it('D16 a type that cannot be read is not missing as well', () => {
    expect(faultsOf(() => readAcme({ type: '${env:TYPE}' }))).toMatchObject([
      { variable: 'acme.type', message: 'environment variable TYPE is not set' },
    ]);
    expect(readAcme({ ...samples.google, type: '${env:TYPE}' }, outsideWith({}, { TYPE: 'google' })).grant).toBe(
      'refresh_token',
    );
  });

  it('shows a type with control characters escaped', () => {
    const [fault] = faultsOf(() => readAcme({ type: 'x\u001b[31m\u202e' }));
    expect(fault?.message).toBe('is x\\u001b[31m\\u202e, which is no known type');
  });
});
