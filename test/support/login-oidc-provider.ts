import type { IncomingMessage, RequestListener } from 'node:http';
import type { Provider } from 'oidc-provider';
import { vi } from 'vitest';
import { listen } from './independent-listen.ts';
import { commonSettings } from './independent-oidc-provider.ts';

/** A protected resource (RFC 8707). Its access tokens are JWTs; those for no resource are opaque. */
export const RESOURCE = 'https://api.example.com';

/** A running `oidc-provider` with its own pages. */
export interface LoginServer {
  readonly issuer: string;
  readonly provider: Provider;
  /** Grants, failed token requests and destroyed refresh tokens, in order. */
  readonly events: string[];
  close(): Promise<void>;
}

/** Starts `oidc-provider` for the native client `tool`, with device codes, rotation and revocation. The issuer has `path`; `discovery` is added to its metadata. */
export async function startLoginServer(path = '', discovery: Record<string, unknown> = {}): Promise<LoginServer> {
  const events: string[] = [];
  let provider: Provider | undefined;
  // It warns that its storage, its keys, its pages and Node 20 are not for production.
  const quiet = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'info')];
  for (const spy of quiet) spy.mockImplementation(() => {});
  const { Provider } = await import('oidc-provider');
  const { origin, close } = await listen((origin) => {
    provider = new Provider(`${origin}${path}`, {
      scopes: ['openid', 'offline_access', 'read', 'write'],
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
      ...commonSettings,
    });
    provider.use(async (ctx, next) => {
      await next();
      // A poll each second instead of each 5 seconds, the default of RFC 8628 §3.2.
      if (ctx['oidc']?.route === 'device_authorization' && ctx.status === 200) Object.assign(ctx.body, { interval: 1 });
    });
    provider.on('grant.success', (ctx) => events.push(String(ctx.oidc.params?.['grant_type'])));
    provider.on('grant.error', () => events.push('error'));
    provider.on('grant.revoked', () => events.push('revoked'));
    provider.on('refresh_token.destroyed', () => events.push('destroyed'));
    return mount(path, provider.callback());
  }, undefined);
  return {
    issuer: `${origin}${path}`,
    provider: provider as unknown as Provider,
    events,
    async close() {
      for (const spy of quiet) spy.mockRestore();
      await close();
    },
  };
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
