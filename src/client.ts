import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { type DataObject, flatten } from './config/flatten.ts';
import { type DataEntries, loadVariables } from './config/load-variables.ts';
import type { ExternalSources } from './config/resolver.ts';
import { type Entry, Variables } from './config/variables.ts';
import { abortError } from './errors.ts';
import { localFiles } from './files/local-files.ts';
import {
  createProfileSources,
  findProfileFiles,
  type ProcessEnvironment,
  readNamedFile,
} from './files/profile-files.ts';
import type { MetadataUse } from './flows/discover-endpoints.ts';
import { SingleFlight } from './flows/single-flight.ts';
import { findStoredGrant } from './flows/token-family.ts';
import type { Connector } from './http/connector.ts';
import type {
  CallApi,
  Clock,
  EmulatorEndpoint,
  Files,
  InspectCertificate,
  Limits,
  Log,
  LoginPorts,
  Ports,
  TokenStore,
} from './ports.ts';
import { readLocalSource } from './profile/assertion-source.ts';
import { completeProfile } from './profile/complete-profile.ts';
import { type ParsedProfile, parseProfile } from './profile/parse-profile.ts';
import type { AssertionSource, Profile } from './profile/profile.ts';
import { catalogueTypes, loadCatalogue } from './providers/registry.ts';
import type { Vault } from './store/vault/vault.ts';
import { version } from './version.ts';

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** Default: this process. */
  readonly environment?: ProcessEnvironment | undefined;
  /** Every connection goes to this emulator, and nothing is stored beyond the process. Default: `OAUTH_PROFILE_EMULATOR`. */
  readonly emulator?: EmulatorEndpoint | undefined;
  /** URL of a Redis, or `memory`. Default: `OAUTH_PROFILE_STORE`, else the vault of this user. */
  readonly store?: string | undefined;
  /** Whether connections stay open for the next request. Default: true. */
  readonly keepAlive?: boolean | undefined;
  /** Receives the lines that `--verbose` shows. */
  readonly log?: Log | undefined;
  /** Receives warnings, such as a token that cannot be stored. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** Variables in addition to, or instead of, the user's and the directory's profile files. */
export interface VariableSources {
  /** Variables of a program. The profile files are not read. */
  readonly data?: DataObject | undefined;
  /** The `data:` of a script. */
  readonly script?: DataEntries | undefined;
  /** Paths given with `--data`. */
  readonly files?: readonly string[] | undefined;
  /** Values given with `--set`. */
  readonly settings?: readonly Entry[] | undefined;
  /** Do not read the profile file of the working directory. Default: false. */
  readonly ignoreDirectory?: boolean | undefined;
}

/** Everything that the calls of one program share: variables, connections, the store and the requests in progress. */
export interface Client {
  readonly ports: Ports;
  readonly sources: ExternalSources;
  readonly singleFlight: SingleFlight;
  readonly warn: (message: string) => void;
  readonly callApi: CallApi;
  readonly files: Files;
  readonly inspectCertificate: InspectCertificate;
  /** How requests reach a host: through proxies, or to the emulator. */
  connector(): Promise<Connector>;
  loginPorts(): Promise<LoginPorts>;
  /** Reads the variables of all sources. */
  loadVariables(sources?: VariableSources): Promise<Variables>;
  /** Parses a profile. The endpoints of an issuer are discovered; cached metadata is used as `metadata` defines, by default while it is valid. */
  parseProfile(
    name: string,
    variables: Variables,
    metadata?: MetadataUse,
    signal?: AbortSignal | undefined,
  ): Promise<ParsedProfile>;
  /** Parses and validates a profile. A stored login is merged in. */
  loadProfile(
    name: string,
    variables?: Variables,
    metadata?: MetadataUse,
    signal?: AbortSignal | undefined,
  ): Promise<Profile>;
  /** Completes a parsed profile with the stored login, if there is one. */
  completeProfile(parsed: ParsedProfile): Promise<Profile>;
  /** Opens the store at the first call. */
  openStore(): Promise<TokenStore & Partial<Pick<Vault, 'keySource'>>>;
  /** Waits for refreshes in progress, then closes the store. */
  close(): Promise<void>;
}

