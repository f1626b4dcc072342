import { TransportError } from '../../src/errors.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import type { Send, WireRequest } from '../../src/ports.ts';

/** A provider of rotating refresh tokens with strict reuse detection; a test can hold its replies back or lose them. */
export class RotatingProvider {
  readonly requests: URLSearchParams[] = [];
  /** The only refresh token that is good. */
  current: string;
  /** The family is dead: a token was used twice. */
  revoked = false;
  expiresIn: number | undefined = 3600;
  /** Takes the place of the next replies, one each; `lose` acts and then says nothing. */
  readonly next: (HttpResponse | 'lose' | 'unreachable')[] = [];
  /** While set, replies wait for it. */
  gate: Promise<void> | undefined;
  #issued = 0;

  /** `clock` goes on by a millisecond with every request: nothing takes no time. */
  constructor(
    first: string,
    readonly clock: { time: number },
  ) {
    this.current = first;
  }

  readonly send: Send = async (request: WireRequest) => {
    const form = new URLSearchParams(request.body);
    this.requests.push(form);
    this.clock.time++;
    const planned = this.next.shift();
    if (planned === 'unreachable') throw new TransportError('connection_failed', 'no way there', { sent: false });
    const reply = typeof planned === 'object' ? planned : this.#answer(form);
    await this.gate;
    if (planned === 'lose') throw new TransportError('timeout', 'no answer', { sent: true });
    return reply;
  };

  #answer(form: URLSearchParams): HttpResponse {
    if (form.get('grant_type') !== 'refresh_token') return json(200, this.#token());
    if (this.revoked || form.get('refresh_token') !== this.current) {
      this.revoked = true;
      return json(400, { error: 'invalid_grant' });
    }
    this.current = `rotated-refresh-token-${this.#issued + 1}`;
    return json(200, { ...this.#token(), refresh_token: this.current });
  }

  #token(): Record<string, unknown> {
    const access_token = `access-token-${++this.#issued}`;
    return { access_token, token_type: 'Bearer', ...(this.expiresIn !== undefined && { expires_in: this.expiresIn }) };
  }
}

/** A JSON reply. */
export function json(status: number, members: Record<string, unknown>): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(members) };
}
