import { ProviderError } from '../errors.ts';
import type { Profile } from '../profile/profile.ts';
import { escapeControls, excerpt } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';
import { type HttpResponse, isSuccess } from './http-response.ts';
import { toProviderError } from './provider-error.ts';
import { isErrorBody, parseBody } from './response-body.ts';
import type { TokenRequest } from './token-request.ts';

/** A device code, and what its person has to do with it. */
export interface DeviceCode {
  readonly deviceCode: Secret;
  readonly userCode: string;
  readonly verificationUri: string;
  /** The same with the user code in it. */
  readonly verificationUriComplete: string | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly intervalMs: number;
}

const DEFAULT_INTERVAL_SECONDS = 5;
const DEFAULT_LIFETIME_SECONDS = 900;
/** What is shown to be typed is short. */
const MAX_USER_CODE = 64;
const MAX_ADDRESS = 2048;

/** Reads the reply of a device authorization endpoint (RFC 8628 §3.2); everything else throws a {@link ProviderError}. */
export function parseDeviceResponse(
  profile: Profile,
  request: TokenRequest,
  reply: HttpResponse,
  receivedAt: number,
): DeviceCode {
  const body = parseBody(reply.body);
  if (!isSuccess(reply) || (body.kind === 'object' && isErrorBody(body.members))) {
    throw toProviderError(profile, request, reply, body, receivedAt);
  }
  const members = body.kind === 'object' ? body.members : {};
  const code = members['device_code'];
  const userCode = members['user_code'];
  // Google's older name for it.
  const uri = pageAddress(members['verification_uri'] ?? members['verification_url']);
  if (typeof code !== 'string' || code === '' || typeof userCode !== 'string' || userCode === '' || uri === undefined) {
    throw new ProviderError(
      'response_unreadable',
      `${profile.url.host} answered without a device code (HTTP ${reply.status})`,
      {
        provider: { status: reply.status },
        hint: `check that it is a device authorization endpoint: ${profile.name}.options.device_authorization_url`,
      },
    );
  }
  const lifetime = secondsOf(members['expires_in']) ?? DEFAULT_LIFETIME_SECONDS;
  const interval = secondsOf(members['interval']) ?? DEFAULT_INTERVAL_SECONDS;
  return {
    deviceCode: new Secret(code),
    userCode: excerpt(userCode, MAX_USER_CODE),
    verificationUri: uri,
    verificationUriComplete: pageAddress(members['verification_uri_complete']),
    expiresAt: receivedAt + lifetime * 1000,
    intervalMs: Math.max(1, interval) * 1000,
  };
}

/** A person is sent to pages, and to nothing else that an address can be. */
function pageAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_ADDRESS || !/^https?:\/\/[^\s/]/i.test(value)) return undefined;
  return escapeControls(value);
}

function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= 86_400 * 30 ? seconds : undefined;
}
