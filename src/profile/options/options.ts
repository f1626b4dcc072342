import { parsePath } from '../../config/reference.ts';
import type { ExternalSources } from '../../config/resolver.ts';
import { closestMatch } from '../../config/suggestions.ts';
import { isCollection, isEmpty, joinList, toText } from '../../config/value.ts';
import { locationOf, type Source } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import type { ClientAuth, Provider, RefreshTokenReuse } from '../../providers/provider.ts';
import { Secret } from '../../redaction/secret.ts';
import { selectDefaultOrigins } from '../endpoints.ts';
import { selectIssuer } from '../issuer.ts';
import { type Field, isPkcs12, LoadedFile, type ProfileOptions } from '../profile.ts';
import type { ProfileDraft } from '../profile-draft.ts';
import { isSecure, parseStrictUrl } from '../url.ts';
import { checkAssertionSource, parseAssertionSource, SOURCE_FORMAT } from './assertion-source.ts';
import { isForbiddenHeader, isHeaderName } from './header-rules.ts';
import { matchesOrigin, parseOrigin, parseOriginPattern } from './origins.ts';

const clientAuthMethods = [
  'client_secret_post',
  'client_secret_basic',
  'client_secret_basic_raw',
  'none',
  'client_secret_jwt',
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
] as const satisfies ClientAuth[];
const reuseValues = ['allowed', 'grace', 'rejected', 'revokes_family'] as const satisfies RefreshTokenReuse[];

/** `options.assertion.sub` is the claim `sub`. */
const CLAIM_PREFIX = 'assertion.';
const LIFETIME = 'assertion.lifetime';
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MIN_TTL_MS = 60_000;
const DEFAULT_GRACE_MS = 30_000;
/** GitLab requires this name, and other servers accept any. */
const DEFAULT_USERNAME = 'oauth2';

/** Every option, with a description for the documentation. */
export const optionNames: Readonly<Record<string, string>> = {
  timeout: 'total time for a token, retries included (default 30s)',
  client_auth: `how the client authenticates: ${clientAuthMethods.join(', ')}`,
  key_file:
    'private key of assertions: PEM, JWK, PKCS #12 (.pfx, .p12), or the JSON file of a Google service account; with the certificate for Microsoft',
  key_passphrase: 'passphrase of a PKCS #12 key_file, if it has one',
  x5c: 'true: send the certificates in key_file with assertions, for trust by subject name and issuer (Microsoft)',
  key_id: 'key ID (kid) of assertions',
  'assertion.iss': 'issuer of the assertion of a jwt-bearer grant (default: client_id)',
  'assertion.sub': 'subject: the user or account that the token is for',
  'assertion.aud': 'audience (default: options.audience, else the token URL)',
  'assertion.scope': 'scope, for providers that read it from the assertion; any other claim can be set in the same way',
  assertion_source:
    'where the client assertion, the assertion or the subject token is read for each request: github-actions, google-metadata, azure-imds, env:NAME, file:PATH, profile:NAME',
  'assertion.lifetime': 'time until the assertion expires (default 60s)',
  audience: 'audience (aud) of assertions (default: the token URL)',
  token_path: 'location of the access token in the response, such as data.token',
  allow_http: 'true: also send secrets without TLS to other machines',
  ca_file: 'certificates to trust in addition to those of the system, PEM',
  cert_file: 'client certificate for mutual TLS, PEM',
  cert_key_file: 'private key of the client certificate, PEM',
  signed_request:
    'true: sign the authorization request of a login with key_file (JAR, RFC 9101; default: if the server requires it)',
  dpop: 'true: bind tokens to a key, so that a stolen token is useless without it (DPoP, RFC 9449)',
  reuse: 'true: return a cached token while it is usable',
  min_ttl: 'minimum remaining lifetime of a cached token (default 60s)',
  default_ttl: 'lifetime of a token whose response has no expires_in, such as 1h',
  authorize_origin:
    'origin whose requests in a script get an Authorization header, such as https://graph.microsoft.com',
  origins:
    'origins of the APIs that the access token may be sent to: a list, such as https://api.example.com or https://*.example.com',
  api_header: 'header in which the API expects the access token (default Authorization)',
  api_scheme:
    'scheme before the access token in the header, or none (default: Bearer; none, if the name of the header does not end with Authorization)',
  git_username: 'username that git sends with the token as its password (default oauth2)',
  docker_username: 'username that docker sends with the token as its password (default oauth2)',
  aws_role_arn: 'role that credential aws assumes with the id token',
  aws_region: 'region of the AWS Security Token Service (default: AWS_REGION, else the global endpoint)',
  refresh_token_reuse: `what the provider does with a refresh token that is used twice: ${reuseValues.join(', ')}`,
  grace: 'how long a used refresh token is accepted again (default 30s)',
  authorization_url: 'authorization endpoint: the page where users log in',
  device_authorization_url: 'device authorization endpoint: issues codes that users enter on another device',
  revocation_url: 'revocation endpoint, for logout --revoke (default: from the provider or its metadata)',
  introspection_url: 'introspection endpoint, for inspect (default: from the metadata of the server)',
  userinfo_url: 'userinfo endpoint, for inspect (default: from the metadata of the server)',
  issuer: 'issuer of a custom server, whose metadata names the endpoints (RFC 8414, OpenID Connect Discovery)',
  refresh_url: 'token endpoint for refresh requests, at the same origin (default: the token URL)',
  request_format: 'format of token requests: form, json (default: form, or that of the provider)',
  scope_separator: 'separator of the scopes in requests: space, comma (default: space, or that of the provider)',
  pkce: 'false: log in without a code challenge, for servers that reject it (RFC 7636)',
  redirect_members: 'parameters of the redirect of a login that are added to the token response, such as realmId',
  redirect_uri: 'redirect URI of a login, on this machine, such as http://127.0.0.1:8912/callback',
};

