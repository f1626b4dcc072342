import { OAuthProfileError } from '../errors.ts';
import type { LoginProfile } from '../profile/login-profile.ts';
import { sourceField } from '../profile/options/assertion-source.ts';
import type { AssertionSource, Field, LoadedFile, Profile } from '../profile/profile.ts';
import { MASK, Secret } from '../redaction/secret.ts';

/** The input of an assertion (RFC 7523 §3). Each attempt signs a new assertion. */
export interface AssertionSpec {
  /** `iss`, and `sub` of a client assertion. */
  readonly clientId: string | Secret;
  /** `aud`: `options.audience`, by default the token URL. If empty, there is no such claim. */
  readonly audience: string;
  /** Set for the assertion of the jwt-bearer grant: all its claims but `iss`, `aud` and the times. */
  readonly claims?: Readonly<Record<string, string | Secret>>;
  /** Set for a request object (RFC 9101 §4): the parameters of the authorization request, which are its claims. */
  readonly requestParameters?: URLSearchParams;
  /** Whether the assertion has no `jti`. Default: false. */
  readonly omitsId?: boolean | undefined;
  /** How long before the signature `iat` is, in milliseconds. Default: 0. */
  readonly backdatedMs?: number | undefined;
  /** Time from `iat` to `exp`, in milliseconds. Default: 60,000. */
  readonly lifetimeMs?: number | undefined;
  /** Private key, or client secret for HS256 (`client_secret_jwt`). */
  readonly key: LoadedFile | Secret;
  /** `kid` of a private key; `undefined` omits it. */
  readonly keyId: string | undefined;
  /** Whether the header has the certificates of the key file (`x5c`). Default: false. */
  readonly sendsCertificate?: boolean;
  /** Signature algorithm for RSA keys; keys of other types have only one. */
  readonly rsaAlgorithm: 'RS256' | 'PS256';
}

/** An assertion of another issuer, which is read for each attempt. */
export interface SourceSpec {
  readonly source: AssertionSource;
  /** The audience that is requested, where the source issues assertions on request. */
  readonly audience: string;
}

/** A form field, or the header `Authorization`, whose value is created for each attempt: servers reject an assertion that is used twice. */
interface PendingField {
  readonly name: string;
  readonly spec: AssertionSpec | SourceSpec;
}

/** A request that `explain` can show: each form field has its source, and secrets are still wrapped. */
export interface TokenRequest {
  readonly method: 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly form: readonly Field[];
  /** The body. Default: the form, encoded. */
  readonly body?: string;
  /** The fields of `form` that are still empty: create their values and pass them to {@link withFieldValue}. */
  readonly pending: readonly PendingField[];
}

const NONE_PENDING: readonly PendingField[] = [];
const JSON_TYPE = 'application/json';
const AUTHORIZATION = 'Authorization';
const ASSERTION = 'client_assertion';
const ASSERTION_TYPE = 'client_assertion_type';
/** Limit of the form and the Authorization header together, in bytes: 256 KiB (D17). */
const MAX_LENGTH = 262_144;

/** Builds the token request of a profile (RFC 6749 §2.3, §3.2); `version` is sent as User-Agent. */
export function buildTokenRequest(profile: Profile, version: string): TokenRequest {
  if (profile.options.installation !== undefined) return buildInstallationRequest(profile, version);
  const request = buildClientRequest(profile, version);
  return profile.createsGrant ? withGrantAssertion(request, profile) : request;
}

