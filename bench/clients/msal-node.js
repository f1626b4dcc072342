import { readFileSync, writeFileSync } from 'node:fs';
import { ConfidentialClientApplication, ProtocolMode } from '@azure/msal-node';
import { client } from '../fixtures.js';
import { authority, host } from './msal-account.js';

const scopes = ['api://benchmark/.default'];

/** @type {import('../clients.js').Client['request']} */
export function request(url) {
  const application = createApplication(url);
  return async () => (await application.acquireTokenByClientCredential({ scopes, skipCache: true }))?.accessToken;
}

/** @type {import('../clients.js').Client['cache']} */
export function cache(url) {
  const application = createApplication(url);
  return () => application.acquireTokenByClientCredential({ scopes });
}

/** The cache plugin is that of MSAL's documentation. @type {import('../clients.js').Client['share']} */
export function share(url, file) {
  const application = createApplication(url, {
    async beforeCacheAccess(context) {
      context.tokenCache.deserialize(readFileSync(file, 'utf8'));
    },
    async afterCacheAccess(context) {
      if (context.cacheHasChanged) writeFileSync(file, context.tokenCache.serialize());
    },
  });
  const accounts = application.getTokenCache().getAllAccounts();
  return async () => {
    const [account] = await accounts;
    if (account === undefined) throw new Error('no account in the cache');
    return (await application.acquireTokenSilent({ account, scopes: ['user.read'] })).accessToken;
  };
}

/**
 * The authority must be https, so its metadata is configured instead of fetched; the token endpoint in it may be plain http.
 * @param {string} url
 * @param {import('@azure/msal-node').ICachePlugin} [cachePlugin]
 */
function createApplication(url, cachePlugin) {
  const metadata = {
    issuer: authority,
    authorization_endpoint: `${authority}authorize`,
    token_endpoint: url,
    jwks_uri: `${authority}keys`,
  };
  return new ConfidentialClientApplication({
    auth: {
      clientId: client.id,
      clientSecret: client.secret,
      authority,
      knownAuthorities: [host],
      authorityMetadata: JSON.stringify(metadata),
    },
    system: { protocolMode: ProtocolMode.OIDC },
    cache: cachePlugin === undefined ? {} : { cachePlugin },
  });
}
