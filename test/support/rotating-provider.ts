import { TransportError } from '../../src/errors.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import type { Send, WireRequest } from '../../src/ports.ts';

/** A provider that rotates refresh tokens and revokes the family when one is used twice. A test can delay or lose its responses. */
export class RotatingProvider {
  readonly requests: URLSearchParams[] = [];
  /** The only valid refresh token. */
  current: string;
  /** Whether the family is revoked, because a refresh token was used twice. */
  revoked = false;
  /** `expires_in` of every token, in seconds. */
  expiresIn: number | undefined = 3600;
  /** Replaces the next responses, one each. `lose` processes the request and sends no response; `unreachable` receives no request. */
  readonly next: (HttpResponse | 'lose' | 'unreachable')[] = [];
  /** While set, responses wait for it. */
  gate: Promise<void> | undefined;
  #issued = 0;

  /** Every request advances `clock` by a millisecond. */
  constructor(
    first: string,
    readonly clock: { time: number },
  ) {
    this.current = first;
  }

  send: Send = async (request: WireRequest) => {
    const form = new URLSearchParams(request.body);
    this.requests.push(form);
    this.clock.time++;
    const planned = this.next.shift();
    if (planned === 'unreachable') throw new TransportError('connection_failed', 'unreachable', { sent: false });
    const response = typeof planned === 'object' ? planned : this.#respond(form);
    await this.gate;
    if (planned === 'lose') throw new TransportError('timeout', 'the response was lost', { sent: true });
    return response;
  };

  #respond(form: URLSearchParams): HttpResponse {
    if (form.get('grant_type') !== 'refresh_token') return json(200, this.#issueToken());
    if (this.revoked || form.get('refresh_token') !== this.current) {
      this.revoked = true;
      return json(400, { error: 'invalid_grant' });
    }
    this.current = `rotated-refresh-token-${this.#issued + 1}`;
    return json(200, { ...this.#issueToken(), refresh_token: this.current });
  }

  #issueToken(): Record<string, unknown> {
    const access_token = `access-token-${++this.#issued}`;
    return { access_token, token_type: 'Bearer', ...(this.expiresIn !== undefined && { expires_in: this.expiresIn }) };
  }
}

/** A JSON response. */
export function json(status: number, members: Record<string, unknown>): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(members) };
}
