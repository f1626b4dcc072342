import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { parse } from 'node:querystring';
import OAuth2Server, {
  type AuthorizationCode,
  type AuthorizationCodeModel,
  type Client,
  type ClientCredentialsModel,
  type PasswordModel,
  type RefreshTokenModel,
  type Token,
} from '@node-oauth/oauth2-server';
import type { Pair } from '../support/certificates.ts';
import { forHttp, LocalServer } from '../support/server.ts';

/** Clients and users of the server. */
export interface OAuth2Accounts {
  readonly clients: readonly (Client & { readonly secret: string })[];
  /** Passwords by user name. */
  readonly users: Readonly<Record<string, string>>;
  readonly scopes: readonly string[];
}

/** A running `@node-oauth/oauth2-server`. */
export interface OAuth2ServerProcess {
  readonly origin: string;
  readonly tokenUrl: string;
  close(): Promise<void>;
}

type Model = AuthorizationCodeModel & ClientCredentialsModel & PasswordModel & RefreshTokenModel;

/** Starts `@node-oauth/oauth2-server` with a model in memory. At `/authorize` its first user consents to everything. */
export async function startOAuth2Server(accounts: OAuth2Accounts, tls?: Pair): Promise<OAuth2ServerProcess> {
  const oauth2 = new OAuth2Server({ model: createModel(accounts), allowEmptyState: true });
  const [user] = Object.keys(accounts.users);
  const local = new LocalServer(...forHttp(tls));
  local.server.on('request', handlerOf(oauth2, { name: user }));
  const { origin } = await local.listen();
  return { origin, tokenUrl: `${origin}/token`, close: () => local.stop() };
}

/** The storage that the server requires. */
function createModel({ clients, users, scopes }: OAuth2Accounts): Model {
  const tokens = new Map<string, Token>();
  const codes = new Map<string, AuthorizationCode>();
  return {
    async getClient(id, secret) {
      const client = clients.find((candidate) => candidate.id === id);
      // The authorization endpoint passes no secret.
      return client !== undefined && (secret === null || secret === client.secret) ? client : undefined;
    },
    getUser: async (name, password) => (Object.hasOwn(users, name) && users[name] === password ? { name } : undefined),
    getUserFromClient: async ({ id }) => ({ name: id }),
    validateScope: async (_, __, requested = ['read']) =>
      requested.every((scope) => scopes.includes(scope)) && [...requested],
    async saveToken(token, client, user) {
      const saved = { ...token, client, user };
      tokens.set(token.accessToken, saved);
      if (token.refreshToken !== undefined) tokens.set(token.refreshToken, saved);
      return saved;
    },
    getAccessToken: async (token) => tokens.get(token),
    async getRefreshToken(refreshToken) {
      const found = tokens.get(refreshToken);
      return found?.refreshToken === refreshToken ? { ...found, refreshToken } : undefined;
    },
    revokeToken: async ({ refreshToken }) => tokens.delete(refreshToken),
    generateAuthorizationCode: async () => randomBytes(16).toString('hex'),
    async saveAuthorizationCode(code, client, user) {
      const saved = { ...code, client, user };
      codes.set(code.authorizationCode, saved);
      return saved;
    },
    getAuthorizationCode: async (code) => codes.get(code),
    revokeAuthorizationCode: async ({ authorizationCode }) => codes.delete(authorizationCode),
  };
}

/** Reads the body, calls the server and writes the response, as a web framework does. */
function handlerOf(server: OAuth2Server, user: object): RequestListener {
  return async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://host');
    const request = new OAuth2Server.Request({
      method: incoming.method ?? '',
      headers: incoming.headers as Record<string, string>,
      query: Object.fromEntries(searchParams),
      body: parse(Buffer.concat(chunks).toString()),
    });
    const response = new OAuth2Server.Response();
    try {
      if (pathname === '/authorize')
        await server.authorize(request, response, { authenticateHandler: { handle: () => user } });
      else await server.token(request, response);
    } catch (error) {
      const { code, name, message } = error as OAuth2Server.OAuthError;
      response.status = code;
      response.body = { error: name, error_description: message };
    }
    outgoing.writeHead(response.status ?? 500, { ...response.headers, 'Content-Type': 'application/json' });
    outgoing.end(JSON.stringify(response.body));
  };
}