function buildClientRequest(profile: Profile, version: string): TokenRequest {
  const { clientAuth, basic, fields, url } = profile;
  const headers: Record<string, string | Secret> = {
    'Content-Type': profile.options.requestFormat === 'json' ? JSON_TYPE : 'application/x-www-form-urlencoded',
    Accept: 'application/json',
    'User-Agent': `oauth-profile/${version}`,
  };
  // Written out: a spread here costs 4 % of the token throughput.
  const withForm = (form: readonly Field[], pending = NONE_PENDING): TokenRequest => {
    return { method: 'POST', url, headers, form, pending };
  };
  switch (clientAuth) {
    case 'client_secret_post':
    case 'passthrough':
      return withForm(fields);
    case 'none':
    // The certificate of the connection authenticates the client (RFC 8705 §2).
    case 'tls_client_auth':
    case 'self_signed_tls_client_auth':
      return withForm(fields.filter(({ name }) => name !== 'client_secret'));
    case 'client_secret_basic':
    case 'client_secret_basic_raw': {
      const value = (name: string): string | Secret => fields.find((field) => field.name === name)?.value ?? '';
      const [user, password] = basic
        ? [basic.user.value, basic.password.value]
        : [value('client_id'), value('client_secret')];
      headers['Authorization'] = buildBasicHeader(user, password, clientAuth === 'client_secret_basic');
      // A pushed authorization request needs the id in any case (RFC 9126 §2.1).
      const keepsId = profile.endpoint === 'pushed_authorization';
      return withForm(fields.filter(({ name }) => (keepsId || name !== 'client_id') && name !== 'client_secret'));
    }
    case 'client_secret_jwt':
    case 'private_key_jwt': {
      const { form, pending } = buildAssertionForm(profile);
      return withForm(form, pending);
    }
  }
}

/** The JWT is the bearer token. */
function buildInstallationRequest(profile: Profile, version: string): TokenRequest {
  const { url, fields, options, provider } = profile;
  const { issuer, body = '' } = options.installation ?? {};
  const { accept = JSON_TYPE, lifetimeMs, backdatedMs } = provider.installation ?? {};
  const claims = { audience: '', claims: {}, omitsId: true, lifetimeMs, backdatedMs };
  return {
    method: 'POST',
    url,
    headers: {
      ...(body !== '' && { 'Content-Type': JSON_TYPE }),
      Accept: accept,
      'User-Agent': `oauth-profile/${version}`,
      [AUTHORIZATION]: bearer(''),
    },
    form: fields,
    body,
    pending: [{ name: AUTHORIZATION, spec: { ...signedSpec(profile, issuer, options.key), ...claims } }],
  };
}

function bearer(token: string): Secret {
  return new Secret(`Bearer ${token}`, `Bearer ${MASK}`);
}

/** RFC 7523 §2.2. The assertion is signed when the request is sent; until then its field is empty. */
function buildAssertionForm(profile: Profile): Pick<TokenRequest, 'form' | 'pending'> {
  const { clientAuth, fields, options } = profile;
  const valueFor = (field: string) => fields.find(({ name }) => name === field)?.value;
  const clientId = valueFor('client_id');
  const source = sourceField(profile.grant) === ASSERTION ? options.assertionSource : undefined;
  const key = clientAuth === 'private_key_jwt' ? options.key : valueFor('client_secret');
  const spec = source === undefined ? signedSpec(profile, clientId, key) : sourceSpec(profile, source);
  const replaced = new Set(['client_secret', ASSERTION, ASSERTION_TYPE]);
  return {
    form: [
      ...fields.filter(({ name }) => !replaced.has(name)),
      {
        name: ASSERTION_TYPE,
        value: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        source: 'options.client_auth',
      },
      emptyField(ASSERTION, spec),
    ],
    pending: [{ name: ASSERTION, spec }],
  };
}

/** The grant is an assertion (RFC 7523 §2.1) or a subject token (RFC 8693 §2.1). */
function withGrantAssertion(request: TokenRequest, profile: Profile): TokenRequest {
  const { fields, options, grant } = profile;
  const name = sourceField(grant);
  const { claims, lifetimeMs, omitsId } = options.assertion;
  const { iss, aud, ...others } = Object.fromEntries(claims.map((claim) => [claim.name, claim.value]));
  const clientId = iss ?? fields.find((field) => field.name === 'client_id')?.value;
  const audience = typeof aud === 'string' ? { audience: aud } : {};
  const spec =
    options.assertionSource === undefined
      ? { ...signedSpec(profile, clientId, options.key), ...audience, claims: others, lifetimeMs, omitsId }
      : sourceSpec(profile, options.assertionSource);
  return {
    ...request,
    form: [...request.form, emptyField(name, spec)],
    pending: [...request.pending, { name, spec }],
  };
}