/** Parses the options of a profile. Adds an issue for each invalid value and each unknown option. */
export function parseOptions(
  draft: ProfileDraft,
  provider: Provider | undefined,
  files: Pick<ExternalSources, 'readFileInside'>,
): ProfileOptions {
  rejectUnknownOptions(draft);
  const parse = <T>(
    name: string,
    expected: string,
    parseText: (text: string, source: Source) => T | undefined,
  ): T | undefined => {
    const option = draft.options.get(name);
    if (option === undefined || isEmpty(option.value)) return undefined;
    const text =
      (/^(?:origins|redirect_members)$/.test(name) ? joinList(option.value) : undefined) ??
      (isCollection(option.value) ? undefined : toText(option.value));
    try {
      const parsed = typeof text === 'string' ? parseText(text, option.variable.source) : undefined;
      if (parsed !== undefined) return parsed;
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
    }
    const hint = `set ${draft.name}.options.${name} to ${expected}, or remove it`;
    draft.addIssue(`options.${name}`, `is not ${expected}`, hint);
    return undefined;
  };
  const text = (name: string) => parse(name, 'a string', (value) => value);
  const duration = (name: string) => parse(name, 'a duration such as 30s, 500ms or 2m', parseDuration);
  const choice = <T extends string>(name: string, values: readonly T[]) =>
    parse(name, `one of ${values.join(', ')}`, (value) => values.find((one) => one === value));
  const passphrase = parsePassphrase(draft);
  const file = (name: string) => {
    const { variable, value = '' } = draft.options.get(name) ?? {};
    const isRestricted = variable?.source.trust === 'directory';
    const where = isRestricted ? ' inside the directory of the profile file' : '';
    // Connections are configured with PEM files only.
    const isBinary = typeof value === 'string' && isPkcs12(value);
    const isRejected = isBinary && name !== 'key_file';
    const expected = isRejected
      ? 'a PEM file (convert it: openssl pkcs12 -in FILE -nodes -out key.pem)'
      : `a readable file${where}`;
    return parse(name, expected, (path, source) => {
      if (isRejected) return undefined;
      const content = files.readFileInside(path, source, isBinary ? 'base64' : 'utf8');
      return content === undefined ? undefined : new LoadedFile(path, content, isBinary ? passphrase : undefined);
    });
  };
  const reuse = choice('reuse', ['true', 'false']);
  const allowHttp = choice('allow_http', ['true', 'false']) === 'true';
  const endpoint = (name: string) => parse(name, 'a complete https:// URL', (value) => parseEndpoint(value, allowHttp));
  const options: ProfileOptions = {
    clientAuth: choice('client_auth', clientAuthMethods),
    allowHttp,
    timeoutMs: duration('timeout') ?? DEFAULT_TIMEOUT_MS,
    tokenPath: parse('token_path', 'a path such as data.token', parsePath),
    refreshTokenReuse: choice('refresh_token_reuse', reuseValues) ?? provider?.refreshTokenReuse ?? 'revokes_family',
    graceMs: duration('grace') ?? provider?.graceMs ?? DEFAULT_GRACE_MS,
    reuse: reuse === undefined ? undefined : reuse === 'true',
    minTtlMs: duration('min_ttl') ?? DEFAULT_MIN_TTL_MS,
    defaultTtlMs: duration('default_ttl') ?? provider?.defaultLifetimeMs,
    authorizeOrigin: parse('authorize_origin', 'an origin such as https://graph.microsoft.com', parseOrigin),
    origins:
      parse('origins', 'a list of origins such as https://api.example.com', parseOrigins) ??
      selectDefaultOrigins(draft, provider),
    apiHeader:
      parse('api_header', 'the name of a header such as X-Api-Token', parseHeaderName) ??
      provider?.apiHeader ??
      'Authorization',
    apiScheme: parse('api_scheme', 'a scheme such as Bearer, or none', parseScheme) ?? provider?.apiScheme,
    gitUsername: parse('git_username', 'a username', parseUsername) ?? provider?.gitUsername ?? DEFAULT_USERNAME,
    dockerUsername:
      parse('docker_username', 'a username', parseUsername) ?? provider?.dockerUsername ?? DEFAULT_USERNAME,
    awsRoleArn: parse('aws_role_arn', 'a role such as arn:aws:iam::123456789012:role/name', parseRoleArn),
    awsRegion: parse('aws_region', 'a region such as eu-central-1', parseRegion),
    authorizationUrl: endpoint('authorization_url'),
    deviceAuthorizationUrl: endpoint('device_authorization_url'),
    revocationUrl: endpoint('revocation_url'),
    refreshUrl: endpoint('refresh_url'),
    requestFormat: choice('request_format', ['form', 'json']) ?? provider?.requestFormat ?? 'form',
    scopeSeparator: choice('scope_separator', ['space', 'comma']) ?? provider?.scopeSeparator ?? 'space',
    usesPkce: choice('pkce', ['true', 'false']) !== 'false',
    redirectMembers:
      parse('redirect_members', 'a list of names such as realmId', parseNames) ??
      provider?.login?.redirectMembers ??
      [],
    introspectionUrl: endpoint('introspection_url'),
    userinfoUrl: endpoint('userinfo_url'),
    issuer: selectIssuer(draft, provider, text('issuer'), allowHttp),
    redirectUri: parse(
      'redirect_uri',
      'a loopback URL without a query, such as http://127.0.0.1:8912/callback',
      parseRedirectUri,
    ),
    audience: text('audience'),
    keyId: text('key_id'),
    sendsCertificate: choice('x5c', ['true', 'false']) === 'true',
    key: file('key_file'),
    dpop: choice('dpop', ['true', 'false']) === 'true',
    signsRequest: choice('signed_request', ['true', 'false']) === 'true',
    assertionSource: parse('assertion_source', SOURCE_FORMAT, (value, source) =>
      parseAssertionSource(value, source, draft.variables),
    ),
    assertion: { claims: collectClaims(draft, text), lifetimeMs: duration(LIFETIME) },
    ca: file('ca_file'),
    cert: file('cert_file'),
    certKey: file('cert_key_file'),
  };
  checkCertificate(draft, options);
  checkAuthorizeOrigin(draft, options);
  checkAssertionSource(draft, options.assertionSource);
  checkKeyCertificate(draft, options, provider);
  return options;
}

