import { define, labelVariable, machine } from './define.ts';

/** Salesforce. Sources: help.salesforce.com (OAuth endpoints, refresh token flow); arctic 3.7.0; github.com/NangoHQ/nango. */
export const salesforce = define({
  type: 'salesforce',
  name: 'Salesforce',
  documentation: 'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_endpoints.htm',
  notes: [
    'Responses have no expires_in: set options.default_ttl to the session timeout of your org, so that tokens are reused.',
    'client_credentials needs the My Domain host of the org.',
    'instance_url in the response is the host of the API.',
  ],
  tokenUrl: 'https://{host}/services/oauth2/token',
  required: machine,
  variables: {
    host: {
      pattern: /^(?:login|test|(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.sandbox)?\.my)\.salesforce\.com$/i,
      example: 'login.salesforce.com',
      description:
        'login.salesforce.com, test.salesforce.com for a sandbox, or your My Domain host, such as acme.my.salesforce.com',
      default: 'login.salesforce.com',
    },
  },
  clientAuth: 'client_secret_post',
  login: {
    authorizationUrl: 'authorize',
    revocationUrl: 'revoke',
    missingRefreshTokenHint: 'add refresh_token to {scope}, then {login}',
  },
});

/** HubSpot. Sources: developers.hubspot.com/changelog/v1-oauth-api-deprecation; API reference 2026-03. */
export const hubspot = define({
  type: 'hubspot',
  name: 'HubSpot',
  documentation: 'https://developers.hubspot.com/docs/api-reference/latest/authentication/manage-oauth-tokens',
  notes: [
    'The URL is that of the API version 2026-03: /oauth/v1/token ends on 2027-02-16.',
    'Access tokens expire after 30 minutes.',
  ],
  tokenUrl: 'https://api.hubapi.com/oauth/2026-03/token',
  apiOrigins: ['https://api.hubapi.com'],
  clientAuth: 'client_secret_post',
  login: {
    authorizationUrl: 'https://app.hubspot.com/oauth/authorize',
    revocationUrl: 'token/revoke',
    requiredFields: ['scope'],
  },
  hints: { BAD_REFRESH_TOKEN: 'the refresh token is not valid; {login}' },
});

/** Xero. Sources: github.com/NangoHQ/nango; nango.dev/blog/xero-oauth-refresh-token-invalid-grant; airbyte source-xero (Basic). */
export const xero = define({
  type: 'xero',
  name: 'Xero',
  documentation: 'https://developer.xero.com/documentation/guides/oauth2/auth-flow',
  notes: ['Access tokens expire after 30 minutes. A refresh replaces the refresh token.'],
  tokenUrl: 'https://identity.xero.com/connect/token',
  apiOrigins: ['https://api.xero.com'],
  clientAuth: 'client_secret_basic',
  login: {
    authorizationUrl: 'https://login.xero.com/identity/connect/authorize',
    requiredScopes: ['offline_access'],
    requiredFields: ['scope'],
  },
});

/** QuickBooks Online. Sources: developer.intuit.com; arctic 3.7.0, github.com/NangoHQ/nango, github.com/simov/grant. */
export const quickbooks = define({
  type: 'quickbooks',
  name: 'QuickBooks',
  documentation: 'https://developer.intuit.com/app/developer/qbo/docs/develop/authentication-and-authorization/faq',
  notes: ['The redirect of a login has the id of the company: oauth-profile token <profile> --field realmId.'],
  tokenUrl: 'https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer',
  apiOrigins: ['https://quickbooks.api.intuit.com', 'https://sandbox-quickbooks.api.intuit.com'],
  clientAuth: 'client_secret_basic',
  login: {
    authorizationUrl: 'https://appcenter.intuit.com/connect/oauth2',
    revocationUrl: 'https://developer.api.intuit.com/v2/oauth2/tokens/revoke',
    redirectMembers: ['realmId'],
    requiredFields: ['scope'],
  },
});

/** Shopify. Sources: shopify.dev/changelog (expiring offline access tokens); github.com/Shopify/omniauth-shopify-oauth2 (scopes); github.com/NangoHQ/nango. */
export const shopify = define({
  type: 'shopify',
  name: 'Shopify',
  documentation:
    'https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant',
  notes: [
    'The Admin API expects the header X-Shopify-Access-Token: oauth-profile token <profile> --header prints it.',
    'Set expiring: 1 for tokens that expire after 1 hour, with a refresh token. Public apps need it from 2027-01-01.',
    'A used refresh token stays valid until its successor is used.',
  ],
  tokenUrl: 'https://{shop}.myshopify.com/admin/oauth/access_token',
  variables: { shop: labelVariable('the name of the shop, such as acme of acme.myshopify.com') },
  scopeSeparator: 'comma',
  apiHeader: 'X-Shopify-Access-Token',
  apiOrigins: 'token_url',
  clientAuth: 'client_secret_post',
  required: machine,
  refreshTokenReuse: 'grace',
  login: { authorizationUrl: 'authorize', grantedScopeDiffers: true },
});
