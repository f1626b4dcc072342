import { OAuthProfileError, ProviderError } from '../../errors.ts';
import {
  buildDeviceAuthorizationRequest,
  buildDeviceTokenRequest,
  type DeviceCode,
  parseDeviceAuthorizationResponse,
} from '../../oauth/device.ts';
import { type LoginResponse, parseLoginResponse } from '../../oauth/token-response.ts';
import type { Ports } from '../../ports.ts';
import type { DeviceEndpoints } from '../../profile/endpoints.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { isPassing, postForm } from '../post-form.ts';
import { toLoginError } from './explain-sign-in.ts';

/** What a person is shown of a device code. */
export interface DeviceCodePrompt {
  showCode(code: Pick<DeviceCode, 'userCode' | 'verificationUri' | 'verificationUriComplete'>, leftMs: number): void;
  /** Again and again until the person has decided. */
  showWaiting(leftMs: number): void;
}

/** RFC 8628 §3.5. */
const SLOWER_MS = 5_000;

/** Signs a person in with a code that is entered on any device (RFC 8628). */
export async function loginDeviceCode(
  login: LoginProfile,
  ports: Ports,
  person: DeviceCodePrompt,
  signal: AbortSignal | undefined,
): Promise<LoginResponse> {
  const places = login.endpoints.device;
  for (const [index, place] of places.entries()) {
    try {
      return await signInAt(place, login, ports, person, signal);
    } catch (error) {
      if (index === places.length - 1 || !isForOwnTenant(error, login)) throw toLoginError(error, login);
      ports.log(`${(error as Error).message}; asking the profile's own tenant instead`);
    }
  }
  throw new OAuthProfileError('profile_invalid', `${login.name} has no address that device codes are asked of`, {
    hint: `set ${login.name}.options.device_authorization_url, or use --browser`,
  });
}

async function signInAt(
  place: DeviceEndpoints,
  login: LoginProfile,
  ports: Ports,
  person: DeviceCodePrompt,
  signal: AbortSignal | undefined,
): Promise<LoginResponse> {
  const { clock, log } = ports;
  const code = await postForm(
    buildDeviceAuthorizationRequest(login, place),
    parseDeviceAuthorizationResponse,
    'any',
    ports,
    signal,
  );
  const poll = buildDeviceTokenRequest(login, place, code.deviceCode);
  person.showCode(code, code.expiresAt - clock.now());
  let { intervalMs } = code;
  let failed: unknown;
  for (let waitMs = intervalMs; ; ) {
    const leftMs = code.expiresAt - clock.now();
    person.showWaiting(Math.max(0, leftMs));
    await clock.sleep(Math.max(0, Math.min(waitMs, leftMs)), signal);
    // Whoever entered the code must not read that nobody did, where the provider was out of order to the end.
    if (leftMs < waitMs) throw failed ?? expired(login);
    try {
      return await postForm(poll, parseLoginResponse, 'never', ports, signal);
    } catch (error) {
      const pause = pauseAfter(error, intervalMs);
      if (pause === undefined) throw error;
      failed = isAnswer(error) ? undefined : error;
      if (pause !== intervalMs) log(`asking every ${pause / 1000} s from now on: ${(error as Error).message}`);
      intervalMs = pause;
      const retryAt = (error instanceof ProviderError ? error.retryAt : undefined) ?? 0;
      waitMs = Math.max(intervalMs, retryAt - clock.now());
    }
  }
}

/** The interval after a poll that brought no token; `undefined` where no further one would. */
function pauseAfter(error: unknown, intervalMs: number): number | undefined {
  if (isPassing(error)) return intervalMs * 2;
  if (!(error instanceof ProviderError)) return undefined;
  if (error.provider.error === 'authorization_pending') return intervalMs;
  if (error.provider.error === 'slow_down' || error.code === 'rate_limited') return intervalMs + SLOWER_MS;
  return error.code === 'provider_unavailable' ? intervalMs * 2 : undefined;
}

/** Whether the provider looked at the code, and the person has not decided yet. */
function isAnswer(error: unknown): boolean {
  return error instanceof ProviderError && error.code === 'provider_rejected';
}

/** D23: an application of one tenant is refused where those of many are served. */
function isForOwnTenant(error: unknown, { provider }: LoginProfile): boolean {
  const codes = provider.login?.deviceTenant?.rejectedWith ?? [];
  return error instanceof ProviderError && error.provider.codes?.some((code) => codes.includes(code)) === true;
}

function expired({ command }: LoginProfile): OAuthProfileError {
  return new OAuthProfileError('timeout', 'nobody entered the code in time', {
    hint: `run again: ${command}`,
  });
}