function rejectUnknownOptions(draft: ProfileDraft): void {
  const known = Object.keys(optionNames);
  for (const name of draft.options.keys()) {
    if (known.includes(name) || name.startsWith(CLAIM_PREFIX)) continue;
    const match = closestMatch(name, known);
    const hint =
      match === undefined ? `known options: ${known.join(', ')}` : `did you mean ${draft.name}.options.${match}?`;
    draft.addIssue(`options.${name}`, 'is not a known option', hint);
  }
}

/** Only a PKCS #12 file has a passphrase: other keys must not be encrypted. */
function parsePassphrase(draft: ProfileDraft): Secret | undefined {
  const name = 'key_passphrase';
  const { value = null } = draft.options.get(name) ?? {};
  if (isEmpty(value)) return undefined;
  if (isCollection(value)) {
    const hint = `set ${draft.name}.options.${name} to a string such as \${env:KEY_PASSPHRASE}`;
    draft.addIssue(`options.${name}`, 'is not a string', hint);
    return undefined;
  }
  if (!isPkcs12(String(draft.options.get('key_file')?.value))) {
    const hint = `remove ${draft.name}.options.${name}, and use an unencrypted key file`;
    draft.addIssue(`options.${name}`, 'is set, but key_file is not a .pfx or .p12 file', hint);
  }
  const text = toText(value);
  return text instanceof Secret ? text : new Secret(text);
}

