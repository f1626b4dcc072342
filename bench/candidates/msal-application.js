import { ConfidentialClientApplication, ProtocolMode } from '@azure/msal-node';
import { client } from '../profile.js';
import { authority, host } from './msal-account.js';

/**
 * The authority must be https, so its metadata are given instead of served; the token endpoint in them may be plain http, as for all others.
 * @param {string} url
 * @param {import('@azure/msal-node').ICachePlugin} [cachePlugin]
 */
export function createApplication(url, cachePlugin) {
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

/** The token of the account that is signed in, by a refresh where none is fresh. @param {ConfidentialClientApplication} application */
export function silently(application) {
  /** @type {ReturnType<ReturnType<ConfidentialClientApplication['getTokenCache']>['getAllAccounts']> | undefined} */
  let accounts;
  return async () => {
    accounts ??= application.getTokenCache().getAllAccounts();
    const [account] = await accounts;
    if (account === undefined) throw new Error('nobody is signed in');
    return application.acquireTokenSilent({ account, scopes: ['user.read'] });
  };
}
