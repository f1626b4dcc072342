import { TransportError } from '../errors.ts';
import type { CallApi, EmulatorEndpoint } from '../ports.ts';
import { callThrough } from './call-api.ts';
import { EmulatedRoutes } from './send-emulated.ts';

/** A {@link CallApi} whose every connection ends at an emulator: real addresses, real TLS, no look-up of names, no proxy. */
export function createEmulatedCallApi(emulator: EmulatorEndpoint): CallApi {
  const call = callThrough(new EmulatedRoutes(emulator));
  return async (request, bounds) => {
    const reply = await call(request, bounds);
    if (reply.headers['x-oauth-profile-emulator'] !== 'not_emulated') return reply;
    throw new TransportError('not_emulated', `${request.url.host} is not emulated`, {
      sent: true,
      hint: "the emulator knows the providers' own hosts and those of the profiles that it was given",
    });
  };
}