/** All members of `options.assertion` but the lifetime are claims, whatever their names. */
function collectClaims(draft: ProfileDraft, parseText: (option: string) => string | undefined): Field[] {
  const claims: Field[] = [];
  for (const [option, { variable, value }] of draft.options) {
    if (!option.startsWith(CLAIM_PREFIX) || option === LIFETIME) continue;
    const text = parseText(option);
    if (text === undefined) continue;
    const claim = { name: option.slice(CLAIM_PREFIX.length), value: text, source: locationOf(variable) };
    // A value with a reference may come from the environment or a file.
    claims.push(value === variable.value ? claim : { ...claim, external: true });
  }
  return claims;
}

/** A client certificate needs its private key, in the same file or in another one. */
function checkCertificate(draft: ProfileDraft, { cert }: ProfileOptions): void {
  if (draft.hasOption('cert_key_file') && !draft.hasOption('cert_file')) {
    draft.addIssue('options.cert_key_file', 'is set without cert_file', `set ${draft.name}.options.cert_file`);
  }
  if (cert !== undefined && !draft.hasOption('cert_key_file') && !cert.text.includes('PRIVATE KEY-----')) {
    draft.addIssue('options.cert_file', 'contains no private key', `set ${draft.name}.options.cert_key_file`);
  }
}

/** A PEM file may contain the certificate of its key; a JWK its thumbprint. A PKCS #12 file is not decrypted here, and nearly always does. */
function checkKeyCertificate(draft: ProfileDraft, options: ProfileOptions, provider: Provider | undefined): void {
  const { clientAuth, key } = options;
  if (provider?.keyNeedsCertificate !== true || clientAuth !== 'private_key_jwt' || key === undefined) return;
  if (isPkcs12(key.path) || /-----BEGIN CERTIFICATE-----|"x5t#S256"/.test(key.text)) return;
  const name = `${draft.name}.options.key_file`;
  draft.addWarning(
    `${name} contains no certificate: add it to the file, because ${provider.type} uses it to find the key`,
  );
}

/** Parses `30s`, `500ms`, `5m`, `1h` or `30` (seconds) to milliseconds, 1 to 2^31 − 1; `undefined` if invalid. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text);
  if (match === null) return undefined;
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? 's'] ?? 1000;
  const ms = Number(match[1]) * unit;
  // 2^31 − 1 ms is the limit of timers.
  return ms >= 1 && ms < 2 ** 31 ? ms : undefined;
}

/** Names that are separated by spaces or commas. */
function parseNames(text: string): string[] | undefined {
  const names = text.split(/[\s,]+/).filter(Boolean);
  return names.every((name) => /^[\w.-]+$/.test(name)) ? names : undefined;
}

function parseOrigins(text: string): string[] | undefined {
  const origins = text.split(/\s+/).filter(Boolean).map(parseOriginPattern);
  const valid = origins.filter((origin) => origin !== undefined);
  return valid.length === origins.length ? valid : undefined;
}

/** A name that neither frames a message nor chooses its recipient. */
function parseHeaderName(text: string): string | undefined {
  return isHeaderName(text) && !isForbiddenHeader(text) ? text : undefined;
}

/** RFC 9110 §11.1; `none` is the empty scheme. */
function parseScheme(text: string): string | undefined {
  if (text === 'none') return '';
  return isHeaderName(text) ? text : undefined;
}

function parseUsername(text: string): string | undefined {
  return /^[\x21-\x7e]+$/.test(text) ? text : undefined;
}

function parseRoleArn(text: string): string | undefined {
  return /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/.test(text) ? text : undefined;
}

/** Part of a host name. */
export function parseRegion(text: string): string | undefined {
  return /^[a-z]{2,}(?:-[a-z]+)+-\d+$/.test(text) ? text : undefined;
}

/** Scripts send the token where everything else does. */
function checkAuthorizeOrigin(draft: ProfileDraft, { authorizeOrigin, origins }: ProfileOptions): void {
  if (authorizeOrigin === undefined || !draft.hasOption('origins') || draft.hasIssue('options.origins')) return;
  if (matchesOrigin(origins, new URL(authorizeOrigin))) return;
  const hint = `add ${authorizeOrigin} to ${draft.name}.options.origins`;
  draft.addIssue('options.authorize_origin', `is not one of ${draft.name}.options.origins`, hint);
}

/** http: only for loopback, or with `options.allow_http` (D13). */
function parseEndpoint(text: string, allowHttp: boolean): URL | undefined {
  const url = parseStrictUrl(text);
  return url instanceof URL && (allowHttp || isSecure(url)) ? url : undefined;
}

/** The authorization code is sent to this URI, so it must be loopback (RFC 8252 §7.3). */
function parseRedirectUri(text: string): string | undefined {
  const url = parseStrictUrl(text);
  return url instanceof URL && url.protocol === 'http:' && isSecure(url) && !text.includes('?') ? text : undefined;
}
