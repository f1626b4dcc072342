import type { Provider } from './provider.ts';

/** Any other OAuth 2.0 server: no defaults, and every field is sent as given. */
export const custom: Provider = {
  type: 'custom',
  grantsByFields: [],
  required: {},
  clientAuth: 'passthrough',
  // Nothing is known about the server, so the strictest behaviour is assumed (RFC 9700 §4.14.2).
  refreshTokenReuse: 'revokes_family',
  hints: {},
};
