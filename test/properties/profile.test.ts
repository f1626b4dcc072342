import assert from 'node:assert/strict';
import type { ExternalSources } from '../../src/config/resolver.ts';
import { Variables } from '../../src/config/variables.ts';
import { InvalidProfileError, type OAuthProfileError } from '../../src/errors.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { toLoginProfile } from '../../src/profile/login-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { parseStrictUrl } from '../../src/profile/url.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { callTwice, itHolds, printedForms } from './mutated-input.ts';

/** A made-up secret, the suffix of every value of the fields below. */
const CANARY = 'c4n4ry0fTh3M1ne';
const secretFields = ['client_secret', 'password', 'refresh_token', 'basic.password', 'assertion', 'api_key', 'code'];

const external: ExternalSources = {
  env: (name) => (name === 'NAME' ? 'ada' : undefined),
  readFileInside: (path) => ({ 'key.pem': 'PRIVATE KEY-----', 'ca.pem': 'CERTIFICATE' })[path],
};

/** Reads lines of `field=value` of the profile svc; secret fields get the canary. */
function variablesFrom(input: string): Variables {
  const entries = input.split('\n').map((line) => {
    const at = line.includes('=') ? line.indexOf('=') : line.length;
    const field = line.slice(0, at);
    const value = line.slice(at + 1);
    return { name: `svc.${field}`, value: secretFields.includes(field) && value !== '' ? value + CANARY : value };
  });
  return new Variables().add(entries, { label: 'data', directory: '', trust: 'given' });
}

const fields = [
  ...['type=', 'url=https://', 'tenant_id=', 'client_id=', 'client_secret=s', 'username=', 'password=p', 'scope=a b'],
  ...[
    'refresh_token=r',
    'grant_type=',
    'basic.user=',
    'basic.password=p',
    'audience=',
    'api_key=k',
    'clientid=',
    'code=c',
  ],
];
const values = [
  ...['microsoft', 'microsoft-refresh', 'google', 'okta', 'gitlab', 'twitter', 'custom', 'Microsoft', 'common'],
  ...[
    'client_credentials',
    'password',
    'refresh_token',
    'authorization_code',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
  ],
  ...[
    'https://a.example/token',
    'http://127.0.0.1:1/',
    'http://evil/',
    'https://a@b/',
    '${env:NAME}',
    '${svc.url}',
    'acme',
  ],
];
const options = [
  ...[
    'client_auth=basic',
    'client_auth=private_key_jwt',
    'key_file=key.pem',
    'timeout=30s',
    'allow_http=true',
    'ca_file=ca.pem',
  ],
  ...[
    'token_path=data.token',
    'replay=grace',
    'redirect_uri=http://127.0.0.1:1/c',
    'authorize_origin=https://x',
    'cert_file=key.pem',
  ],
  ...['authorization_url=https://a.example/a', 'min_ttl=0', 'reuse=true', 'time_out=1'],
].map((option) => `options.${option}`);

itHolds('parses any profile into a valid request, or rejects it without secrets in the error', {
  runs: 40,
  seeds: [
    'type=microsoft\ntenant_id=contoso.onmicrosoft.com\nclient_id=1b2c\nclient_secret=x\ngrant_type=client_credentials\nscope=s',
    'type=okta\ntenant_id=acme\nclient_id=i\nclient_secret=x\nusername=ada\npassword=p\noptions.timeout=5s',
    'type=custom\nurl=https://a.example/token\ngrant_type=x\nclient_id=i\nbasic.user=u\nbasic.password=p\noptions.allow_http=true',
    'type=google\nclient_id=i\nclient_secret=x\nrefresh_token=r\noptions.client_auth=private_key_jwt\noptions.key_file=key.pem',
    'type=gitlab\nusername=ada\npassword=p\nurl=http://localhost:8080/oauth/token\nextra.type=custom',
  ],
  tokens: ['\n', '=', ...fields, ...values, ...options, ...fields.map((one) => `\n${one}`)],
  check(input) {
    const variables = variablesFrom(input);
    const parsed = callTwice(() => parseProfile('svc', variables, external));
    if (parsed.error !== undefined) {
      checkError(parsed.error as OAuthProfileError);
      return;
    }
    const { value, error } = callTwice(() => completeProfile(parsed.value));
    if (error === undefined) checkProfile(value);
    else checkError(error as OAuthProfileError);
    const login = callTwice(() => toLoginProfile(parsed.value));
    if (login.error === undefined) assert.ok(!printedForms(login.value).includes(CANARY), 'a profile prints a secret');
    else checkError(login.error as OAuthProfileError);
  },
});

function checkError(error: OAuthProfileError): void {
  assert.ok(!printedForms(error).includes(CANARY), 'an error contains a secret');
  if (error instanceof InvalidProfileError) assert.ok(error.issues.length > 0, 'a profile without issues is rejected');
}

function checkProfile(profile: Profile): void {
  assert.ok(!printedForms(profile).includes(CANARY), 'a profile prints a secret');
  const { url } = profile;
  assert.match(url.protocol, /^https?:$/);
  assert.equal(url.username + url.password + url.hash, '');
  const { value: request, error } = callTwice(() => {
    const built = buildTokenRequest(profile, '1.2.3');
    return { ...built, body: encodeForm(built) };
  });
  if (error !== undefined) {
    checkError(error as OAuthProfileError);
    return;
  }
  const sent = request.form.map(({ name, value }) => [name, value instanceof Secret ? value.reveal() : value]);
  assert.deepEqual([...new URLSearchParams(request.body)], sent, 'the body differs from the form');
  assert.equal(new Set(sent.map(([name]) => name)).size, sent.length, 'a field is sent twice');
  for (const value of Object.values(request.headers)) {
    assert.doesNotMatch(
      value instanceof Secret ? value.reveal() : value,
      /[^\x20-\x7e]/,
      'a header contains invalid characters',
    );
  }
}

itHolds('accepts a URL only with the host that is written in it', {
  seeds: [
    'https://login.example.com/oauth2/token?x=1',
    'http://127.0.0.1:8080/',
    'https://[::1]:443/a',
    'HTTPS://A.b:8443',
  ],
  tokens: [
    'https://',
    'http://',
    '//',
    '@',
    ':443',
    ':80',
    '\\',
    '%2e',
    '%00',
    '0x7f.1',
    '。',
    'ａ',
    'xn--',
    '[::1]',
    '#',
    '..',
  ],
  check(input) {
    const { value } = callTwice(() => parseStrictUrl(input));
    if (!(value instanceof URL)) return;
    const [, authority = ''] = /^https?:\/\/([^/?]+)/i.exec(input) ?? [];
    assert.equal(value.username + value.password + value.hash, '', 'credentials or a fragment are accepted');
    assert.equal(value.hostname, authority.toLowerCase().replace(/:\d*$/, ''), 'the host differs from the written one');
    assert.equal(String(parseStrictUrl(value.href)), value.href, 'the URL is parsed differently the second time');
  },
});
