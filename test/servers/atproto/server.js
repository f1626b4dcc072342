// @atproto/oauth-provider with storage in memory. Its own page needs a browser, so every visitor is signed in and consents at once.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { JoseKey } from '@atproto/jwk-jose';
import { Keyset, OAuthProvider, oauthMiddleware } from '@atproto/oauth-provider';

const issuer = String(process.env['ISSUER']);
const account = { sub: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz', aud: 'did:web:localhost', preferred_username: 'ada.test' };
const deviceId = `dev-${'0'.repeat(32)}`;

/** @type {Map<string, any>} */
const requests = new Map();
/** @type {Map<string, any>} */
const tokens = new Map();

const infoOf = (id) => {
  const token = tokens.get(id);
  return token === undefined
    ? null
    : { id, account, data: token.data, currentRefreshToken: token.refreshTokens.at(-1) };
};
const findToken = (matches) => {
  const [id] = [...tokens].find(([, token]) => matches(token)) ?? [];
  return infoOf(id);
};
const store = {
  getAccount: () => ({ account, authorizedClients: new Map() }),
  createRequest: (id, data) => void requests.set(id, data),
  readRequest: (id) => requests.get(id) ?? null,
  updateRequest: (id, data) => void Object.assign(requests.get(id), data),
  deleteRequest: (id) => void requests.delete(id),
  consumeRequestCode(code) {
    const [requestId, data] = [...requests].find(([, request]) => request.code === code) ?? [];
    requests.delete(requestId);
    return data === undefined ? null : { requestId, data };
  },
  createToken: (id, data, refreshToken) => void tokens.set(id, { data, refreshTokens: [refreshToken] }),
  readToken: infoOf,
  deleteToken: (id) => void tokens.delete(id),
  rotateToken(id, newId, refreshToken, changes) {
    const { data, refreshTokens } = tokens.get(id);
    tokens.delete(id);
    tokens.set(newId, { data: { ...data, ...changes }, refreshTokens: [...refreshTokens, refreshToken] });
  },
  findTokenByRefreshToken: (refreshToken) => findToken(({ refreshTokens }) => refreshTokens.includes(refreshToken)),
  findTokenByCode: (code) => findToken(({ data }) => data.code === code),
};
// Interfaces that only its own pages and its scopes use.
const unused = [
  ...['createAccount', 'authenticateAccount', 'setAuthorizedClient', 'upsertDeviceAccount'],
  ...['getDeviceAccount', 'removeDeviceAccount', 'listDeviceAccounts', 'resetPasswordRequest', 'resetPasswordConfirm'],
  ...['verifyHandleAvailability', 'createDevice', 'readDevice', 'updateDevice', 'deleteDevice', 'listAccountTokens'],
  ...['findLexicon', 'storeLexicon', 'deleteLexicon'],
];
const provider = new OAuthProvider({
  issuer,
  keyset: new Keyset([await JoseKey.generate(['ES256'], 'k1')]),
  dpopSecret: randomBytes(32),
  store: { ...Object.fromEntries(unused.map((name) => [name, () => null])), ...store },
  safeFetch: fetch,
});

/** Signs the user in and consents. @param {URLSearchParams} query */
async function authorize(query) {
  const requestUri = query.get('request_uri');
  const { parameters, clientId } = await provider.requestManager.get(requestUri, deviceId, query.get('client_id'));
  const registered = await provider.clientManager.getClient(clientId);
  const code = await provider.requestManager.setAuthorized(requestUri, registered, account, deviceId, {});
  const target = new URL(parameters.redirect_uri);
  target.search = String(new URLSearchParams({ iss: issuer, state: parameters.state, code }));
  return target.href;
}

const middleware = oauthMiddleware(provider, {});
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
  if (pathname !== '/oauth/authorize') {
    middleware(request, response, () => response.writeHead(404).end());
    return;
  }
  authorize(searchParams).then(
    (location) => response.writeHead(302, { location }).end(),
    (error) => response.writeHead(400).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
