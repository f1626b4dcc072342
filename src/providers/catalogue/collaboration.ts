import { define, machine } from './define.ts';

/** Slack, user tokens. Sources: docs.slack.dev (using-pkce, using-token-rotation, oauth.v2.user.access); github.com/NangoHQ/nango, slack-mcp. */
export const slack = define({
  type: 'slack',
  name: 'Slack',
  documentation: 'https://docs.slack.dev/authentication/using-pkce',
  notes: [
    'A login returns a token of the user. Enable PKCE in the settings of the app: Slack accepts redirect URIs at http://localhost only then, and rejects bot scopes there.',
    'Refresh tokens of such apps expire after 30 days.',
    'For the token of a bot, set url: https://slack.com/api/oauth.v2.access and refresh_token. Without token rotation, it does not expire, and there is no refresh token.',
  ],
  tokenUrl: 'https://slack.com/api/oauth.v2.user.access',
  scopeSeparator: 'comma',
  apiOrigins: ['https://slack.com'],
  // The token_type is bot or user.
  apiScheme: 'Bearer',
  clientAuth: 'client_secret_post',
  clientAuthWithoutSecret: 'none',
  login: {
    authorizationUrl: 'https://slack.com/oauth/v2_user/authorize',
    redirectHost: 'localhost',
    grantedScopeDiffers: true,
    requiredFields: ['scope'],
    missingRefreshTokenHint: 'enable token rotation of the app, then {login}; without it, the token does not expire',
  },
  // https://docs.slack.dev/reference/methods/oauth.v2.user.access
  hints: {
    invalid_client_id: 'the client ID is wrong: check {client_id}',
    bad_client_secret: 'the client secret is wrong: check {client_secret}',
    bad_redirect_uri:
      'the redirect URI is not registered: set {options.redirect_uri} to one that is registered for the app',
    invalid_refresh_token: 'the refresh token is not valid, has expired or was used before; {login}',
  },
});

/** Atlassian Cloud, OAuth 2.0 (3LO). Sources: developer.atlassian.com; arctic 3.7.0; next-auth. */
export const atlassian = define({
  type: 'atlassian',
  name: 'Atlassian',
  documentation: 'https://developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens/',
  notes: ['Tokens are valid at https://api.atlassian.com/ex/<product>/<cloud id>, not at the host of your site.'],
  tokenUrl: 'https://auth.atlassian.com/oauth/token',
  apiOrigins: ['https://api.atlassian.com'],
  clientAuth: 'client_secret_post',
  login: {
    authorizationUrl: 'https://auth.atlassian.com/authorize',
    authorizationParameters: { audience: 'api.atlassian.com', prompt: 'consent' },
    requiredFields: ['scope'],
    requiredScopes: ['offline_access'],
  },
});

/** Linear. Sources: arctic 3.7.0, github.com/NangoHQ/nango; linear.app/developers. */
export const linear = define({
  type: 'linear',
  name: 'Linear',
  documentation: 'https://linear.app/developers/oauth-2-0-authentication',
  notes: ['Access tokens expire after 24 hours. A replaced refresh token is accepted again for 30 minutes.'],
  tokenUrl: 'https://api.linear.app/oauth/token',
  scopeSeparator: 'comma',
  apiOrigins: ['https://api.linear.app'],
  clientAuth: 'client_secret_post',
  refreshTokenReuse: 'grace',
  graceMs: 1_800_000,
  login: {
    authorizationUrl: 'https://linear.app/oauth/authorize',
    revocationUrl: 'revoke',
    requiredFields: ['scope'],
    // The scope read is always granted.
    grantedScopeDiffers: true,
  },
});

/** Notion. Sources: developers.notion.com/reference/create-a-token, …/refresh-a-token; github.com/NangoHQ/nango. */
export const notion = define({
  type: 'notion',
  name: 'Notion',
  documentation: 'https://developers.notion.com/reference/create-a-token',
  notes: ['Requests to the token endpoint are JSON. The client authenticates with a Basic header.'],
  tokenUrl: 'https://api.notion.com/v1/oauth/token',
  requestFormat: 'json',
  apiOrigins: ['https://api.notion.com'],
  clientAuth: 'client_secret_basic',
  login: {
    authorizationUrl: 'authorize',
    revocationUrl: 'revoke',
    authorizationParameters: { owner: 'user' },
  },
});

/** Zoom. Sources: developers.zoom.us/docs/rooms/oauth, …/s2s-oauth; arctic 3.7.0, github.com/NangoHQ/nango. */
export const zoom = define({
  type: 'zoom',
  name: 'Zoom',
  documentation: 'https://developers.zoom.us/docs/rooms/oauth/',
  notes: [
    'Access tokens expire after 1 hour. A refresh replaces the refresh token.',
    'For a server-to-server app, set grant_type: account_credentials and account_id.',
  ],
  tokenUrl: 'https://zoom.us/oauth/token',
  apiOrigins: ['https://api.zoom.us'],
  clientAuth: 'client_secret_basic',
  required: { account_credentials: ['client_id', 'client_secret', 'account_id'] },
  login: { authorizationUrl: 'authorize', revocationUrl: 'revoke' },
});

/** Discord. Source: github.com/discord/discord-api-docs, topics/oauth2. */
export const discord = define({
  type: 'discord',
  name: 'Discord',
  documentation: 'https://discord.com/developers/docs/topics/oauth2',
  notes: [
    'Access tokens expire after 7 days.',
    'client_credentials returns a token of the owner of the application.',
    'Revoking one token ends all tokens of that authorization.',
  ],
  tokenUrl: 'https://discord.com/api/oauth2/token',
  required: machine,
  apiOrigins: ['https://discord.com'],
  clientAuth: 'client_secret_basic',
  login: {
    authorizationUrl: 'https://discord.com/oauth2/authorize',
    revocationUrl: 'token/revoke',
    requiredFields: ['scope'],
  },
});
