import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { compareMetadata } from '../../../src/flows/diagnose/compare-metadata.ts';
import { listenForRedirect } from '../../../src/interactive/loopback-server.ts';
import { matchesState, parseAuthorizationResponse } from '../../../src/oauth/authorization.ts';
import { findIssuerMismatch, parseMetadata } from '../../../src/oauth/metadata.ts';
import { hasControls } from '../../../src/redaction/printable.ts';
import { profileOf } from '../../support/profile-of.ts';
import { attempt, printed, type Target } from '../target.ts';

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

const redirect: Target = {
  name: 'redirect',
  seeds: [
    `code=${CODE}&state=${STATE}&iss=https%3A%2F%2Fa.example`,
    `error=access_denied&error_description=no+thanks&state=${STATE}`,
    `state=${STATE}&code=`,
  ],
  tokens: redirectTokens,
  check(input) {
    const { value: ours } = attempt(() => matchesState(input, STATE));
    const states = [...new URLSearchParams(input)].filter(([name]) => name === 'state');
    assert.equal(ours, states.length === 1 && states[0]?.[1] === STATE, 'a redirect is taken for ours');
    const { value } = attempt(() => parseAuthorizationResponse(input));
    assert.ok(value !== undefined);
    switch (value.kind) {
      case 'code':
        assert.ok(value.code.length > 0, 'an empty code is exchanged');
        assert.ok(!printed({ ...value, issuer: '' }).includes(CODE), 'a code is shown');
        break;
      case 'error':
        assert.ok(!hasControls(value.error + (value.description ?? '')), 'an error could steer a terminal');
        break;
      case 'invalid':
        assert.ok(!hasControls(value.reason) && value.reason.length < 100);
    }
  },
};

/** What a stranger on this machine may send to the port that waits for the browser. */
const listener: Target = {
  name: 'loopback-listener',
  uncounted: true,
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
    let asked: string | undefined;
    const waiting = await listenForRedirect({ host: '127.0.0.1', port: 0, path: '/callback' }, (query) => {
      const ours = matchesState(query, STATE);
      if (ours) asked = query;
      return ours;
    });
    let taken: string | undefined;
    const came = waiting.redirect.then(({ query, show }) => {
      taken = query;
      show('signed-in');
    });
    const own = String(waiting.port);
    const text = input.replaceAll('@', own);
    const answer = await say(waiting.port, text);
    if (asked !== undefined) await came;
    await waiting.close();
    assert.ok(!answer.includes(CODE) && !answer.includes(STATE), 'a page repeats what was sent');
    assert.match(answer, /^(?:HTTP\/1\.1 \d{3} |$)/, 'the answer is no HTTP');
    if (taken !== undefined) {
      const named = text.match(/^host:.*$/gim) ?? [];
      assert.ok(
        new RegExp(`^host:\\s*127\\.0\\.0\\.1:${own}\\s*$`, 'i').test(named[0] ?? ''),
        'a foreign host is served',
      );
      assert.ok(matchesState(taken, STATE), 'a foreign redirect is taken');
    }
  },
};

/** Sends everything at once and reads until the end; what waits for more is told that nothing comes. */
function say(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(text)));
    socket.setEncoding('latin1').on('data', (piece) => {
      answer += piece;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
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

const metadata: Target = {
  name: 'metadata',
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
    const { value: known } = attempt(() => parseMetadata(document, location, ours));
    if (known !== undefined) {
      assert.equal(new URL(known.issuer).origin, location.origin, 'another server speaks for this one');
      assert.equal(
        known.revocationUrl?.origin ?? location.origin,
        location.origin,
        'a token would be revoked elsewhere',
      );
    }
    attempt(() => findIssuerMismatch(input.slice(0, 60), known, [location]));
    if (typeof document !== 'object' || document === null) return;
    for (const profile of metadataProfiles) {
      const { value: findings = [] } = attempt(() => compareMetadata(profile, document as Record<string, unknown>));
      for (const { message, hint = '' } of findings) {
        assert.ok(message.length + hint.length < 2_000, 'a finding repeats a whole document');
        assert.ok(!hasControls(message + hint), 'a finding could steer a terminal');
      }
    }
  },
};

export const signInTargets: readonly Target[] = [redirect, listener, metadata];