function signedSpec(
  { clientAuth, options, url, provider }: Profile,
  clientId: string | Secret | undefined,
  key: LoadedFile | string | Secret | undefined,
): AssertionSpec {
  if (key === undefined || typeof key === 'string' || clientId === undefined)
    throw new TypeError(`${clientAuth} requires a key and a client id`);
  const { audience = url.href, keyId, sendsCertificate } = options;
  return { clientId, key, audience, keyId, sendsCertificate, rsaAlgorithm: provider.rsaAlgorithm ?? 'RS256' };
}

function sourceSpec({ options, provider, url }: Profile, source: AssertionSource): SourceSpec {
  return { source, audience: options.audience ?? provider.federationAudience ?? url.href };
}

/** The value of a pending field is empty until the request is sent. */
function emptyField(name: string, spec: AssertionSpec | SourceSpec): Field {
  return { name, value: new Secret(''), source: describeSource(spec) };
}

function describeSource(spec: AssertionSpec | SourceSpec): string {
  if (!('source' in spec)) return `signed with ${spec.key instanceof Secret ? 'client_secret' : spec.key.path}`;
  const { kind, value } = spec.source;
  return `read from ${value === '' ? `${kind} for ${spec.audience}` : `${kind}:${value}`}`;
}

/** Returns the request with the value of a pending field. */
export function withFieldValue(request: TokenRequest, name: string, value: Secret): TokenRequest {
  if (name === AUTHORIZATION) return { ...request, headers: { ...request.headers, [name]: bearer(value.reveal()) } };
  const form = request.form.map((field) => (field.name === name ? { ...field, value } : field));
  return { ...request, form };
}

/** Describes a request of a login as a profile, so that it is built, signed and sent like a token request. */
export function createLoginRequest(
  login: LoginProfile,
  url: URL,
  tokenUrl: URL,
  grant: string | undefined,
  fields: readonly Field[],
): Profile {
  const grantType = grant === undefined ? [] : [{ name: 'grant_type', value: grant, source: 'login' }];
  // RFC 7523 §3: the token URL identifies the authorization server, whichever of its endpoints receives the assertion.
  const options = { ...login.options, audience: login.options.audience ?? tokenUrl.href };
  return { ...login, url, grant, createsGrant: false, fields: [...grantType, ...fields], family: undefined, options };
}

const utf8 = new TextEncoder();

function reveal(value: string | Secret): string {
  return typeof value === 'string' ? value : value.reveal();
}

/**
 * Builds an HTTP Basic header (RFC 7617 §2). RFC 6749 §2.3.1 requires form encoding of both values first.
 * `encodeURIComponent` leaves `-_.~` unchanged, so that common credentials also work with servers that do not decode
 * them; `encoded: false` is for other values.
 */
export function buildBasicHeader(user: string | Secret, password: string | Secret, encoded: boolean): Secret {
  const toText = (value: string | Secret): string => (encoded ? encodeURIComponent(reveal(value)) : reveal(value));
  const bytes = utf8.encode(`${toText(user)}:${toText(password)}`);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return new Secret(`Basic ${btoa(binary)}`, `Basic ${MASK}`);
}

/** Encodes the form (RFC 6749 Appendix B), as JSON for providers that require it. Throws `request_too_large` over 256 KiB. */
export function encodeForm(request: TokenRequest): string {
  const { form, headers } = request;
  const body = request.body ?? (headers['Content-Type'] === JSON_TYPE ? encodeJson(form) : encodeFields(form));
  if (body.length + (headers['Authorization']?.length ?? 0) > MAX_LENGTH) {
    throw new OAuthProfileError('request_too_large', `the request exceeds ${MAX_LENGTH} bytes`, {
      hint: 'shorten the longest field; oauth-profile explain shows all fields',
    });
  }
  return body;
}

function encodeJson(form: readonly Field[]): string {
  return JSON.stringify(Object.fromEntries(form.map(({ name, value }) => [name, reveal(value)])));
}

function encodeFields(form: readonly Field[]): string {
  let body = '';
  for (const { name, value } of form)
    body += `${body && '&'}${encodeFormComponent(name)}=${encodeFormComponent(reveal(value))}`;
  return body;
}

/** Encodes one name or value of a form: percent-encoded, with `+` for a space. */
export function encodeFormComponent(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+');
}
