import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientMetadata, Configuration, Provider } from 'oidc-provider';
import { vi } from 'vitest';
import type { Pair } from './certificates.ts';
import { commonSettings, handlerOf } from './independent-oidc-provider.ts';

/** A running `oidc-provider` that requires everything that it can. */
export interface StrictProvider {
  readonly issuer: string;
  /** Grant types and errors of all token requests, in order. */
  readonly events: string[];
  /** Parameters of the pushed authorization requests. */
  readonly pushed: Readonly<Record<string, unknown>>[];
  /** The `WWW-Authenticate` header of the API, which rejects every request. */
  apiChallenge: string;
  readonly provider: Provider;
  close(): Promise<void>;
}

/** The protected resources (RFC 8707). */
export const RESOURCES = ['https://api.example.com/v1', 'https://files.example.com/'];

/** Starts `oidc-provider` with TLS: nonces in proofs, pushed requests, rotation; `features` adds to it. */
export async function startStrictProvider(
  clients: ClientMetadata[],
  tls: Pair & { readonly ca: string },
  features: Configuration['features'] = {},
): Promise<StrictProvider> {
  const events: string[] = [];
  const pushed: StrictProvider['pushed'] = [];
  const quiet = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'info')];
  for (const spy of quiet) spy.mockImplementation(() => {});
  const { Provider } = await import('oidc-provider');
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const peer = (request: IncomingMessage): TLSSocket => request.socket as TLSSocket;
  const provider = new Provider(issuer, {
    clients,
    scopes: ['openid', 'offline_access', 'read', 'write'],
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
    ...commonSettings,
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  } as Configuration);
  provider.on('grant.success', (ctx) => events.push(String(ctx.oidc.params?.['grant_type'])));
  provider.on('grant.error', (_, error) => events.push(error.error));
  provider.on('pushed_authorization_request.success', (ctx) => {
    events.push('pushed');
    pushed.push(Object.fromEntries(Object.entries(ctx.oidc.params ?? {}).filter(([, value]) => value !== undefined)));
  });
  provider.on('pushed_authorization_request.error', (_, error) => events.push(`pushed ${error.error}`));
  const serve = handlerOf(provider);
  server.on('request', (request, response) => {
    if (request.url !== '/api') serve(request, response);
    else response.writeHead(401, { 'WWW-Authenticate': strict.apiChallenge }).end();
  });
  const strict: StrictProvider = {
    issuer,
    events,
    pushed,
    apiChallenge: '',
    provider,
    async close() {
      for (const spy of quiet) spy.mockRestore();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return strict;
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
