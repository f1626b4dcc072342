import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ClientMetadata, Configuration, Provider } from 'oidc-provider';
import { vi } from 'vitest';
import type { Pair } from './certificates.ts';
import { type Listening, listen } from './independent-listen.ts';

/** The user who signs in. */
export const ACCOUNT = 'ada@example.com';

/** Settings of all `oidc-provider` instances of the tests. It warns of each default that it has to choose. */
export const commonSettings: Configuration = {
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

/** A running `oidc-provider`. */
export interface OidcProvider extends Listening {
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly provider: Provider;
}

/** Starts `oidc-provider` with rotating refresh tokens. Its sign-in page signs every visitor in and consents. */
export async function startOidcProvider(clients: ClientMetadata[], tls?: Pair): Promise<OidcProvider> {
  let provider: Provider | undefined;
  const listening = await listen(async (origin) => {
    provider = await createProvider(origin, clients);
    return handlerOf(provider);
  }, tls);
  const { origin, close } = listening;
  return { origin, close, issuer: origin, tokenUrl: `${origin}/token`, provider: provider as Provider };
}

async function createProvider(issuer: string, clients: ClientMetadata[]): Promise<Provider> {
  // It warns that its storage, its keys and Node 20 are not for production.
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { Provider } = await import('oidc-provider');
  const provider = new Provider(issuer, {
    clients,
    scopes: ['openid', 'offline_access', 'read', 'write'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      deviceFlow: {
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
      },
    },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    ...commonSettings,
    // It deletes expired records after this time, in seconds; until then it can tell them from unknown ones.
    clockTolerance: 15,
    pkce: { required: () => false },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  });
  warned.mockRestore();
  return provider;
}

/** Serves a provider. Its sign-in page signs every visitor in and consents. */
export function handlerOf(provider: Provider): RequestListener {
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
