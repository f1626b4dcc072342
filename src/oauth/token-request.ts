import { OAuthProfileError } from '../errors.ts';
import type { Field, LoadedFile, Profile } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import { buildBasicHeader } from './basic-header.ts';

/** What a client assertion is made from; each attempt signs a new one. */
export interface AssertionSpec {
  readonly clientId: string | Secret;
  readonly audience: string;
  readonly key: LoadedFile;
  readonly keyId: string | undefined;
  readonly rsaAlgorithm: 'RS256' | 'PS256';
}

/** A token request as a person can be shown it: every part with its source, secrets still wrapped. */
export interface TokenRequest {
  readonly method: 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly form: readonly Field[];
  readonly assertion: AssertionSpec | undefined;
}

const CREDENTIALS = new Set(['client_id', 'client_secret']);
const ASSERTION = 'client_assertion';
const ASSERTION_TYPE = 'client_assertion_type';
const MAX_LENGTH = 262_144;

/** Builds the request of a profile (RFC 6749 §2.3, §3.2); `version` is for the User-Agent. */
export function buildTokenRequest(profile: Profile, version: string): TokenRequest {
  const { clientAuth, basic, fields, url } = profile;
  const headers: Record<string, string | Secret> = {
    'Content-Type': 'application/x-www-form-urlencoded',
    Accept: 'application/json',
    'User-Agent': `oauth-profile/${version}`,
  };
  const withForm = (form: readonly Field[], assertion?: AssertionSpec): TokenRequest => ({
    method: 'POST',
    url,
    headers,
    form,
    assertion,
  });
  switch (clientAuth) {
    case 'client_secret_post':
    case 'as_given':
      return withForm(fields);
    case 'none':
      return withForm(fields.filter(({ name }) => name !== 'client_secret'));
    case 'client_secret_basic':
    case 'client_secret_basic_raw': {
      const value = (name: string): string | Secret => fields.find((field) => field.name === name)?.value ?? '';
      const [user, password] = basic
        ? [basic.user.value, basic.password.value]
        : [value('client_id'), value('client_secret')];
      headers['Authorization'] = buildBasicHeader(user, password, clientAuth === 'client_secret_basic');
      return withForm(fields.filter(({ name }) => !CREDENTIALS.has(name)));
    }
    case 'private_key_jwt': {
      const { form, assertion } = signedForm(profile);
      return withForm(form, assertion);
    }
  }
}

/** RFC 7523 §2.2. The assertion itself is signed when the request is sent. */
function signedForm({ fields, options, provider, url }: Profile): Pick<TokenRequest, 'form' | 'assertion'> {
  const { key, keyId, audience } = options;
  const clientId = fields.find(({ name }) => name === 'client_id')?.value;
  if (key === undefined || clientId === undefined) throw new TypeError('a profile without a key was not checked');
  const replaced = new Set(['client_secret', ASSERTION, ASSERTION_TYPE]);
  return {
    form: [
      ...fields.filter(({ name }) => !replaced.has(name)),
      {
        name: ASSERTION_TYPE,
        value: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        source: 'options.client_auth',
      },
      { name: ASSERTION, value: new Secret(''), source: `signed with ${key.path}` },
    ],
    assertion: {
      clientId,
      audience: audience ?? url.href,
      key,
      keyId,
      rsaAlgorithm: provider.rsaAlgorithm ?? 'RS256',
    },
  };
}

/** The request as it is sent with an assertion. */
export function withAssertion(request: TokenRequest, assertion: Secret): TokenRequest {
  const form = request.form.map((field) => (field.name === ASSERTION ? { ...field, value: assertion } : field));
  return { ...request, form };
}

/** The body as it goes over the wire, UTF-8 and form-encoded (RFC 6749 App. B). */
export function encodeForm(request: TokenRequest): string {
  let body = '';
  for (const { name, value } of request.form) {
    body += `${body === '' ? '' : '&'}${encode(name)}=${encode(typeof value === 'string' ? value : value.reveal())}`;
  }
  if (body.length + (request.headers['Authorization']?.length ?? 0) > MAX_LENGTH) {
    throw new OAuthProfileError('request_too_large', `the request is larger than ${MAX_LENGTH} bytes`, {
      hint: 'a field holds far too much: look at the longest with explain',
    });
  }
  return body;
}

/** One name or value, form-encoded. */
export function encode(text: string): string {
  const encoded = encodeURIComponent(text);
  return encoded.includes('%20') ? encoded.replaceAll('%20', '+') : encoded;
}
