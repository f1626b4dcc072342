import { ProviderError } from '../../errors.ts';
import type { DeviceEndpoints } from '../../profile/endpoints.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import type { Profile } from '../../profile/profile.ts';
import { parseUrl } from '../../profile/url.ts';
import { escapeControls, excerpt } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import type { Exchange } from '../http-response.ts';
import { parseSuccessBody } from '../provider-error.ts';
import { createLoginRequest } from '../token-request.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Default of `interval`, in seconds (RFC 8628 §3.2). */
const DEFAULT_INTERVAL_SECONDS = 5;
/** `expires_in` if the response has none although it is required, in seconds. */
const DEFAULT_LIFETIME_SECONDS = 900;
/** Longer values of `expires_in` and `interval` are ignored, in seconds. */
const MAX_SECONDS = 86_400 * 30;
/** Limits of what is shown to the user, in characters. */
const MAX_USER_CODE_LENGTH = 64;
const MAX_URI_LENGTH = 2048;

/** A device authorization response. */
export interface DeviceCode {
  readonly deviceCode: Secret;
  /** The code that the user enters. */
  readonly userCode: string;
  readonly verificationUri: string;
  /** Verification URI that contains the user code. */
  readonly verificationUriComplete: string | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Minimum time between two polls, in milliseconds. */
  readonly intervalMs: number;
}

/** Builds a device authorization request (RFC 8628 §3.1). The client authenticates as in a token request. */
export function buildDeviceAuthorizationRequest(
  login: LoginProfile,
  { deviceAuthorizationUrl, tokenUrl }: DeviceEndpoints,
): Profile {
  const { clientParameters, scope, extraParameters } = login;
  const fields = [...clientParameters, ...(scope === undefined ? [] : [scope]), ...extraParameters];
  const request = createLoginRequest(login, deviceAuthorizationUrl, tokenUrl, undefined, fields);
  return { ...request, endpoint: 'device_authorization' };
}

/** Parses a device authorization response (RFC 8628 §3.2). Throws {@link ProviderError}. */
export function parseDeviceAuthorizationResponse(exchange: Exchange): DeviceCode {
  const { profile, response, receivedAt } = exchange;
  const body = parseSuccessBody(exchange);
  const members = body.kind === 'object' ? body.members : {};
  const code = members['device_code'];
  const userCode = members['user_code'];
  // Google's device endpoint uses the older name verification_url.
  const uri = parsePageUri(members['verification_uri'] ?? members['verification_url']);
  if (typeof code !== 'string' || code === '' || typeof userCode !== 'string' || userCode === '' || uri === undefined) {
    const { status } = response;
    throw new ProviderError('response_unreadable', `${profile.url.host} returned no device code (HTTP ${status})`, {
      provider: { status },
      hint: `check that ${profile.name}.options.device_authorization_url is a device authorization endpoint`,
    });
  }
  const lifetime = parseSeconds(members['expires_in']) ?? DEFAULT_LIFETIME_SECONDS;
  const interval = parseSeconds(members['interval']) ?? DEFAULT_INTERVAL_SECONDS;
  return {
    deviceCode: new Secret(code),
    userCode: excerpt(userCode, MAX_USER_CODE_LENGTH),
    verificationUri: uri,
    verificationUriComplete: parsePageUri(members['verification_uri_complete']),
    expiresAt: receivedAt + lifetime * 1000,
    intervalMs: Math.max(1, interval) * 1000,
  };
}

/** Builds the token request that polls for the result (RFC 8628 §3.4). */
export function buildDeviceTokenRequest(login: LoginProfile, { tokenUrl }: DeviceEndpoints, code: Secret): Profile {
  const names = ['device_code', login.provider.login?.deviceCodeAlias].filter((name) => name !== undefined);
  const codes = names.map((name) => ({ name, value: code, source: 'login' }));
  const fields = [...codes, ...login.clientParameters, ...login.tokenParameters];
  return createLoginRequest(login, tokenUrl, tokenUrl, DEVICE_GRANT, fields);
}

/** Only http: and https: URIs are shown: users open them. User info would hide the host: `https://microsoft.com@evil.example`. */
function parsePageUri(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_URI_LENGTH || !/^https?:\/\/[^\s/]/i.test(value))
    return undefined;
  const { username = '?', password } = parseUrl(value) ?? {};
  return username === '' && password === '' ? escapeControls(value) : undefined;
}

function parseSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}
