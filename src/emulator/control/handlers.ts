import { addClient, addUser, type ClientOptions } from '../config.ts';
import type { EmulatorState } from '../emulator-state.ts';
import { publicUrl } from '../endpoints/target.ts';
import { type Fault, faultKinds } from '../faults.ts';
import type { Realm } from '../realm.ts';
import type { Client, User, UserOptions } from '../subjects.ts';
import type { OperationId } from './operations.ts';
import { expireToken, inspectToken, issueToken, revokeToken, type TokenRequest } from './tokens.ts';

/** A request that the control API rejects. */
export class ControlError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly issues?: readonly string[],
    readonly headers?: Readonly<Record<string, string>>,
  ) {
    super(message);
  }
}

/** A valid request to the control API. */
interface ControlRequest {
  /** The emulator's own origin. */
  readonly origin: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number>>;
  readonly body: unknown;
}

type Handler = (emulator: EmulatorState, request: ControlRequest) => unknown;

/** The implementation of each operation. `undefined` is a response without a body. */
export const handlers: Readonly<Record<OperationId, Handler>> = {
  getStatus: ({ realms, faults, stubs }, { origin }) => ({
    url: origin,
    faults: faults.faults.map(({ kind, at }) => (at === undefined ? kind : `${kind}:${at}`)),
    providers: [...new Set([...realms.all()].map(({ provider }) => provider.type))],
    issuers: realms.endpoints().map(({ profile, provider, issuer, jwksUri, tokenUrl }) => ({
      profile,
      provider,
      ...(issuer !== undefined && { loopback: toLoopback(origin, issuer), production: issuer }),
      ...(jwksUri !== undefined && { jwks_uri: toLoopback(origin, jwksUri) }),
      token_endpoint: toLoopback(origin, tokenUrl),
    })),
    hosts: [...realms.hosts().filter((host) => host.includes('.') || host.includes(':')), ...stubs.keys()],
  }),
  listRequests: async ({ log }, { query }) => {
    const { count = 1, wait = 0, after, method, host, path } = query as Record<string, never>;
    const filter = { after, method, host, path };
    return { requests: await log.wait(filter, Number(count), Number(wait) * 1000) };
  },
  clearRequests: ({ log }) => log.clear(),
  listUsers: ({ realms }) => ({ users: [...realms.users.values()].map(showUser) }),
  putUser: ({ realms, log }, { parameters: { login = '' }, body }) => {
    addUser(realms, log, login, body as UserOptions);
    return showUser(realms.users.get(login) ?? { login });
  },
  deleteUser: ({ realms }, { parameters: { login = '' } }) => found(realms.users.delete(login), 'user'),
  listClients: ({ realms }) => ({
    clients: [...realms.all()].flatMap((realm) =>
      [...realm.clients.values()].map((client) => showClient(realm, client)),
    ),
  }),
  addClient: ({ realms, log }, { body }) => {
    const options = body as ClientOptions;
    const { realm, client } = addClient(realms, log, options);
    return showClient(realm, client);
  },
  deleteClient: ({ realms }, { parameters: { client_id: id = '' } }) =>
    found([...realms.all()].filter((realm) => realm.clients.delete(id)).length > 0, 'client'),
  issueToken: (emulator, { origin, body }) => issueToken(emulator, origin, body as TokenRequest),
  inspectToken: (emulator, { origin, body }) => inspectToken(emulator, origin, tokenIn(body)),
  revokeToken: async (emulator, { origin, body }) => found(await revokeToken(emulator, origin, tokenIn(body)), 'token'),
  expireTokens: async (emulator, { origin, body }) => {
    const { token } = body as { token?: string };
    if (token !== undefined) return found(await expireToken(emulator, origin, token), 'token');
    for (const realm of emulator.realms.all()) realm.expiredBefore = emulator.clock();
    return undefined;
  },
  listFaults: ({ faults }) => ({ faults: faults.faults, kinds: faultKinds }),
  setFaults: ({ faults }, { body }) => {
    const { faults: wanted } = body as { faults: Fault[] };
    faults.set(wanted);
    return { faults: wanted };
  },
  clearFaults: ({ faults }) => faults.set([]),
  listKeys: ({ keys }) => keys.jwks(),
  rotateKeys: async ({ keys }, { body }) => {
    const { publish_old: publishOld = false } = body as { publish_old?: boolean };
    return { kid: (await keys.rotate(publishOld)).kid };
  },
  reset: ({ realms, log, faults, keys, restore }) => {
    realms.reset();
    keys.reset();
    faults.set([]);
    log.clear();
    restore();
  },
};

function tokenIn(body: unknown): string {
  return (body as { token: string }).token;
}

function found(exists: boolean, thing: string): void {
  if (!exists) throw new ControlError(404, `no such ${thing}`);
}

function toLoopback(origin: string, url: string): string {
  return publicUrl({ viaLoopback: true, origin }, url);
}

function showUser({ password, ...user }: User) {
  return { ...user, can_sign_in: password !== undefined };
}

function showClient({ provider, tokenUrls }: Realm, { id, credentials, ...settings }: Client) {
  const [host] = tokenUrls.keys();
  const methods = new Set(credentials.map(({ auth }) => auth));
  return { client_id: id, provider: provider.type, host, auth_methods: [...methods], ...settings };
}
