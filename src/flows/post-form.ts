import { OAuthProfileError, TransportError } from '../errors.ts';
import type { HttpResponse } from '../oauth/http-response.ts';
import { ATTEMPT_MS, backoffMs, MAX_ATTEMPTS } from '../oauth/retry-policy.ts';
import { buildTokenRequest, encodeForm, type TokenRequest, withAssertion } from '../oauth/token-request.ts';
import type { Ports } from '../ports.ts';
import { type Profile, tlsFiles } from '../profile/profile.ts';

/** Reads a reply, or throws. */
export type Parse<T> = (profile: Profile, request: TokenRequest, reply: HttpResponse, receivedAt: number) => T;

/** Which failures of the network another attempt is made after: those before anything was sent, all of them, or none. */
export type Repeat = 'unsent' | 'any' | 'never';

/** Posts the form of a sign-in's request and reads the reply. */
export async function postForm<T>(
  profile: Profile,
  parse: Parse<T>,
  repeat: Repeat,
  ports: Ports,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { clock, log } = ports;
  const request = buildTokenRequest(profile, ports.version);
  const { url, headers } = request;
  const tls = tlsFiles(profile.options);
  const bounds = { timeoutMs: Math.min(ATTEMPT_MS, profile.options.timeoutMs), signal };
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted)
      throw new OAuthProfileError('aborted', 'the sign-in was interrupted', { cause: signal.reason });
    try {
      const assertion = request.assertion && (await ports.sign(request.assertion, profile.name, bounds));
      const signed = assertion === undefined ? request : withAssertion(request, assertion);
      const body = encodeForm(signed);
      const wire = { profile: profile.name, url, headers, body, reuseConnection: false, tls };
      const reply = await ports.send(wire, bounds);
      return parse(profile, signed, reply, clock.now());
    } catch (error) {
      if (!(error instanceof TransportError) || !isPassing(error) || attempt >= MAX_ATTEMPTS) throw error;
      if (repeat === 'never' || (repeat === 'unsent' && error.sent)) throw error;
      const waitMs = backoffMs(attempt + 1, ports.random());
      log(`attempt ${attempt}: ${error.message}; again in ${(waitMs / 1000).toFixed(1)} s`);
      await clock.sleep(waitMs, signal);
    }
  }
}

/** A failure of the network that may be over by the next time. */
export function isPassing(error: unknown): boolean {
  return error instanceof TransportError && (error.code === 'connection_failed' || error.code === 'timeout');
}
