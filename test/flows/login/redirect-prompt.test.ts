import { describe, expect, it } from 'vitest';
import { STATE, startBrowserLogin } from './browser-fixture.ts';

const problem = 'this is an SSH session';
const valid = `http://127.0.0.1:4711/callback?code=entered&state=${STATE}`;

describe('a login without a browser', () => {
  it('shows the URL and why no browser was opened', async () => {
    const { outcome, seen, redirect } = startBrowserLogin({ problem, lines: [] });
    await redirect(`code=a&state=${STATE}`);
    expect((await outcome).token).toBeDefined();
    expect(seen.shown).toEqual([[seen.opened, problem]]);
  });

  it('with --no-open waits for the browser of the user', async () => {
    const { outcome, seen, redirect } = startBrowserLogin({ options: { open: false } });
    await redirect(`code=a&state=${STATE}`);
    expect((await outcome).token).toBeDefined();
    expect(seen.opened).toBeUndefined();
    expect(seen.shown).toEqual([[expect.stringContaining(STATE), expect.stringContaining('--no-open')]]);
  });

  it('and without a terminal fails at once, and suggests a device code', async () => {
    const fields = { type: 'okta', tenant_id: 'a', client_id: 'b' };
    const { outcome, seen } = startBrowserLogin({ problem, fields });
    const { error } = await outcome;
    expect(error).toMatchObject({ code: 'login_required', message: expect.stringContaining(problem) });
    for (const command of ['login svc --device', 'login svc;', 'login svc --no-open'])
      expect(error?.hint).toContain(`oauth-profile ${command}`);
    expect(seen.closed).toBe(true);
    expect(seen.shown).toEqual([]);
  });

  it('and without a terminal suggests no device code if the provider has none', async () => {
    const { error } = await startBrowserLogin({ problem }).outcome;
    expect(error?.hint).toContain('oauth-profile login svc --no-open');
    expect(error?.hint).not.toContain('--device');
  });
});

describe('a redirect URL that the user pastes', () => {
  it('is used like a redirect', async () => {
    const { outcome, sent } = startBrowserLogin({ problem, lines: [` ${valid} `] });
    expect((await outcome).token).toBeDefined();
    expect(new URLSearchParams(sent[0]?.body).get('code')).toBe('entered');
  });

  it.each([
    ['another text', 'hello'],
    ['the code alone', 'entered'],
    ['a URL without a query', 'http://127.0.0.1:4711/callback'],
    ['a password', valid.replace('127', ':me@127')],
    ['a user name', valid.replace('127', 'me@127')],
    ['another path', valid.replace('/callback', '/other')],
    ['another port', valid.replace('4711', '4712')],
    ['another host', valid.replace('127.0.0.1', 'localhost')],
    ['another scheme', valid.replace('http:', 'https:')],
    ['too many characters', `${valid}&x=${'x'.repeat(20_000)}`],
    ['another state', valid.replace(STATE, 'other')],
    ['a repeated state', `${valid}&state=${STATE}`],
  ])('is not accepted with %s, and the next line is read', async (_, invalid) => {
    const { outcome, seen, sent } = startBrowserLogin({ problem, lines: ['', invalid, valid] });
    expect((await outcome).token).toBeDefined();
    expect(seen.mistakes).toHaveLength(1);
    expect(sent).toHaveLength(1);
  });

  it('may follow empty lines', async () => {
    const { outcome, seen } = startBrowserLogin({ problem, lines: ['', '  \t', valid] });
    expect((await outcome).token).toBeDefined();
    expect(seen.mistakes).toEqual([]);
  });

  it.each([
    [16_384, 0],
    [16_385, 1],
  ])('of %i characters is %i mistakes', async (length, mistakes) => {
    const { outcome, seen } = startBrowserLogin({ problem, lines: [`${valid}&x=`.padEnd(length, 'x'), valid] });
    expect((await outcome).token).toBeDefined();
    expect(seen.mistakes).toHaveLength(mistakes);
  });

  it('with another issuer ends the login', async () => {
    const { outcome, sent } = startBrowserLogin({ problem, lines: [`${valid}&iss=https://evil.example`] });
    expect((await outcome).error?.code).toBe('response_unreadable');
    expect(sent).toEqual([]);
  });
});
