import type { Provider } from 'oidc-provider';
import { vi } from 'vitest';
import { listen } from './independent-listen.ts';
import { commonSettings } from './independent-oidc-provider.ts';

/** A running `oidc-provider` with its own pages. */
export interface LoginServer {
  readonly issuer: string;
  readonly provider: Provider;
  /** Grants and destroyed refresh tokens, in order. */
  readonly events: string[];
  close(): Promise<void>;
}

/** Starts `oidc-provider` for the native client `tool`, with device codes, rotation and revocation. */
export async function startLoginServer(): Promise<LoginServer> {
  const events: string[] = [];
  let provider: Provider | undefined;
  // It warns that its storage, its keys, its pages and Node 20 are not for production.
  const quiet = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'info')];
  for (const spy of quiet) spy.mockImplementation(() => {});
  const { Provider } = await import('oidc-provider');
  const { origin, close } = await listen((issuer) => {
    provider = new Provider(issuer, {
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
      },
      clientAuthMethods: ['none'],
      ...commonSettings,
    });
    provider.on('grant.success', (ctx) => events.push(String(ctx.oidc.params?.['grant_type'])));
    provider.on('grant.revoked', () => events.push('revoked'));
    provider.on('refresh_token.destroyed', () => events.push('destroyed'));
    return provider.callback();
  }, undefined);
  return {
    issuer: origin,
    provider: provider as unknown as Provider,
    events,
    async close() {
      for (const spy of quiet) spy.mockRestore();
      await close();
    },
  };
}
