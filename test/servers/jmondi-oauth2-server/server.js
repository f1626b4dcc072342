// @jmondi/oauth2-server with storage in memory, a sign-in page, a protected resource and metadata.
import { randomBytes } from 'node:crypto';
import { AuthorizationServer, DateInterval, JwtService } from '@jmondi/oauth2-server';
import { handleVanillaError, requestFromVanilla, responseToVanilla } from '@jmondi/oauth2-server/vanilla';
import { serve } from '../support/serve-fetch.js';

const issuer = String(process.env['ISSUER']);
const scopes = ['read', 'write'].map((name) => ({ name }));
const user = { id: 'ada', password: 'lovelace-1815' };
const newId = () => randomBytes(16).toString('hex');
const inOneHour = () => new Date(Date.now() + 3_600_000);

const userGrants = ['authorization_code', 'refresh_token', 'password'];
const clients = [
  { id: 'robot', secret: 'robot-secret', allowedGrants: ['client_credentials'] },
  { id: 'odd', secret: 's e+c/r:t%&=x', allowedGrants: ['client_credentials'] },
  // Revocation is a request of the first grant, so a client that revokes must have it.
  { id: 'web', secret: 'web-secret', allowedGrants: ['client_credentials', ...userGrants] },
  { id: 'tool', secret: null, allowedGrants: ['client_credentials', ...userGrants] },
].map((client) => ({ ...client, name: client.id, redirectUris: [process.env['REDIRECT_URI']], scopes }));

/** @type {Map<string, any>} */
const codes = new Map();
/** @type {Map<string, any>} */
const tokens = new Map();
/** @type {Map<string, any>} */
const refreshTokens = new Map();

const users = {
  getUserByCredentials: async (id, password, grant) =>
    id === user.id && (grant !== 'password' || password === user.password) ? user : undefined,
};
const jwt = new JwtService('a key for tokens');
const server = new AuthorizationServer(
  {
    getByIdentifier: async (id) => clients.find((client) => client.id === id),
    isClientValid: async (grant, client, secret) =>
      client.allowedGrants.includes(grant) && (client.secret === null || client.secret === secret),
  },
  {
    issueToken: async (client, granted, owner) => ({
      accessToken: newId(),
      accessTokenExpiresAt: inOneHour(),
      client,
      user: owner,
      scopes: granted,
      revoked: false,
    }),
    issueRefreshToken: async (token) => {
      token.refreshToken = newId();
      token.refreshTokenExpiresAt = inOneHour();
      refreshTokens.set(token.refreshToken, token);
      return token;
    },
    persist: async (token) => void tokens.set(token.accessToken, token),
    revoke: async (token) => {
      token.revoked = true;
    },
    isRefreshTokenRevoked: async (token) => token.revoked,
    getByRefreshToken: async (id) => refreshTokens.get(id),
    getByAccessToken: async (id) => tokens.get(id),
  },
  {
    getAllByIdentifiers: async (names) => scopes.filter(({ name }) => names.includes(name)),
    finalize: async (granted) => granted,
  },
  jwt,
  { issuer, requiresPKCE: true, requiresS256: true },
);
server.enableGrantTypes(
  ['client_credentials', new DateInterval('1h')],
  [{ grant: 'password', userRepository: users }, new DateInterval('1h')],
  [
    {
      grant: 'authorization_code',
      userRepository: users,
      authCodeRepository: {
        getByIdentifier: async (code) => codes.get(code),
        issueAuthCode: (client, owner, granted) => ({
          code: newId(),
          client,
          user: owner,
          scopes: granted,
          expiresAt: inOneHour(),
          revoked: false,
        }),
        persist: async (code) => void codes.set(code.code, code),
        isRevoked: async (code) => codes.get(code).revoked,
        revoke: async (code) => {
          codes.get(code).revoked = true;
        },
      },
    },
    new DateInterval('1h'),
  ],
  ['refresh_token', new DateInterval('1h')],
);

const page = `<form method="post"><input name="username"><input type="password" name="password">
<button name="decision" value="allow">Allow</button></form>`;

/** @param {Request} request */
async function authorize(request) {
  if (request.method === 'GET') {
    await server.validateAuthorizationRequest(await requestFromVanilla(request));
    return new Response(page, { headers: { 'Content-Type': 'text/html' } });
  }
  const form = new URLSearchParams(await request.text());
  const authorization = await server.validateAuthorizationRequest(await requestFromVanilla(new Request(request.url)));
  authorization.user = user;
  authorization.isAuthorizationApproved =
    form.get('decision') === 'allow' && form.get('username') === user.id && form.get('password') === user.password;
  return responseToVanilla(await server.completeAuthorizationRequest(authorization));
}

/** @param {Request} request */
async function readResource(request) {
  const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
  const claims = await jwt.verify(token).catch(() => undefined);
  const stored = claims && tokens.get(String(claims['jti']));
  if (stored === undefined || stored.revoked) return Response.json({ error: 'invalid_token' }, { status: 401 });
  return Response.json({ scope: claims?.['scope'] });
}

const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  revocation_endpoint: `${issuer}/revoke`,
  response_types_supported: ['code'],
  grant_types_supported: ['client_credentials', ...userGrants],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
};

/** @type {Record<string, (request: Request) => Promise<Response>>} */
const routes = {
  '/.well-known/oauth-authorization-server': async () => Response.json(metadata),
  '/authorize': authorize,
  '/token': async (request) =>
    responseToVanilla(await server.respondToAccessTokenRequest(await requestFromVanilla(request))),
  '/revoke': async (request) => responseToVanilla(await server.revoke(await requestFromVanilla(request))),
  '/resource': readResource,
};

serve(async (request) => {
  const route = routes[new URL(request.url).pathname];
  if (route === undefined) return new Response('not found', { status: 404 });
  return route(request).catch((error) => responseToVanilla(handleVanillaError(error)));
});
