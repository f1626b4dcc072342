import { OAuthProfileError, ProviderError } from '../../errors.ts';
import {
  buildDeviceAuthorizationRequest,
  buildDeviceTokenRequest,
  type DeviceCode,
  parseDeviceAuthorizationResponse,
} from '../../oauth/login/device.ts';
import { type ParsedToken, parseTokenResponse } from '../../oauth/token-response.ts';
import type { Ports } from '../../ports.ts';
import type { DeviceEndpoints } from '../../profile/endpoints.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { isTransient, post } from '../request-token.ts';
import { expiredError, toLoginError } from './login-error.ts';

/** How a device code is shown to the user. */
export interface DeviceCodePrompt {
  showCode(code: Pick<DeviceCode, 'userCode' | 'verificationUri' | 'verificationUriComplete'>, leftMs: number): void;
  /** Called before each poll. */
  showWaiting(leftMs: number): void;
}

/** RFC 8628 §3.5. */
const SLOW_DOWN_MS = 5_000;

/** Device code flow (RFC 8628). */
export async function loginWithDeviceCode(
  login: LoginProfile,
  ports: Ports,
  prompt: DeviceCodePrompt,
  signal: AbortSignal | undefined,
): Promise<ParsedToken> {
  const candidates = login.endpoints.device;
  for (const [index, endpoints] of candidates.entries()) {
    try {
      return await loginAt(endpoints, login, ports, prompt, signal);
    } catch (error) {
      if (index === candidates.length - 1 || !requiresOwnTenant(error, login)) throw toLoginError(error, login);
      ports.log(`${(error as Error).message}; trying the profile's own tenant`);
    }
  }
  throw new OAuthProfileError('profile_invalid', `${login.name} has no device authorization URL`, {
    hint: `set ${login.name}.options.device_authorization_url, or use --browser`,
  });
}

async function loginAt(
  endpoints: DeviceEndpoints,
  login: LoginProfile,
  ports: Ports,
  prompt: DeviceCodePrompt,
  signal: AbortSignal | undefined,
): Promise<ParsedToken> {
  const { clock, log } = ports;
  const code = await post(buildDeviceAuthorizationRequest(login, endpoints), ports, {
    parse: parseDeviceAuthorizationResponse,
    mayRetry: () => true,
    signal,
  });
  const poll = buildDeviceTokenRequest(login, endpoints, code.deviceCode);
  prompt.showCode(code, code.expiresAt - clock.now());
  let { intervalMs } = code;
  let lastFailure: unknown;
  for (let waitMs = intervalMs; ; ) {
    const leftMs = code.expiresAt - clock.now();
    prompt.showWaiting(Math.max(0, leftMs));
    await clock.sleep(Math.max(0, Math.min(waitMs, leftMs)), signal);
    // If the provider failed until the end, the user may have entered the code: report the failure instead.
    if (leftMs < waitMs) throw lastFailure ?? expiredError(login.command);
    try {
      // The next poll is the retry.
      return await post(poll, ports, { parse: parseTokenResponse, mayRetry: () => false, signal });
    } catch (error) {
      const nextMs = intervalAfter(error, intervalMs);
      if (nextMs === undefined) throw error;
      const isPending = error instanceof ProviderError && error.code === 'provider_rejected';
      lastFailure = isPending ? undefined : error;
      if (nextMs !== intervalMs) log(`polling every ${nextMs / 1000} s from now on: ${(error as Error).message}`);
      intervalMs = nextMs;
      const retryAt = (error instanceof ProviderError ? error.retryAt : undefined) ?? 0;
      waitMs = Math.max(intervalMs, retryAt - clock.now());
    }
  }
}

/** The polling interval after a failed poll; `undefined` if no further poll can succeed. */
function intervalAfter(error: unknown, intervalMs: number): number | undefined {
  if (isTransient(error)) return intervalMs * 2;
  if (!(error instanceof ProviderError)) return undefined;
  if (error.provider.error === 'authorization_pending') return intervalMs;
  if (error.provider.error === 'slow_down' || error.code === 'rate_limited') return intervalMs + SLOW_DOWN_MS;
  return error.code === 'provider_unavailable' ? intervalMs * 2 : undefined;
}

/** D23: a single-tenant application is rejected by the endpoint for all organizations. */
function requiresOwnTenant(error: unknown, { provider }: LoginProfile): boolean {
  const codes = provider.login?.deviceTenant?.rejectedWith ?? [];
  return error instanceof ProviderError && error.provider.codes?.some((code) => codes.includes(code)) === true;
}
