import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type OAuthProfileError, TransportError } from '../../../src/errors.ts';
import { type BrowserLoginOptions, loginWithAuthorizationCode } from '../../../src/flows/login/authorization-code.ts';
import type { LoginPorts, Redirect, RedirectTarget, WireRequest } from '../../../src/ports.ts';
import { fakePorts } from '../../support/fake-ports.ts';
import { ManualClock, settle } from '../../support/manual-clock.ts';
import { loginProfileOf } from '../../support/profile-of.ts';

const drive = { type: 'google', client_id: 'desk', client_secret: 'GOCSPX-secret', scope: 'email' };
const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read' };
const granted = { access_token: 'at-value', refresh_token: 'rt-value', token_type: 'Bearer', expires_in: 3600 };

interface Setting {
  readonly fields?: object;
  readonly wish?: Partial<BrowserLoginOptions>;
  readonly answer?: object | Error;
  readonly problem?: string;
  readonly lines?: string[];
  readonly document?: unknown;
  readonly signal?: AbortSignal;
}

/** A sign-in whose browser is a function. */
function createTokenFixture(setting: Setting = {}) {
  const { fields = drive, wish, answer = granted, problem, lines, document, signal } = setting;
  const clock = new ManualClock();
  const sent: WireRequest[] = [];
  const log: string[] = [];
  let counter = 0;
  let arrive: (redirect: Redirect) => void = () => {};
  const seen = {
    address: undefined as RedirectTarget | undefined,
    isAwaited: (_: string) => false,
    opened: undefined as string | undefined,
    pages: [] as string[],
    closed: false,
    shown: [] as [string, string | undefined][],
    mistakes: [] as string[],
  };
  const outside: LoginPorts = {
    randomString: () => `random-text-number-${++counter}`,
    sha256: (text) => createHash('sha256').update(text.reveal()).digest('base64url'),
    listen: async (address, isAwaited) => {
      seen.address = address;
      seen.isAwaited = isAwaited;
      return {
        port: address.port || 4711,
        redirect: new Promise((resolve) => {
          arrive = resolve;
        }),
        close: async () => {
          seen.closed = true;
        },
      };
    },
    openBrowser: async (address) => {
      seen.opened = address;
      return problem;
    },
    pageUrl: ({ href }) => href,
    readDocument: async () => {
      if (document instanceof Error) throw document;
      return document;
    },
  };
  const ports = fakePorts({
    clock: clock as never,
    log: (line) => void log.push(line),
    send: async (request) => {
      sent.push(request);
      if (answer instanceof Error) throw answer;
      return { status: 'error' in answer ? 400 : 200, headers: {}, body: JSON.stringify(answer) };
    },
  });
  const person = {
    readLine: lines && (async () => lines.shift() ?? (await new Promise<string>(() => {}))),
    showUrl: (address: string, why: string | undefined) => void seen.shown.push([address, why]),
    showMistake: (text: string) => void seen.mistakes.push(text),
  };
  const outcome = loginWithAuthorizationCode(
    loginProfileOf(fields as Record<string, unknown>),
    { port: undefined, open: true, ...wish },
    ports,
    outside,
    person,
    signal,
  ).then(
    (reply) => ({ reply, error: undefined }),
    (error: OAuthProfileError) => ({ reply: undefined, error }),
  );
  const comeBack = async (query: string): Promise<void> => {
    await settle();
    arrive({ query, show: (page) => void seen.pages.push(page) });
  };
  return { seen, sent, clock, log, outcome, comeBack };
}

const STATE = 'random-text-number-1';
const VERIFIER = 'random-text-number-2';

