import assert from 'node:assert/strict';
import { type OAuthProfileError, ProviderError } from '../../src/errors.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import { parseBody } from '../../src/oauth/http-response.ts';
import { parseAccount } from '../../src/oauth/login/account.ts';
import { parseDeviceAuthorizationResponse } from '../../src/oauth/login/device.ts';
import { parseRetryAfter } from '../../src/oauth/retry-policy.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { findRefreshToken, parseTokenResponse } from '../../src/oauth/token-response.ts';
import { hasControls } from '../../src/redaction/sanitize.ts';
import { encodingsOf } from '../support/leaks.ts';
import { profileOf } from '../support/profiles.ts';
import { callTwice, itHolds, printedForms } from './mutated-input.ts';

/** Made-up secrets with characters that every encoding changes. */
const CANARY = 'c4n4ry S3cr3t/+~"<é&\'0fTh3M1ne';
const ISSUED = '1ssu3d-T0k3n.by/the+Pr0v1der=';
const canaries = [...new Set(encodingsOf(CANARY))];
const RECEIVED_AT = Date.UTC(2027, 0, 1);

const profiles = [
  { type: 'microsoft', tenant_id: 'contoso.onmicrosoft.com', client_id: 'id', refresh_token: CANARY },
  { type: 'okta', tenant_id: 'acme', client_id: 'id', client_secret: CANARY, username: 'ada', password: `${CANARY}2` },
  { type: 'custom', url: 'https://a.example/token', api_key: CANARY, 'options.token_path': 'data.tokens[0]' },
].map((fields) => {
  const profile = profileOf(fields);
  return { profile, request: buildTokenRequest(profile, '1.2.3') };
});

/** Parses a status, headers and, after an empty line, the body. */
function parseHttp(input: string): HttpResponse {
  const [head = '', ...rest] = input.split('\n\n');
  const [status = '', ...lines] = head.split('\n');
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(':');
    return [name.trim().toLowerCase(), value.join(':').trim()];
  });
  // Redirects are errors of the transport, and Node returns no other status.
  const code = /^[2-5]\d\d$/.test(status) && !status.startsWith('3') ? Number(status) : 200;
  return { status: code, headers: Object.fromEntries(headers), body: rest.join('\n\n') };
}

function checkError(error: OAuthProfileError): void {
  assert.ok(error instanceof ProviderError);
  const printed = printedForms(error);
  for (const form of canaries) assert.ok(!printed.includes(form), 'an error contains a secret of the request');
  assert.ok(!hasControls(error.message), 'an error contains control characters');
  assert.ok(error.message.length < 2_000, 'an error quotes the whole page');
  assert.ok(error.retryAt === undefined || error.retryAt >= RECEIVED_AT, 'the time of the next attempt is in the past');
  JSON.stringify(error);
}

const members = [
  ...['access_token', 'refresh_token', 'token_type', 'expires_in', 'id_token', 'scope', 'data', 'tokens', 'error'],
  ...[
    'error_description',
    'errors',
    'errorCode',
    'errorSummary',
    'error_codes',
    'suberror',
    'message',
    'title',
    'code',
  ],
  ...['device_code', 'user_code', 'verification_uri', 'verification_url', 'verification_uri_complete', 'interval'],
].map((name) => `"${name}":`);
const words = [
  ...['invalid_grant', 'invalid_client', 'AADSTS7000215: ', 'E0000047', 'Bearer', 'interaction_required', 'slow_down'],
  ...[
    '<html><title>',
    '</title>',
    'access_token=',
    '&refresh_token=',
    'eyJhbGciOiJub25lIn0.e30.',
    '{"data":{"tokens":["x"]}}',
  ],
  ...['\nretry-after: 3', '\nx-request-id: abc', '400', '401', '429', '503', '\n\n', '{', '}', '[', ']', '":"', ISSUED],
  ...canaries,
];
const responses = [
  `200\ncontent-type: application/json\n\n{"access_token":"${ISSUED}","token_type":"Bearer","expires_in":3600,"refresh_token":"r3fr3sh-T0k3n"}`,
  `200\n\naccess_token=abc&expires_in=60&scope=a+b`,
  `200\n\n{"data":{"tokens":["${ISSUED}"],"expires_in":"60"},"id_token":"eyJh.eyJzdWIiOiJhZGEifQ.x"}`,
  `400\nx-ms-request-id: 7\n\n{"error":"invalid_grant","error_description":"AADSTS50126: wrong ${encodeURIComponent(CANARY)}","error_codes":[50126],"suberror":"x","correlation_id":"c"}`,
  '429\nretry-after: 120\n\n{"errorCode":"E0000047","errorSummary":"too many","errorId":"x"}',
  `503\n\n<!doctype html><title>Maintenance</title><p>password=${CANARY}`,
  `401\n\n{"errors":[{"code":99,"label":"authenticity_token_error","message":"${encodeURIComponent(CANARY)}"}]}`,
  `502\n\nupstream said client_secret=${CANARY} was wrong`,
];

