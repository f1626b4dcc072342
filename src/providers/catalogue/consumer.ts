import { define } from './define.ts';

/** Spotify. Sources: developer.spotify.com; arctic 3.7.0, github.com/NangoHQ/nango, golang.org/x/oauth2/endpoints; docs.rs/rspotify. */
export const spotify = define({
  type: 'spotify',
  name: 'Spotify',
  documentation: 'https://developer.spotify.com/documentation/web-api/tutorials/code-pkce-flow',
  notes: [
    'Without a client secret, a refresh token can be used once.',
    'Redirect URIs must have the host 127.0.0.1 or [::1], not localhost.',
  ],
  tokenUrl: 'https://accounts.spotify.com/api/token',
  apiOrigins: ['https://api.spotify.com'],
  clientAuth: 'client_secret_basic',
  clientAuthWithoutSecret: 'none',
  refreshTokenReuse: 'rejected',
  login: { authorizationUrl: 'https://accounts.spotify.com/authorize' },
});

/** Dropbox. Sources: dropbox.tech (offline access), github.com/dropbox/dropbox-sdk-python (no secret with PKCE); arctic 3.7.0, github.com/NangoHQ/nango, github.com/simov/grant. */
export const dropbox = define({
  type: 'dropbox',
  name: 'Dropbox',
  documentation: 'https://dropbox.tech/developers/using-oauth-2-0-with-offline-access',
  notes: ['Revocation is not that of RFC 7009: users disconnect the app in their settings.'],
  tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
  apiOrigins: ['https://api.dropboxapi.com', 'https://content.dropboxapi.com'],
  clientAuth: 'client_secret_post',
  clientAuthWithoutSecret: 'none',
  login: {
    authorizationUrl: 'https://www.dropbox.com/oauth2/authorize',
    authorizationParameters: { token_access_type: 'offline' },
  },
});

/** Box. Source: github.com/box/developer.box.com, guides/authentication; arctic 3.7.0. */
export const box = define({
  type: 'box',
  name: 'Box',
  documentation: 'https://developer.box.com/guides/authentication/client-credentials/',
  notes: [
    'Refresh tokens are valid for 60 days and for one use.',
    'For client_credentials, set box_subject_type to enterprise or user, and box_subject_id to its id.',
  ],
  tokenUrl: 'https://api.box.com/oauth2/token',
  apiOrigins: ['https://api.box.com', 'https://upload.box.com'],
  clientAuth: 'client_secret_post',
  required: { client_credentials: ['client_id', 'client_secret', 'box_subject_type', 'box_subject_id'] },
  login: {
    authorizationUrl: 'https://account.box.com/api/oauth2/authorize',
    revocationUrl: 'revoke',
  },
});

/** X, OAuth 2.0 with user context; `twitter` is the application-only endpoint. Sources: docs.x.com; next-auth, arctic 3.7.0. */
export const x = define({
  type: 'x',
  name: 'X',
  documentation: 'https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code',
  notes: [
    'Access tokens expire after 2 hours and are valid for the API v2 only.',
    'For application-only tokens, use type: twitter.',
  ],
  tokenUrl: 'https://api.x.com/2/oauth2/token',
  apiOrigins: ['https://api.x.com'],
  clientAuth: 'client_secret_basic',
  clientAuthWithoutSecret: 'none',
  login: {
    authorizationUrl: 'https://x.com/i/oauth2/authorize',
    revocationUrl: 'revoke',
    requiredScopes: ['offline.access'],
    requiredFields: ['scope'],
  },
});
