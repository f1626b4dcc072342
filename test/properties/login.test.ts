import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { compareMetadata } from '../../src/flows/diagnose/compare-metadata.ts';
import { listenForRedirect } from '../../src/interactive/loopback-server.ts';
import { matchesState, parseAuthorizationResponse } from '../../src/oauth/login/authorization.ts';
import { findIssuerMismatch, parseMetadata } from '../../src/oauth/metadata.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { hasControls } from '../../src/redaction/sanitize.ts';
import { profileOf } from '../support/profiles.ts';
import { callTwice, itHolds, printedForms } from './mutated-input.ts';

const STATE = 'st4te-0f-ours';
const CODE = 'c4n4ry0fTh3M1ne';

const redirectTokens = [
  'state=',
  STATE,
  '&',
  '=',
  '?',
  '#',
  'code=',
  CODE,
  'iss=',
  'error=',
  'error_description=',
  '%26',
  '+',
  '%00',
];

itHolds('accepts a redirect only with the expected state', {
  seeds: [
    `code=${CODE}&state=${STATE}&iss=https%3A%2F%2Fa.example`,
    `error=access_denied&error_description=no+thanks&state=${STATE}`,
    `state=${STATE}&code=`,
  ],
  tokens: redirectTokens,
  check(input) {
    const { value: ours } = callTwice(() => matchesState(input, STATE));
    const states = [...new URLSearchParams(input)].filter(([name]) => name === 'state');
    assert.equal(ours, states.length === 1 && states[0]?.[1] === STATE, 'the state is not compared');
    const { value } = callTwice(() => parseAuthorizationResponse(input));
    assert.ok(value !== undefined);
    switch (value.kind) {
      case 'code':
        assert.ok(value.code.length > 0, 'an empty code is exchanged');
        assert.ok(!printedForms({ ...value, issuer: '' }).includes(CODE), 'a code is printed');
        break;
      case 'error':
        assert.ok(!hasControls(value.error + (value.description ?? '')), 'an error contains control characters');
        break;
      case 'invalid':
        assert.ok(!hasControls(value.reason) && value.reason.length < 100);
    }
  },
});

/** Requests that other programs on this machine can send to the loopback server. */
itHolds('accepts a redirect only for its own host and state', {
  runs: 15,
  seeds: [
    `GET /callback?code=${CODE}&state=${STATE} HTTP/1.1\r\nHost: 127.0.0.1:@\r\n\r\n`,
    'GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:@\r\nConnection: close\r\n\r\n',
    'POST /callback HTTP/1.1\r\nHost: 127.0.0.1:@\r\nContent-Length: 3\r\nConnection: close\r\n\r\na=b',
    'GET http://evil/callback?state=x HTTP/1.1\r\nHost: evil\r\n\r\n',
  ],
  tokens: [
    ...redirectTokens,
    ...[
      'GET ',
      'POST ',
      '/callback',
      ' HTTP/1.1',
      '\r\n',
      'Host: 127.0.0.1:@',
      'Host: evil',
      'Expect: 100-continue\r\n',
    ],
    ...['Transfer-Encoding: chunked\r\n', 'Upgrade: h2c\r\n', 'CONNECT ', 'Content-Length: 9\r\n', '\r\n\r\n'],
  ],
  async check(input) {
    let accepted: string | undefined;
    const waiting = await listenForRedirect({ host: '127.0.0.1', port: 0, path: '/callback' }, (query) => {
      const ours = matchesState(query, STATE);
      if (ours) accepted = query;
      return ours;
    });
    let taken: string | undefined;
    const came = waiting.redirect.then(({ query, show }) => {
      taken = query;
      show('signed-in');
    });
    const own = String(waiting.port);
    const text = input.replaceAll('@', own);
    const response = await send(waiting.port, text);
    if (accepted !== undefined) await came;
    await waiting.close();
    assert.ok(!response.includes(CODE) && !response.includes(STATE), 'a page repeats the request');
    assert.match(response, /^(?:HTTP\/1\.1 \d{3} |$)/, 'the response is not HTTP');
    if (taken !== undefined) {
      const named = text.match(/^host:.*$/gim) ?? [];
      assert.ok(
        new RegExp(`^host:\\s*127\\.0\\.0\\.1:${own}\\s*$`, 'i').test(named[0] ?? ''),
        'a redirect for another host is accepted',
      );
      assert.ok(matchesState(taken, STATE), 'a redirect with another state is accepted');
    }
  },
});

/** Sends a request, ends the stream, and returns the response. */
function send(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let response = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(text)));
    socket.setEncoding('latin1').on('data', (piece) => {
      response += piece;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(response));
  });
}

const ours = { authorizationUrl: new URL('https://a.example/authorize'), tokenUrl: new URL('https://a.example/token') };
const metadataProfiles = [
  {
    type: 'custom',
    url: ours.tokenUrl.href,
    grant_type: 'client_credentials',
    'options.authorization_url': ours.authorizationUrl.href,
  },
  {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'id',
    client_secret: 's',
    refresh_token: 'r',
    scope: 'openid offline_access',
  },
  { type: 'google', client_id: 'id', client_secret: 's', refresh_token: 'r', scope: 'a b' },
].map(profileOf);

itHolds('uses metadata only for its own origin', {
  seeds: [
    JSON.stringify({
      issuer: 'https://a.example',
      authorization_endpoint: ours.authorizationUrl.href,
      token_endpoint: ours.tokenUrl.href,
      revocation_endpoint: 'https://a.example/revoke',
      device_authorization_endpoint: 'https://a.example/device',
      authorization_response_iss_parameter_supported: true,
      grant_types_supported: ['client_credentials', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['openid', 'offline_access', 'a'],
      mtls_endpoint_aliases: { token_endpoint: 'https://mtls.a.example/token' },
    }),
    '{"issuer":"https://a.example/{tenantid}/v2.0","authorization_endpoint":"https://a.example/authorize","token_endpoint":"x"}',
  ],
  tokens: [
    '"issuer":',
    '"token_endpoint":',
    '"scopes_supported":',
    'https://a.example',
    '{tenantid}',
    'none',
    '[]',
    'null',
  ],
  check(input) {
    let document: unknown;
    try {
      document = JSON.parse(input);
    } catch {
      return;
    }
    const location = new URL('https://a.example/.well-known/openid-configuration');
    const { value: known } = callTwice(() => parseMetadata(document, location, metadataProfiles[0] as Profile));
    if (known !== undefined) {
      assert.equal(new URL(String(known.issuer)).origin, location.origin, 'the issuer has another origin');
      assert.equal(
        known.revocationUrl?.origin ?? location.origin,
        location.origin,
        'the revocation endpoint has another origin',
      );
    }
    callTwice(() => findIssuerMismatch(input.slice(0, 60), known, [location]));
    if (typeof document !== 'object' || document === null) return;
    for (const profile of metadataProfiles) {
      const { value: findings = [] } = callTwice(() => compareMetadata(profile, document as Record<string, unknown>));
      for (const { message, hint = '' } of findings) {
        assert.ok(message.length + hint.length < 2_000, 'a finding quotes the whole document');
        assert.ok(!hasControls(message + hint), 'a finding contains control characters');
      }
    }
  },
});
