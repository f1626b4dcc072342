import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { ClientMetadata, Configuration, Provider } from 'oidc-provider';
import { vi } from 'vitest';
import type { Pair } from './certificates.ts';
import { forHttp, LocalServer } from './server.ts';

/** The user who signs in. */
export const ACCOUNT = 'ada@example.com';

/** A protected resource (RFC 8707) of {@link startLoginServer}. Its access tokens are JWTs; those for no resource are opaque. */
export const RESOURCE = 'https://api.example.com';

/** The protected resources of {@link startStrictProvider}. */
export const RESOURCES = ['https://api.example.com/v1', 'https://files.example.com/'];

/** A running `oidc-provider`. */
export interface OidcProvider {
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly provider: Provider;
  /** Grant types of all successful token requests, in order. */
  readonly events: string[];
  close(): Promise<void>;
}

/** Settings of all providers. `oidc-provider` warns of each default that it has to choose. */
const commonSettings: Configuration = {
  scopes: ['openid', 'offline_access', 'read', 'write'],
  rotateRefreshToken: true,
  cookies: { keys: ['a key for cookies'] },
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 60,
    ClientCredentials: 600,
    DeviceCode: 600,
    Grant: 86_400,
    IdToken: 3600,
    Interaction: 3600,
    RefreshToken: 86_400,
    Session: 86_400,
  },
};

/** Device codes with pages that contain no more than their forms. */
const deviceFlow: NonNullable<Configuration['features']>['deviceFlow'] = {
  enabled: true,
  userCodeInputSource: (ctx, form) => {
    ctx.body = form;
  },
  userCodeConfirmSource: (ctx, form) => {
    ctx.body = form;
  },
  successSource: (ctx) => {
    ctx.body = 'signed in';
  },
};

/** Starts a provider whose issuer has `path`. */
async function startProvider(
  server: LocalServer,
  path: string,
  configuration: Configuration,
  createHandler: (provider: Provider) => RequestListener,
): Promise<OidcProvider> {
  // It warns that its storage, its keys, its pages and Node 20 are not for production.
  const quiet = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'info')];
  for (const spy of quiet) spy.mockImplementation(() => {});
  const { Provider } = await import('oidc-provider');
  await server.listen();
  const issuer = `${server.origin}${path}`;
  const provider = new Provider(issuer, { ...commonSettings, ...configuration });
  const events: string[] = [];
  provider.on('grant.success', (ctx) => events.push(String(ctx.oidc.params?.['grant_type'])));
  server.server.on('request', createHandler(provider));
  return {
    issuer,
    tokenUrl: `${issuer}/token`,
    provider,
    events,
    async close() {
      for (const spy of quiet) spy.mockRestore();
      await server.stop();
    },
  };
}

/** Starts `oidc-provider` with rotating refresh tokens. Its sign-in page signs every visitor in and consents. */
export function startOidcProvider(clients: ClientMetadata[], tls?: Pair): Promise<OidcProvider> {
  const configuration: Configuration = {
    clients,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      deviceFlow,
    },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    // It deletes expired records after this time, in seconds; until then it can tell them from unknown ones.
    clockTolerance: 15,
    pkce: { required: () => false },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  };
  return startProvider(new LocalServer(...forHttp(tls)), '', configuration, signingIn);
}

/**
 * Starts `oidc-provider` with its own pages for the native client `tool`, with device codes, rotation and revocation.
 * The issuer has `path`; `discovery` is added to its metadata. Failed token requests and destroyed refresh tokens are
 * events, too.
 */
export async function startLoginServer(path = '', discovery: Record<string, unknown> = {}): Promise<OidcProvider> {
  const configuration: Configuration = {
    discovery,
    clients: [
      {
        client_id: 'tool',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/'],
      },
    ],
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: 'read write',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    clientAuthMethods: ['none'],
  };
  const running = await startProvider(new LocalServer(...forHttp(undefined)), path, configuration, (provider) => {
    provider.use(async (ctx, next) => {
      await next();
      // A poll each second instead of each 5 seconds, the default of RFC 8628 §3.2.
      if (ctx['oidc']?.route === 'device_authorization' && ctx.status === 200) Object.assign(ctx.body, { interval: 1 });
    });
    return mount(path, provider.callback());
  });
  const { provider, events } = running;
  provider.on('grant.error', () => events.push('error'));
  provider.on('grant.revoked', () => events.push('revoked'));
  provider.on('refresh_token.destroyed', () => events.push('destroyed'));
  return running;
}

