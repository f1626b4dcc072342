export type { DataObject } from './config/flatten.ts';
export {
  type ErrorCode,
  type ErrorDetails,
  errorCodes,
  type Fault,
  InvalidProfileError,
  OAuthProfileError,
  ProviderError,
  type Refusal,
  TransportError,
} from './errors.ts';
export { type OAuthProfileOptions, oauthProfile, type TokenResponse } from './oauth-profile.ts';
export type { EmulatorAddress } from './ports.ts';
export { Secret } from './redaction/secret.ts';
export { createTokenSource, type GetOptions, type TokenSource, type TokenSourceOptions } from './token-source.ts';