/** Creates a client. This is the only place that connects the core with files, network and store; their modules are loaded at first use. */
export function createClient(options: ClientOptions = {}): Client {
  const { environment = thisProcess, log = () => {}, warn = () => {}, keepAlive = true } = options;
  const { env } = environment;
  const emulator = lazy(async () => options.emulator ?? (await emulatorIn(env)));
  const sources = createProfileSources(environment);
  const clock = createClock();
  const singleFlight = new SingleFlight(clock);
  const connector = lazy(async () => (await import('./http/connector.ts')).createConnector(env, await emulator()));
  const send = lazy(async () => (await import('./http/send.ts')).createSend(await connector()));
  const callApi = lazy(async () => (await import('./http/call-api.ts')).createCallApi(await connector()));
  let opening: ReturnType<Client['openStore']> | undefined;

  const client: Client = {
    sources,
    singleFlight,
    warn,
    ports: {
      clock,
      log,
      version,
      random: Math.random,
      async send(request, limits) {
        const sendOnce = await send();
        const { impersonation } = request;
        if (impersonation !== undefined) {
          const { sendImpersonated } = await import('./http/grants/impersonation.ts');
          return sendImpersonated(sendOnce, request, impersonation, clock, shared(limits));
        }
        if (request.installation !== undefined) {
          const { sendInstallation } = await import('./http/grants/installation.ts');
          return sendInstallation(sendOnce, client.callApi, request, request.installation, clock, shared(limits));
        }
        return sendOnce(keepAlive ? request : { ...request, reuseConnection: false }, shared(limits));
      },
      async readAssertion(spec, profile, limits) {
        const { createReadAssertion } = await import('./http/assertion-source.ts');
        const readLocal = (source: AssertionSource) => readLocalSource(source, sources);
        return createReadAssertion({ env, readLocal, callApi: client.callApi })(spec, profile, shared(limits));
      },
      dpop: lazy(async () => (await import('./http/dpop.ts')).createDpop(clock)),
      async sign(spec, profile, limits) {
        const { signAssertion } = await import('./http/client-assertion.ts');
        return signAssertion(spec, profile, shared(limits));
      },
    },
    callApi: async (request, limits) => (await callApi())(request, shared(limits)),
    files: localFiles,
    connector,
    async inspectCertificate(...args) {
      const { createInspectCertificate } = await import('./http/inspect-certificate.ts');
      return createInspectCertificate(await connector())(...args);
    },
    async loginPorts() {
      const { createLoginPorts } = await import('./interactive/login-ports.ts');
      return createLoginPorts(env, client.callApi, await emulator());
    },
    async loadVariables(variableSources) {
      const variables = await readVariables(environment, variableSources);
      // A type may be a reference.
      const types = variables.profileNames().map((name) => String(variables.get(`${name}.type`)?.value));
      if (types.some((type) => type.includes('${') || catalogueTypes.includes(type))) await loadCatalogue();
      return variables;
    },
    async parseProfile(name, variables, metadata = 'cached', signal) {
      const parsed = parseProfile(name, variables, sources);
      const { issuer } = parsed.options;
      if (issuer === undefined) return parsed;
      const { discoverEndpoints } = await import('./flows/discover-endpoints.ts');
      const { withIssuerEndpoints, withoutIssuerEndpoints } = await import('./profile/issuer-endpoints.ts');
      const endpoints = await discoverEndpoints({ ...parsed, issuer }, client, metadata, signal);
      return endpoints === undefined ? withoutIssuerEndpoints(parsed) : withIssuerEndpoints(parsed, endpoints);
    },
    async loadProfile(name, variables, metadata, signal) {
      const parsed = await client.parseProfile(name, variables ?? (await client.loadVariables()), metadata, signal);
      if (parsed.disclosure !== undefined) warn(parsed.disclosure);
      return client.completeProfile(parsed);
    },
    async completeProfile(parsed) {
      const { name, binding, configuredRefreshToken } = parsed;
      if (binding === undefined) return completeProfile(parsed);
      const store = await client.openStore();
      return completeProfile(parsed, await findStoredGrant(name, binding, configuredRefreshToken, store));
    },
    openStore() {
      opening ??= openStore(env, clock, options.store, emulator, warn).catch((error) => {
        // A Redis that is unavailable now may be back at the next call.
        opening = undefined;
        throw error;
      });
      return opening;
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
  return client;
}

async function readVariables(
  environment: ProcessEnvironment,
  { data, script, files: paths = [], settings = [], ignoreDirectory }: VariableSources = {},
): Promise<Variables> {
  if (data === undefined) {
    return loadVariables({
      ...findProfileFiles(environment, ignoreDirectory),
      script,
      given: paths.map((path) => readNamedFile(path, environment)),
      settings: { entries: settings, source: { label: '--set', directory: '', trust: 'given' } },
    });
  }
  const variables = new Variables('data');
  if (script !== undefined) variables.add(script.entries, script.source);
  return variables.add(flatten(data, 'data'), { label: 'data', directory: '', trust: 'given' });
}

async function openStore(
  env: ProcessEnvironment['env'],
  clock: Clock,
  store: string | undefined,
  emulator: () => Promise<EmulatorEndpoint | undefined>,
  warn: (message: string) => void,
): ReturnType<Client['openStore']> {
  if (store === 'memory' || (await emulator()) !== undefined)
    return new (await import('./store/memory.ts')).MemoryStore(clock);
  const url = store ?? env['OAUTH_PROFILE_STORE'];
  if (url) return (await import('./store/redis/redis-store.ts')).openRedisStore(url, { env, warn });
  return new (await import('./store/vault/vault.ts')).Vault({ env, clock });
}

/** The emulator that `oauth-profile emulate -- command` started, for its command. */
async function emulatorIn(env: ProcessEnvironment['env']): Promise<EmulatorEndpoint | undefined> {
  const url = env['OAUTH_PROFILE_EMULATOR'];
  return url ? (await import('./store/emulator-registry.ts')).findEmulator(url, env) : undefined;
}

const clients = new Map<string | undefined, Client>();
const emulatedClients = new WeakMap<EmulatorEndpoint, Client>();

/** The client that all library calls with the same store or emulator share. */
export function sharedClient({ emulator, store }: Pick<ClientOptions, 'emulator' | 'store'>): Client {
  const known = emulator === undefined ? clients.get(store) : emulatedClients.get(emulator);
  if (known !== undefined) return known;
  const warn = (message: string): void => process.emitWarning(message, 'OAuthProfileWarning');
  const client = createClient({ emulator, store, warn });
  if (emulator === undefined) clients.set(store, client);
  else emulatedClients.set(emulator, client);
  return client;
}

/** Environment of this process. */
export const thisProcess: ProcessEnvironment = {
  env: process.env,
  get cwd() {
    return process.cwd();
  },
};

/** The system time, except that it never goes back: a token would live longer than the provider allows. */
function createClock(): Clock {
  let time = Date.now();
  let compared = { time, systemTime: time, monotonic: process.uptime() * 1000 };
  return {
    now() {
      const systemTime = Date.now();
      time = Math.max(time, systemTime);
      const sinceCompared = systemTime - compared.systemTime;
      // Once a second is enough to notice that the system time was set back. At each call it would cost a cached token a third of its time.
      if (sinceCompared < 0 || sinceCompared >= 1_000) {
        const monotonic = process.uptime() * 1000;
        // The system time also counts while the machine is suspended.
        time = Math.max(time, compared.time + monotonic - compared.monotonic);
        compared = { time, systemTime, monotonic };
      }
      return Math.floor(time);
    },
    async sleep(ms, signal) {
      const options = signal && shared({ signal });
      await setTimeout(ms, undefined, options).catch(() => {
        throw abortError(signal);
      });
    },
  };
}

/** Any number of calls may share a signal: Node would report their listeners as a leak. */
export function shared<L extends Pick<Limits, 'signal'>>(limits: L): L {
  if (limits.signal !== undefined) setMaxListeners(0, limits.signal);
  return limits;
}

function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}