/** Serves a provider below `path`, as a router does: the provider finds its own path in `originalUrl`. */
function mount(path: string, serve: RequestListener): RequestListener {
  return (request: IncomingMessage & { originalUrl?: string }, response) => {
    const { url = '/' } = request;
    if (!url.startsWith(path)) {
      response.writeHead(404).end();
      return;
    }
    request.originalUrl = url;
    request.url = url.slice(path.length);
    serve(request, response);
  };
}

/** A running `oidc-provider` that requires everything that it can. Errors of token requests and pushed requests are events, too. */
export interface StrictProvider extends OidcProvider {
  /** Parameters of the pushed authorization requests. */
  readonly pushed: Readonly<Record<string, unknown>>[];
  /** The `WWW-Authenticate` header of the API, which rejects every request. */
  apiChallenge: string;
}

/** Starts `oidc-provider` with TLS: nonces in proofs, pushed requests, rotation; `features` adds to it. */
export async function startStrictProvider(
  clients: ClientMetadata[],
  tls: Pair & { readonly ca: string },
  features: Configuration['features'] = {},
): Promise<StrictProvider> {
  const peer = (request: IncomingMessage): TLSSocket => request.socket as TLSSocket;
  const configuration = {
    clients,
    clientAuthMethods: [
      'private_key_jwt',
      'none',
      'tls_client_auth',
      'self_signed_tls_client_auth',
      'client_secret_basic',
    ],
    enabledJWA: { requestObjectSigningAlgValues: ['ES256'], clientAuthSigningAlgValues: ['ES256'] },
    acrValues: ['urn:example:mfa'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      claimsParameter: { enabled: true },
      deviceFlow,
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
      pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({ scope: 'read write', audience: resource }),
        // Without a resource in the token request, the token is for the first one (RFC 8707 §2.2).
        useGrantedResource: () => false,
      },
      mTLS: {
        enabled: true,
        certificateBoundAccessTokens: true,
        tlsClientAuth: true,
        selfSignedTlsClientAuth: true,
        getCertificate: (ctx) => {
          const { raw } = peer(ctx.req).getPeerCertificate();
          return raw === undefined ? undefined : pem(raw);
        },
        certificateAuthorized: (ctx) => peer(ctx.req).authorized,
        certificateSubjectMatches: (ctx, property, expected) =>
          property === 'tls_client_auth_subject_dn' &&
          `CN=${peer(ctx.req).getPeerCertificate().subject.CN}` === expected,
      },
      ...features,
    },
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  } as Configuration;
  const server = new LocalServer(createHttps({ ...tls, requestCert: true, rejectUnauthorized: false }), 'https');
  const running = await startProvider(server, '', configuration, (provider) => {
    const serve = signingIn(provider);
    return (request, response) => {
      if (request.url !== '/api') serve(request, response);
      else response.writeHead(401, { 'WWW-Authenticate': strict.apiChallenge }).end();
    };
  });
  const strict: StrictProvider = { ...running, pushed: [], apiChallenge: '' };
  const { provider, events, pushed } = strict;
  provider.on('grant.error', (_, error) => events.push(error.error));
  provider.on('pushed_authorization_request.success', (ctx) => {
    events.push('pushed');
    pushed.push(Object.fromEntries(Object.entries(ctx.oidc.params ?? {}).filter(([, value]) => value !== undefined)));
  });
  provider.on('pushed_authorization_request.error', (_, error) => events.push(`pushed ${error.error}`));
  return strict;
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** Serves a provider. Its sign-in page signs every visitor in and consents. */
function signingIn(provider: Provider): RequestListener {
  const serve = provider.callback();
  return (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) serve(request, response);
    else signInAndConsent(provider, request, response).catch((error) => response.writeHead(500).end(String(error)));
  };
}

/** Signs the user in and consents to everything. */
async function signInAndConsent(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: ACCOUNT, clientId: String(params['client_id']) });
  grant.addOIDCScope(String(params['scope']));
  for (const resource of [params['resource'] ?? []].flat())
    grant.addResourceScope(String(resource), String(params['scope']));
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { login: { accountId: ACCOUNT }, consent: { grantId } });
}
