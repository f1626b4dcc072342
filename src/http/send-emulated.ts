import { Agent } from 'node:http';
import { request, Agent as SecureAgent } from 'node:https';
import { TransportError } from '../errors.ts';
import type { EmulatorEndpoint, Send } from '../ports.ts';
import type { ConnectionTarget, Connector, Route } from './connector.ts';
import { formatHost, serverNameOf } from './host-of.ts';
import { sendThrough } from './send.ts';

/** A {@link Send} whose every connection ends at an emulator: real addresses, real TLS, no look-up of names, no proxy. */
export function createEmulatedSend(emulator: EmulatorEndpoint): Send {
  const send = sendThrough(new EmulatedRoutes(emulator));
  return async (wire, bounds) => {
    const reply = await send(wire, bounds);
    if (reply.headers['x-oauth-profile-emulator'] !== 'not_emulated') return reply;
    throw new TransportError('not_emulated', `${wire.url.host} is not emulated`, {
      sent: true,
      hint: `the emulator knows the providers' own hosts and those of the profiles that it was given: give it ${wire.profile} with --data`,
    });
  };
}

/** Every way ends at the emulator. */
export class EmulatedRoutes implements Connector {
  readonly #plain = new Agent({ keepAlive: true });
  readonly #secure: SecureAgent;

  constructor(readonly emulator: EmulatorEndpoint) {
    this.#secure = new SecureAgent({ keepAlive: true, ca: emulator.ca });
  }

  async routeTo({ url, reuseConnection }: ConnectionTarget): Promise<Route> {
    const secure = url.protocol === 'https:';
    const kept = secure ? this.#secure : this.#plain;
    return {
      options: {
        host: '127.0.0.1',
        port: this.emulator.port,
        path: url.pathname + url.search,
        agent: reuseConnection && kept,
        // Certificates are checked against the real host.
        ...(secure && { ca: this.emulator.ca, servername: serverNameOf(formatHost(url)) }),
      },
      headers: {},
      secure,
      request: secure ? request : undefined,
      proxy: undefined,
    };
  }
}
