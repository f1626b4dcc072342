import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../src/errors.ts';
import { settle } from '../../support/ports.ts';
import { google, microsoft, STATE, startBrowserLogin, VERIFIER } from './browser-fixture.ts';

const custom = {
  type: 'custom',
  url: 'https://api.example.com/token',
  client_id: 'a',
  options: { authorization_url: 'https://id.example.com/authorize' },
};

describe('a login in a browser', () => {
  it('R4.4 opens the page, exchanges the code, and shows the result', async () => {
    const { seen, sent, outcome, redirect } = startBrowserLogin();
    await redirect(`code=4%2F0A&state=${STATE}`);
    expect((await outcome).token?.refreshToken?.reveal()).toBe('rt-value');
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

  it('waits for a redirect with its own state', async () => {
    const { seen, outcome, redirect } = startBrowserLogin();
    await settle();
    expect(seen.isExpected(`code=x&state=${STATE}`)).toBe(true);
    expect(seen.isExpected('code=x&state=other')).toBe(false);
    await redirect(`code=x&state=${STATE}`);
    await outcome;
  });

  it.each([
    ['of google', google, {}, { host: '127.0.0.1', port: 0, path: '/callback' }, 'http://127.0.0.1:4711/callback'],
    [
      'with --port',
      google,
      { port: 8912 },
      { host: '127.0.0.1', port: 8912, path: '/callback' },
      'http://127.0.0.1:8912/callback',
    ],
    ['of microsoft', microsoft, {}, { host: 'localhost', port: 0, path: '/' }, 'http://localhost:4711'],
    [
      'that is registered',
      { ...google, options: { redirect_uri: 'http://localhost:8080/a/b/' } },
      {},
      { host: 'localhost', port: 8080, path: '/a/b/' },
      'http://localhost:8080/a/b/',
    ],
    [
      'that is registered without a port',
      { ...google, options: { redirect_uri: 'http://localhost' } },
      { port: 80 },
      { host: 'localhost', port: 80, path: '/' },
      'http://localhost',
    ],
  ])('listens at the redirect URI %s', async (_, fields, options, target, redirectUri) => {
    const { seen, outcome, redirect } = startBrowserLogin({ fields, options });
    await redirect(`code=x&state=${STATE}`);
    await outcome;
    expect(seen.target).toEqual(target);
    expect(new URL(seen.opened ?? '').searchParams.get('redirect_uri')).toBe(redirectUri);
  });

  it('does not accept another port than the registered one', async () => {
    const fields = { ...google, options: { redirect_uri: 'http://localhost:8080/' } };
    const { error } = await startBrowserLogin({ fields, options: { port: 9 } }).outcome;
    expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining('svc.options.redirect_uri') });
  });

  it('requires an authorization URL', async () => {
    const fields = { type: 'custom', url: 'https://id.example.com/token', client_id: 'x' };
    const { error } = await startBrowserLogin({ fields }).outcome;
    expect(error?.code).toBe('profile_invalid');
    expect(error?.hint).toContain('svc.options.authorization_url');
  });

  it('ends after ten minutes', async () => {
    const { outcome, clock, seen } = startBrowserLogin();
    await settle();
    expect(clock.pending).toEqual([600_000]);
    await clock.advance(600_000);
    expect((await outcome).error).toMatchObject({ code: 'timeout' });
    expect(seen.closed).toBe(true);
  });

  it('reads no lines if a browser was opened', async () => {
    const lines = [`http://127.0.0.1:4711/callback?code=entered&state=${STATE}`];
    const { outcome, redirect, sent } = startBrowserLogin({ lines });
    await redirect(`code=redirected&state=${STATE}`);
    await outcome;
    expect(lines).toHaveLength(1);
    expect(new URLSearchParams(sent[0]?.body).get('code')).toBe('redirected');
  });

  it('does not reveal the code or the verifier in messages', async () => {
    const { outcome, redirect, log, seen } = startBrowserLogin({
      response: { error: 'invalid_request', error_description: `bad code the-code-itself and ${VERIFIER}` },
    });
    await redirect(`code=the-code-itself&state=${STATE}`);
    const output = JSON.stringify([(await outcome).error, log, seen.shown]);
    expect(output).not.toContain('the-code-itself');
    expect(output).not.toContain(VERIFIER);
  });

  it('that is aborted stops listening', async () => {
    const controller = new AbortController();
    const { outcome, seen } = startBrowserLogin({ signal: controller.signal });
    await settle();
    controller.abort();
    expect((await outcome).error?.code).toBe('aborted');
    expect(seen.closed).toBe(true);
  });

  it('that was aborted before stops listening', async () => {
    const { outcome, seen } = startBrowserLogin({ signal: AbortSignal.abort() });
    expect((await outcome).error?.code).toBe('aborted');
    expect(seen.closed).toBe(true);
  });

  it('removes its abort listener at the end', async () => {
    const { signal } = new AbortController();
    const { outcome, redirect } = startBrowserLogin({ signal });
    await redirect(`code=a&state=${STATE}`);
    await outcome;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('the page of a login', () => {
  const offline = { ...custom, scope: 'openid offline_access' };
  const document = {
    issuer: 'https://id.example.com',
    authorization_endpoint: 'https://id.example.com/authorize',
    prompt_values_supported: ['none', 'login', 'consent'],
  };

  it.each([
    ['has prompt=consent if the server supports it and offline_access is requested', offline, document, 'consent'],
    ['has the prompt of the profile instead', { ...offline, prompt: 'login' }, document, 'login'],
    ['has no prompt without offline_access', { ...offline, scope: 'openid' }, document, null],
    [
      'has no prompt if the server does not list consent',
      offline,
      { ...document, prompt_values_supported: ['none'] },
      null,
    ],
    ['has no prompt if the metadata cannot be read', offline, new Error('no network'), null],
    [
      'has no prompt at a built-in provider that needs none',
      { type: 'okta', tenant_id: 'acme', client_id: 'a' },
      {
        ...document,
        issuer: 'https://acme.okta.com/oauth2/default',
        authorization_endpoint: 'https://acme.okta.com/oauth2/default/v1/authorize',
      },
      null,
    ],
  ])('%s (OpenID Connect Core §11)', async (_, fields, published, expected) => {
    const { seen, outcome, redirect } = startBrowserLogin({ fields, document: published });
    await redirect(`code=x&state=${STATE}`);
    await outcome;
    expect(new URL(seen.opened ?? '').searchParams.get('prompt')).toBe(expected);
  });

  it('and the exchange of its code have several resources and audiences (RFC 8707 §2)', async () => {
    const fields = { ...custom, resource: ['https://a.example', 'https://b.example'], audience: ['x', 'y'] };
    const withQuery = { ...fields, options: { authorization_url: 'https://id.example.com/authorize?resource=old' } };
    const { seen, sent, outcome, redirect } = startBrowserLogin({ fields: withQuery });
    await redirect(`code=x&state=${STATE}`);
    await outcome;
    for (const parameters of [new URL(seen.opened ?? '').searchParams, new URLSearchParams(sent[0]?.body)]) {
      expect(parameters.getAll('resource')).toEqual(['https://a.example', 'https://b.example']);
      expect(parameters.getAll('audience')).toEqual(['x', 'y']);
    }
  });

  it('does not open if the login is aborted while the metadata is read, and no warning is shown', async () => {
    const controller = new AbortController();
    const document = new Promise((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
    const { seen, outcome } = startBrowserLogin({ fields: offline, document, signal: controller.signal });
    await settle();
    controller.abort();
    expect((await outcome).error?.code).toBe('aborted');
    expect(seen.opened).toBeUndefined();
    expect(seen.warnings).toEqual([]);
  });
});

describe('a redirect', () => {
  it.each([
    ['that the user caused with Deny', 'error=access_denied', 'provider_rejected', 'svc.client_id', 'denied'],
    ['with a policy error', 'error=admin_policy_enforced', 'provider_rejected', 'administrator', 'denied'],
    ['with a repeated parameter', 'code=a&code=b', 'response_unreadable', 'oauth-profile login svc', 'failed'],
    ['without a code', '', 'response_unreadable', 'oauth-profile login svc', 'failed'],
    [
      'of another server',
      'code=a&iss=https://evil.example',
      'response_unreadable',
      'oauth-profile login svc',
      'failed',
    ],
  ])('%s ends the login, and its code is not sent', async (_, query, code, hint, page) => {
    const { outcome, redirect, sent, seen } = startBrowserLogin();
    await redirect(`${query}&state=${STATE}`);
    expect((await outcome).error).toMatchObject({ code, hint: expect.stringContaining(hint) });
    expect(seen.pages[0]).toBe(page);
    expect(sent).toEqual([]);
    expect(seen.closed).toBe(true);
  });

  it.each([
    ['error=access_denied', google, { error: 'access_denied' }, /^google /],
    ['error=x&error_description=No+way', google, { error: 'x', description: 'No way' }, /^google .*No way/],
    ['error=x', custom, { error: 'x' }, /^id\.example\.com /],
  ])('with %s is reported with the provider’s own error', async (query, fields, provider, message) => {
    const { outcome, redirect } = startBrowserLogin({ fields });
    await redirect(`${query}&state=${STATE}`);
    expect((await outcome).error).toMatchObject({
      message: expect.stringMatching(message),
      provider: { status: 302, ...provider },
    });
  });

  const metadata = {
    issuer: 'https://accounts.google.com',
    authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    authorization_response_iss_parameter_supported: true,
  };
  const noMetadata = new Error('no network');
  it.each([
    ['accepted with the expected issuer', metadata, '&iss=https://accounts.google.com', undefined],
    ['rejected without an issuer that the metadata announces', metadata, '', 'response_unreadable'],
    [
      'accepted without an issuer that the metadata does not announce',
      { ...metadata, authorization_response_iss_parameter_supported: false },
      '',
      undefined,
    ],
    [
      'rejected with another issuer on the same host',
      metadata,
      '&iss=https://accounts.google.com/x',
      'response_unreadable',
    ],
    ['accepted without an issuer if there is no metadata', noMetadata, '', undefined],
    [
      'accepted with the host of the page as issuer if there is no metadata',
      noMetadata,
      '&iss=https://accounts.google.com',
      undefined,
    ],
  ])('is %s (RFC 9207)', async (_, document, issuer, code) => {
    const { outcome, redirect } = startBrowserLogin({ document });
    await redirect(`code=a&state=${STATE}${issuer}`);
    expect((await outcome).error?.code).toBe(code);
  });

  it.each([
    ['https://id.example.com', undefined],
    ['https://api.example.com', undefined],
    ['https://www.example.com', 'response_unreadable'],
  ])(
    'without metadata must have the host of the page or of the token URL as issuer (RFC 9207): %s',
    async (issuer, code) => {
      const { outcome, redirect } = startBrowserLogin({ fields: custom });
      await redirect(`code=a&state=${STATE}&iss=${issuer}`);
      expect((await outcome).error?.code).toBe(code);
    },
  );

  it('is accepted without metadata; the failure is shown while the login waits', async () => {
    const failure = new TransportError('connection_failed', 'connection refused', { sent: false, hint: 'try later' });
    const { outcome, redirect, seen } = startBrowserLogin({ document: failure });
    await settle();
    expect(seen.warnings).toEqual([expect.stringMatching(/accounts\.google\.com: connection refused; .*; try later$/)]);
    await redirect(`code=a&state=${STATE}`);
    expect((await outcome).error).toBeUndefined();
  });
});

describe('the exchange of a code', () => {
  it.each([
    ['invalid_grant', { error: 'invalid_grant' }, 'oauth-profile login svc'],
    ['invalid_client', { error: 'invalid_client' }, 'svc.client_secret'],
    ['redirect_uri_mismatch', { error: 'redirect_uri_mismatch' }, 'svc.options.redirect_uri'],
  ])('that ends with %s has a hint and a page for the user', async (_, response, hint) => {
    const { outcome, redirect, seen } = startBrowserLogin({ response });
    await redirect(`code=a&state=${STATE}`);
    const { error } = await outcome;
    expect(error?.code).toBe('provider_rejected');
    expect(error?.hint).toContain(hint);
    expect(seen.pages[0]).toBe('failed');
  });

  it('is retried if it was not sent', async () => {
    const { outcome, redirect, sent, clock } = startBrowserLogin({
      response: new TransportError('connection_failed', 'no connection', { sent: false }),
    });
    await redirect(`code=a&state=${STATE}`);
    for (let attempt = 0; attempt < 3; attempt++) {
      await settle();
      await clock.advance(1_000);
    }
    expect((await outcome).error?.code).toBe('connection_failed');
    expect(sent).toHaveLength(3);
  });

  it.each([
    ['a lost response', new TransportError('timeout', 'no response', { sent: true }), 'timeout'],
    ['HTTP 429', { status: 429 }, 'rate_limited'],
    ['HTTP 503', { status: 503 }, 'provider_unavailable'],
  ])('is not retried after %s', async (_, response, code) => {
    const { outcome, redirect, sent } = startBrowserLogin({ response });
    await redirect(`code=a&state=${STATE}`);
    expect((await outcome).error?.code).toBe(code);
    expect(sent).toHaveLength(1);
  });
});
