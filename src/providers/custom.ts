import type { Provider } from './provider.ts';

/** Any other OAuth 2.0 server: no defaults, everything in the profile is sent as it is given. */
export const custom: Provider = {
  type: 'custom',
  grantsByFields: [],
  required: {},
  clientAuth: 'as_given',
  // Nothing is known of the server, so the most dangerous behaviour is assumed.
  refreshTokenReuse: 'revokes_family',
  hints: [],
};
