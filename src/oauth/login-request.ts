import type { DeviceEndpoints } from '../profile/login-endpoints.ts';
import type { LoginProfile } from '../profile/login-profile.ts';
import type { Field, Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SOURCE = 'login';

/** Asks for a device code (RFC 8628 §3.1); the client authenticates as it does for tokens. */
export function deviceAuthorizationRequest(login: LoginProfile, { device, token }: DeviceEndpoints): Profile {
  const scope = login.scope === undefined ? [] : [login.scope];
  return requestTo(device, token, login, undefined, [...login.clientParameters, ...scope, ...login.extraParameters]);
}

/** Asks whether the person has signed in by now (RFC 8628 §3.4); some providers want the code under a name of their own too. */
export function deviceTokenRequest(login: LoginProfile, { token }: DeviceEndpoints, code: Secret): Profile {
  const names = ['device_code', login.provider.login?.deviceCodeAlias].filter((name) => name !== undefined);
  const codes = names.map((name) => ({ name, value: code, source: SOURCE }));
  return requestTo(token, token, login, DEVICE_GRANT, [...codes, ...login.clientParameters]);
}

/** What a browser brought back, and what proves that the same program sent it there. */
export interface CodeExchange {
  readonly code: Secret;
  readonly redirectUri: string;
  readonly verifier: Secret;
}

/** Exchanges an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.5). */
export function codeTokenRequest(login: LoginProfile, { code, redirectUri, verifier }: CodeExchange): Profile {
  return requestTo(login.url, login.url, login, 'authorization_code', [
    { name: 'code', value: code, source: SOURCE },
    { name: 'redirect_uri', value: redirectUri, source: SOURCE },
    { name: 'code_verifier', value: verifier, source: SOURCE },
    ...login.clientParameters,
  ]);
}

/** Tells the provider that a refresh token is of no use any more (RFC 7009 §2.1). */
export function revocationRequest(login: LoginProfile, endpoint: URL, token: Secret): Profile {
  const alone = login.provider.login?.revocationWithoutClientAuth === true;
  const fields = [
    { name: 'token', value: token, source: SOURCE },
    ...(alone ? [] : [{ name: 'token_type_hint', value: 'refresh_token', source: SOURCE }, ...login.clientParameters]),
  ];
  const request = requestTo(endpoint, login.url, login, undefined, fields);
  return alone ? { ...request, clientAuth: 'as_given' } : request;
}

function requestTo(
  url: URL,
  token: URL,
  login: LoginProfile,
  grant: string | undefined,
  fields: readonly Field[],
): Profile {
  const { name, provider, clientAuth, basic, options } = login;
  const first = grant === undefined ? [] : [{ name: 'grant_type', value: grant, source: SOURCE }];
  return {
    name,
    provider,
    url,
    grant,
    clientAuth,
    basic,
    fields: [...first, ...fields],
    family: undefined,
    // A client assertion is for the authorization server, which its token endpoint stands for (RFC 7523 §3).
    options: { ...options, audience: options.audience ?? token.href },
    notes: [],
  };
}