itHolds('returns a token or an error without secrets for any token response', {
  runs: 20,
  seeds: responses,
  tokens: [...members, ...words],
  check(input) {
    const response = parseHttp(input);
    callTwice(() => parseBody(response.body));
    callTwice(() => findRefreshToken(response));
    for (const { profile, request } of profiles) {
      const exchange = { profile, request, response, receivedAt: RECEIVED_AT };
      const { value, error } = callTwice(() => parseTokenResponse(exchange));
      if (error !== undefined) checkError(error as OAuthProfileError);
      else {
        assert.ok(value.accessToken.length > 0, 'an empty token is returned');
        assert.ok(value.expiresAt === undefined || Number.isFinite(value.expiresAt), 'the expiry is not a time');
        assert.equal(JSON.stringify(value.accessToken), '"••••"');
      }
    }
  },
});

itHolds('returns a valid device authorization or an error for any response', {
  runs: 30,
  seeds: [
    '200\n\n{"device_code":"d3v1c3","user_code":"ABCD-EFGH","verification_uri":"https://a.example/device","verification_uri_complete":"https://a.example/device?c=1","expires_in":900,"interval":5}',
    '200\n\n{"device_code":"d","user_code":"u","verification_url":"https://www.google.com/device","interval":"1"}',
    ...responses.slice(3, 5),
  ],
  tokens: [...members, ...words, 'https://', 'javascript:', 'file:///'],
  check(input) {
    const response = parseHttp(input);
    for (const { profile, request } of profiles) {
      const { value, error } = callTwice(() =>
        parseDeviceAuthorizationResponse({ profile, request, response, receivedAt: RECEIVED_AT }),
      );
      if (error !== undefined) {
        checkError(error as OAuthProfileError);
        continue;
      }
      const { userCode, verificationUri, verificationUriComplete = verificationUri, expiresAt, intervalMs } = value;
      assert.ok(userCode.length <= 64 && !hasControls(userCode), 'a code contains control characters');
      for (const uri of [verificationUri, verificationUriComplete]) {
        assert.match(uri, /^https?:\/\//i, 'the verification URI is not http(s)');
        assert.ok(!hasControls(uri), 'a URI contains control characters');
      }
      assert.ok(expiresAt >= RECEIVED_AT && Number.isFinite(expiresAt), 'the expiry is not a time');
      assert.ok(intervalMs >= 1000 && intervalMs < 2 ** 32, 'the poll interval is too short');
    }
  },
});

itHolds('returns no time in the past for any Retry-After header', {
  seeds: [
    '120',
    'Fri, 01 Jan 2027 00:02:00 GMT',
    '2027-01-01T00:02:00Z',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    '1798761720',
  ],
  tokens: ['Mon, ', ' GMT', '0', '99999999999', '-', '+0000', 'T', 'Z', ':', '.5', 'e5', '275760'],
  check(input) {
    for (const name of ['retry-after', 'x-rate-limit-reset']) {
      for (const value of [input, [input, '1']]) {
        const { value: at } = callTwice(() => parseRetryAfter({ [name]: value }, RECEIVED_AT));
        if (at === undefined) continue;
        assert.ok(at >= RECEIVED_AT, 'the time of the next attempt is in the past');
        new Date(at).toISOString();
      }
    }
  },
});

itHolds('returns a short printable account name for any ID token', {
  seeds: ['eyJh.eyJzdWIiOiJhZGEiLCJlbWFpbCI6ImFkYUBleGFtcGxlLmNvbSJ9.x', 'a.e30.b', 'a.bnVsbA.b', 'a..b'],
  tokens: ['.', 'e30', 'eyJ', 'bnVsbA', '==', '-_', 'IiI', 'W10'],
  check(input) {
    const { value } = callTwice(() => parseAccount({ id_token: input }));
    assert.ok(
      value === undefined || (value.length <= 200 && !hasControls(value)),
      'a name contains control characters',
    );
  },
});