describe('a sign-in with a browser', () => {
  it('R4.4 opens the page, takes the code, exchanges it, and tells the person', async () => {
    const { seen, sent, outcome, comeBack } = createTokenFixture();
    await comeBack(`code=4%2F0A&state=${STATE}`);
    expect((await outcome).reply?.refreshToken.reveal()).toBe('rt-value');
    const query = new URL(seen.opened ?? '').searchParams;
    expect(query.get('redirect_uri')).toBe('http://127.0.0.1:4711/callback');
    expect(query.get('code_challenge')).toBe(createHash('sha256').update(VERIFIER).digest('base64url'));
    expect(query.get('state')).toBe(STATE);
    const form = new URLSearchParams(sent[0]?.body);
    expect(form.get('code')).toBe('4/0A');
    expect(form.get('code_verifier')).toBe(VERIFIER);
    expect(form.get('redirect_uri')).toBe(query.get('redirect_uri'));
    expect(seen.pages[0]).toBe('signed-in');
    expect(seen.closed).toBe(true);
  });

  it('waits for its own state alone', async () => {
    const { seen, outcome, comeBack } = createTokenFixture();
    await settle();
    expect(seen.isAwaited(`code=x&state=${STATE}`)).toBe(true);
    expect(seen.isAwaited('code=x&state=other')).toBe(false);
    await comeBack(`code=x&state=${STATE}`);
    await outcome;
  });

  it.each([
    ['google', drive, {}, { host: '127.0.0.1', port: 0, path: '/callback' }, 'http://127.0.0.1:4711/callback'],
    [
      'google with --port',
      drive,
      { port: 8912 },
      { host: '127.0.0.1', port: 8912, path: '/callback' },
      'http://127.0.0.1:8912/callback',
    ],
    ['microsoft', graph, {}, { host: 'localhost', port: 0, path: '/' }, 'http://localhost:4711'],
    [
      'a registered redirect',
      { ...drive, options: { redirect_uri: 'http://localhost:8080/a/b/' } },
      {},
      { host: 'localhost', port: 8080, path: '/a/b/' },
      'http://localhost:8080/a/b/',
    ],
    [
      'a registered redirect without a port',
      { ...drive, options: { redirect_uri: 'http://localhost' } },
      { port: 80 },
      { host: 'localhost', port: 80, path: '/' },
      'http://localhost',
    ],
  ])('%s comes back to its address', async (_, fields, wish, address, redirectUri) => {
    const { seen, outcome, comeBack } = createTokenFixture({ fields, wish });
    await comeBack(`code=x&state=${STATE}`);
    await outcome;
    expect(seen.address).toEqual(address);
    expect(new URL(seen.opened ?? '').searchParams.get('redirect_uri')).toBe(redirectUri);
  });

  it('refuses a port that is not the registered one', async () => {
    const fields = { ...drive, options: { redirect_uri: 'http://localhost:8080/' } };
    expect((await createTokenFixture({ fields, wish: { port: 9 } }).outcome).error).toMatchObject({
      code: 'usage',
      message: '--port 9 is not the port of svc.options.redirect_uri',
      hint: 'leave one of the two out',
    });
  });

  it.each([
    [
      'a person who refuses',
      `error=access_denied&state=${STATE}`,
      'provider_rejected',
      /add the account to the app svc\.client_id.*run: oauth-profile login svc/,
      'refused',
    ],
    ['a policy', `error=admin_policy_enforced&state=${STATE}`, 'provider_rejected', /ask its administrator/, 'refused'],
    [
      'a repeated parameter',
      `code=a&code=b&state=${STATE}`,
      'response_unreadable',
      /run: oauth-profile login svc/,
      'failed',
    ],
    ['no code', `state=${STATE}`, 'response_unreadable', /run: oauth-profile login svc/, 'failed'],
    [
      'another server',
      `code=a&state=${STATE}&iss=https://evil.example`,
      'response_unreadable',
      /nothing was sent on/,
      'failed',
    ],
  ])('ends at %s, sends nothing, and tells the person', async (_, query, code, hint, page) => {
    const { outcome, comeBack, sent, seen } = createTokenFixture();
    await comeBack(query);
    expect((await outcome).error).toMatchObject({ code, hint: expect.stringMatching(hint) });
    expect(seen.pages[0]).toBe(page);
    expect(sent).toEqual([]);
    expect(seen.closed).toBe(true);
  });

  const metadata = {
    issuer: 'https://accounts.google.com',
    authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    authorization_response_iss_parameter_supported: true,
  };
  it.each([
    ['is named', metadata, '&iss=https://accounts.google.com', undefined],
    ['is promised and missing', metadata, '', 'response_unreadable'],
    [
      'is missing and not promised',
      { ...metadata, authorization_response_iss_parameter_supported: false },
      '',
      undefined,
    ],
    [
      'is named wrongly, though on the same host',
      metadata,
      '&iss=https://accounts.google.com/x',
      'response_unreadable',
    ],
    ['is missing, and nothing could be read of it', new Error('no network'), '', undefined],
    [
      'is the one that was asked, as far as can be read',
      new Error('no network'),
      '&iss=https://accounts.google.com',
      undefined,
    ],
  ])('RFC 9207: the issuer %s', async (_, document, more, code) => {
    const { outcome, comeBack } = createTokenFixture({ document });
    await comeBack(`code=a&state=${STATE}${more}`);
    expect((await outcome).error?.code).toBe(code);
  });

  it.each([
    ['https://id.example.com', undefined],
    ['https://api.example.com', undefined],
    ['https://www.example.com', 'response_unreadable'],
  ])('RFC 9207: where nothing is published, the issuer is one that is asked: %s', async (issuer, code) => {
    const options = { authorization_url: 'https://id.example.com/authorize' };
    const fields = { type: 'custom', url: 'https://api.example.com/token', client_id: 'a', options };
    const { outcome, comeBack } = createTokenFixture({ fields });
    await comeBack(`code=a&state=${STATE}&iss=${issuer}`);
    expect((await outcome).error?.code).toBe(code);
  });

  it.each([
    ['invalid_grant', { error: 'invalid_grant' }, /to get a new one, run: oauth-profile login svc/],
    ['invalid_client', { error: 'invalid_client' }, /svc\.client_secret/],
    ['redirect_uri_mismatch', { error: 'redirect_uri_mismatch' }, /svc\.options\.redirect_uri/],
    ['no refresh token', { access_token: 'only' }, /Google sends one with a consent only/],
  ])('says what to do when the exchange ends with %s', async (_, answer, hint) => {
    const { outcome, comeBack, seen } = createTokenFixture({ answer });
    await comeBack(`code=a&state=${STATE}`);
    expect((await outcome).error?.hint).toMatch(hint);
    expect(seen.pages[0]).toBe('failed');
  });

  it.each([
    ['code=a&code=b', 'the redirect cannot be used: it names code twice'],
    ['', 'the redirect cannot be used: it brings neither a code nor an error'],
    ['code=a&iss=https://evil.example', 'the redirect comes from another server than the one that was asked'],
  ])('says why a redirect is of no use: %s', async (query, message) => {
    const { outcome, comeBack } = createTokenFixture();
    await comeBack(`${query}&state=${STATE}`);
    expect((await outcome).error).toMatchObject({
      message,
      hint: 'nothing was sent on; to try again, run: oauth-profile login svc',
    });
  });

  it.each([
    ['error=access_denied', drive, 'google refused profile svc (access_denied)'],
    ['error=x&error_description=No+way', drive, 'google refused profile svc (x: No way)'],
    [
      'error=x',
      {
        type: 'custom',
        url: 'https://api.example.com/token',
        client_id: 'a',
        options: { authorization_url: 'https://id.example.com/authorize' },
      },
      'id.example.com refused profile svc (x)',
    ],
  ])('tells the own words of a cachedError: %s', async (query, fields, message) => {
    const { outcome, comeBack } = createTokenFixture({ fields });
    await comeBack(`${query}&state=${STATE}`);
    expect((await outcome).error).toMatchObject({ message, provider: { status: 302 } });
  });

  it('says where nothing is published', async () => {
    const { outcome, comeBack, log } = createTokenFixture({ document: new Error('no network') });
    await comeBack(`code=a&state=${STATE}`);
    await outcome;
    expect(log).toEqual([
      'nothing is published at https://accounts.google.com/.well-known/openid-configuration: no network',
    ]);
  });

  it('is asked again where its exchange never left', async () => {
    const { outcome, comeBack, sent, clock } = createTokenFixture({
      answer: new TransportError('connection_failed', 'gone', { sent: false }),
    });
    await comeBack(`code=a&state=${STATE}`);
    for (let attempt = 0; attempt < 3; attempt++) {
      await settle();
      await clock.advance(1_000);
    }
    expect((await outcome).error?.code).toBe('connection_failed');
    expect(sent).toHaveLength(3);
  });

  it('sends a code once: what is lost after sending is not repeated', async () => {
    const { outcome, comeBack, sent } = createTokenFixture({
      answer: new TransportError('timeout', 'gone', { sent: true }),
    });
    await comeBack(`code=a&state=${STATE}`);
    expect((await outcome).error?.code).toBe('timeout');
    expect(sent).toHaveLength(1);
  });

  it('gives up after ten minutes, as when the window was closed', async () => {
    const { outcome, clock, seen } = createTokenFixture();
    await settle();
    expect(clock.waiting).toEqual([600_000]);
    await clock.advance(600_000);
    expect((await outcome).error).toMatchObject({
      code: 'timeout',
      message: 'nobody signed in within 10 minutes',
      hint: 'run the command again; if the window was closed, nothing was granted',
    });
    expect(seen.closed).toBe(true);
  });

  it('reads no line where a browser was opened', async () => {
    const lines = [`http://127.0.0.1:4711/callback?code=pasted&state=${STATE}`];
    const { outcome, comeBack, sent } = createTokenFixture({ lines });
    await comeBack(`code=brought&state=${STATE}`);
    await outcome;
    expect(lines).toHaveLength(1);
    expect(new URLSearchParams(sent[0]?.body).get('code')).toBe('brought');
  });

  it('lets go of the signal when it is over', async () => {
    const { signal } = new AbortController();
    const { outcome, comeBack } = createTokenFixture({ signal });
    await comeBack(`code=a&state=${STATE}`);
    await outcome;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('leaves no listener behind when the person presses Ctrl-C', async () => {
    const controller = new AbortController();
    const { outcome, seen } = createTokenFixture({ signal: controller.signal });
    await settle();
    controller.abort();
    expect((await outcome).error?.code).toBe('aborted');
    expect(seen.closed).toBe(true);
  });

  it('does not begin when Ctrl-C came before', async () => {
    const { outcome, seen } = createTokenFixture({ signal: AbortSignal.abort() });
    expect((await outcome).error?.code).toBe('aborted');
    expect(seen.closed).toBe(true);
  });

  it('keeps code and verifier out of every message', async () => {
    const { outcome, comeBack, log, seen } = createTokenFixture({
      answer: { error: 'invalid_request', error_description: `bad code the-code-itself and ${VERIFIER}` },
    });
    await comeBack(`code=the-code-itself&state=${STATE}`);
    const text = JSON.stringify([(await outcome).error, log, seen.shown]);
    expect(text).not.toContain('the-code-itself');
    expect(text).not.toContain(VERIFIER);
  });
});

describe('where no browser can be opened', () => {
  const problem = 'this is an SSH session';
  const right = `http://127.0.0.1:4711/callback?code=pasted&state=${STATE}`;

  it('the address is shown, and the redirect can be pasted', async () => {
    const { outcome, seen, sent } = createTokenFixture({ problem, lines: [` ${right} `] });
    expect((await outcome).reply).toBeDefined();
    expect(seen.shown).toEqual([[seen.opened, problem]]);
    expect(new URLSearchParams(sent[0]?.body).get('code')).toBe('pasted');
  });

  it.each([
    ['nonsense', 'hello'],
    ['the code alone', 'pasted'],
    ['the address alone', 'http://127.0.0.1:4711/callback'],
    ['a password', right.replace('127', ':me@127')],
    ['another path', right.replace('/callback', '/other')],
    ['another port', right.replace('4711', '4712')],
    ['another host', right.replace('127.0.0.1', 'localhost')],
    ['another scheme', right.replace('http:', 'https:')],
    ['a user', right.replace('127', 'me@127')],
    ['far too much', `${right}&x=${'x'.repeat(20_000)}`],
  ])('%s is refused, and the next line is read', async (_, wrong) => {
    const { outcome, seen, sent } = createTokenFixture({ problem, lines: ['', wrong, right] });
    expect((await outcome).reply).toBeDefined();
    expect(seen.mistakes).toEqual(['that is not an address that begins with http://127.0.0.1:4711/callback?']);
    expect(sent).toHaveLength(1);
  });

  it('an empty line is no mistake, and blanks are none', async () => {
    const { outcome, seen } = createTokenFixture({ problem, lines: ['', '  \t', right] });
    expect((await outcome).reply).toBeDefined();
    expect(seen.mistakes).toEqual([]);
  });

  it.each([
    [16_384, 0],
    [16_385, 1],
  ])('a redirect of %i characters draws %i complaints', async (length, complaints) => {
    const { outcome, seen } = createTokenFixture({ problem, lines: [`${right}&x=`.padEnd(length, 'x'), right] });
    expect((await outcome).reply).toBeDefined();
    expect(seen.mistakes).toHaveLength(complaints);
  });

  it.each([
    ['another state', right.replace(STATE, 'other')],
    ['a state that is repeated', `${right}&state=${STATE}`],
  ])('%s is of another sign-in, and the next line is read', async (_, wrong) => {
    const { outcome, seen, sent } = createTokenFixture({ problem, lines: [wrong, right] });
    expect((await outcome).reply).toBeDefined();
    expect(seen.mistakes).toEqual(['that is the address of another sign-in: its state is not ours']);
    expect(sent).toHaveLength(1);
  });

  it('a wrong issuer is refused in a pasted redirect too', async () => {
    const { outcome } = createTokenFixture({ problem, lines: [`${right}&iss=https://evil.example`] });
    expect((await outcome).error?.code).toBe('response_unreadable');
  });

  it('a browser may come back all the same', async () => {
    const { outcome, comeBack } = createTokenFixture({ problem, lines: [] });
    await comeBack(`code=a&state=${STATE}`);
    expect((await outcome).reply).toBeDefined();
  });

  it('nobody is waited for where there is no terminal', async () => {
    const { outcome, seen } = createTokenFixture({ problem, fields: { type: 'okta', tenant_id: 'a', client_id: 'b' } });
    expect((await outcome).error).toMatchObject({
      code: 'login_required',
      message: `no browser can be opened: ${problem}; and there is no terminal to ask at`,
      hint: 'run: oauth-profile login svc --device; or run in a terminal: oauth-profile login svc; or open the address yourself: oauth-profile login svc --no-open',
    });
    expect(seen.closed).toBe(true);
    expect(seen.shown).toEqual([]);
  });

  it('no device code is advised to who has none', async () => {
    expect((await createTokenFixture({ problem }).outcome).error?.hint).toBe(
      'run in a terminal: oauth-profile login svc; or open the address yourself: oauth-profile login svc --no-open',
    );
  });

  it('--no-open waits for a browser that somebody else opens', async () => {
    const { outcome, seen, comeBack } = createTokenFixture({ wish: { open: false } });
    await comeBack(`code=a&state=${STATE}`);
    expect((await outcome).reply).toBeDefined();
    expect(seen.opened).toBeUndefined();
    expect(seen.shown).toEqual([[expect.stringContaining(STATE), 'you open it yourself']]);
  });
});

it('a profile without a page for people is told so', async () => {
  const fields = { type: 'custom', url: 'https://id.example.com/token', client_id: 'x' };
  expect((await createTokenFixture({ fields }).outcome).error).toMatchObject({
    code: 'profile_invalid',
    message: 'svc has no address where people sign in',
    hint: 'set svc.options.authorization_url, or use --device',
  });
});
