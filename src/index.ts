export type { DataObject, DataValue } from './config/flatten.ts';
export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorResponse,
  errorCodes,
  InvalidProfileError,
  OAuthProfileError,
  type ProfileIssue,
  ProviderError,
  TransportError,
} from './errors.ts';
export {
  type OAuthProfileOptions,
  oauthProfile,
  type ProfileDefinition as Profile,
  type Profiles,
  type ProfileType,
  type TokenResponse,
} from './oauth-profile.ts';
export type { EmulatorEndpoint } from './ports.ts';
export { Secret } from './redaction/secret.ts';
export {
  type CurrentToken,
  createTokenSource,
  type GetOptions,
  type TokenSource,
  type TokenSourceOptions,
} from './token-source.ts';
