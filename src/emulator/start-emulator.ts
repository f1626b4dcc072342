import { isIP } from 'node:net';
import { CertificateAuthority } from '../certificates/certificate.ts';
import { type EmulatorOptions, readConfig } from './config.ts';
import { createControlApi } from './control/control-api.ts';
import { RequestLog } from './control/request-log.ts';
import { createDispatcher } from './dispatcher.ts';
import { publicUrl } from './endpoints/target.ts';
import { FaultPlan } from './faults.ts';
import { Realms } from './realms.ts';
import { startServer } from './server.ts';
import { SigningKeys } from './tokens/signing-keys.ts';
import { TokenStates } from './tokens/token-state.ts';

/** A running emulator. */
export interface Emulator {
  readonly port: number;
  /** `http://127.0.0.1:<port>`. Pages and endpoints are at `/<real host>/…`. */
  readonly url: string;
  /** The CA certificate to trust, PEM. */
  readonly ca: string;
  /** Hosts on this machine that are emulated. Clients connect to all others on this machine directly. */
  readonly loopbackHosts: readonly string[];
  /** Origins that clients may reach directly. */
  readonly allow: readonly string[];
  /** The issuer of each profile, as clients see it that use the emulator's own URL. */
  readonly issuers: Readonly<Record<string, string>>;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}

/** Starts an emulator of the five providers and of custom servers on one loopback port. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { profiles = {}, clock = Date.now, onRequest } = options;
  const config = await readConfig(options);
  const realms = new Realms(profiles, config.providers);
  const log = new RequestLog();
  config.apply(realms, log);
  const faults = new FaultPlan();
  faults.set(config.faults);
  const keys = new SigningKeys(config.signing.alg, config.signing.key);
  const authority = new CertificateAuthority('oauth-profile emulator (temporary CA)');
  const restore = (): void => config.apply(realms, log);
  const state = { realms, log, faults, keys, states: new TokenStates(), clock, stubs: config.stubs, restore };
  const control = config.control ? createControlApi(state, authority.certificate) : undefined;
  if (onRequest !== undefined) log.subscribe(onRequest);

  // TLS clients do not send an IP address as server name (RFC 6066 §3), so the default certificate covers all of them.
  const hosts = (): string[] => [...realms.hosts(), ...config.stubs.keys()];
  const names = hosts().map((host) => host.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  const ipAddresses = [...new Set(names)].filter((host) => isIP(host) !== 0);
  const { port, close } = await startServer(config.port, createDispatcher(state, control), (host) => ({
    cert: authority.issue(host === undefined ? ['localhost', '127.0.0.1', '::1', ...ipAddresses] : [host]),
    key: authority.leafKeyPem,
  }));
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    ca: authority.certificate,
    get loopbackHosts() {
      return hosts().filter((host) => /^(?:localhost|127\.|\[::1\])/.test(host));
    },
    allow: config.allow,
    issuers: Object.fromEntries(
      realms
        .endpoints()
        .flatMap(({ profile, issuer }) =>
          issuer === undefined ? [] : [[profile, publicUrl({ viaLoopback: true, origin: url }, issuer)]],
        ),
    ),
    close,
  };
}
