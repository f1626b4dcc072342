/** HTTP status, `error` and `error_description` of an error response; `{}` stands for the detail of the rejection. */
type ErrorEntry = `${number} ${string}: ${string}`;

/** The errors as the RFCs define them, by the reason for which an endpoint rejects a request. */
const standardErrors = {
  unknown_client: '401 invalid_client: The client is unknown.',
  invalid_client_secret: '401 invalid_client: The client secret is wrong.',
  missing_client_auth: '401 invalid_client: The client did not authenticate.',
  unexpected_auth_method: '401 invalid_client: The client is registered for another authentication method.',
  invalid_proof: '400 invalid_dpop_proof: The proof of the key is not valid.',
  invalid_assertion: '401 invalid_client: The client assertion is not valid.',
  secret_for_public_client: '401 invalid_client: The client is public.',
  multiple_client_auth: '400 invalid_request: The client used more than one authentication method.',
  missing_client: '400 invalid_request: The parameter {} is missing.',
  missing_field: '400 invalid_request: The parameter {} is missing.',
  duplicate_field: '400 invalid_request: The parameter {} is repeated.',
  invalid_password: '400 invalid_grant: The user name or password is wrong.',
  password_grant_disabled: '400 unauthorized_client: The client may not use the password grant.',
  invalid_refresh_token: '400 invalid_grant: The refresh token is invalid, revoked or was used before.',
  expired_refresh_token: '400 invalid_grant: The refresh token has expired.',
  invalid_code: '400 invalid_grant: The code is invalid, expired or was used before.',
  invalid_code_verifier: '400 invalid_grant: The code verifier does not match (RFC 7636 §4.6).',
  redirect_uri_mismatch: '400 invalid_grant: The redirect URI is not the one of the authorization request.',
  missing_grant_type: '400 invalid_request: The parameter {} is missing.',
  unsupported_grant: '400 unsupported_grant_type: The grant type {} is not supported.',
  invalid_scope: '400 invalid_scope: The scope is not valid.',
  missing_scope: '400 invalid_request: The parameter {} is missing.',
  unsupported_parameter: '400 invalid_request: The parameter {} is not supported.',
  invalid_grant_assertion: '400 invalid_grant: The assertion is not valid.',
  unknown_token: '400 invalid_token: The token is unknown.',
  revocation_by_other_client: '403 unauthorized_client: The token belongs to another client.',
  authorization_pending: '400 authorization_pending: The user has not decided yet.',
  slow_down: '400 slow_down: Poll more slowly.',
  access_denied: '400 access_denied: The user denied access.',
  expired_device_code: '400 expired_token: The device code has expired.',
  invalid_device_code: '400 invalid_grant: The device code is not valid.',
  unknown_tenant: '400 invalid_request: The tenant is unknown.',
  tenant_without_metadata: '400 invalid_request: The tenant is unknown.',
  tenant_without_password_grant: '400 invalid_request: The tenant does not support the password grant.',
  rate_limited: '429 temporarily_unavailable: Too many requests.',
} satisfies Record<string, ErrorEntry>;

/** The errors that a provider formats in its own way: by reason, or by error code for all reasons with this code. */
export type ErrorTable = Readonly<
  Partial<Record<keyof typeof standardErrors | 'invalid_client' | 'invalid_grant', ErrorEntry>>
>;

/** Thrown by endpoints; the provider converts it into an error response. `detail` is the field, grant, scope, tenant or client. */
export class Rejection extends Error {
  constructor(
    readonly kind: keyof typeof standardErrors,
    readonly detail = '',
  ) {
    super(kind);
  }
}

/** Rejects the current request. */
export function reject(kind: Rejection['kind'], detail?: string): never {
  throw new Rejection(kind, detail);
}

/** The status and the body of an error response (RFC 6749 §5.2). */
export interface ErrorDescription {
  readonly status: number;
  readonly body: { readonly error: string; readonly error_description: string };
}

/** Describes a rejection in the words of the provider. */
export function describeError({ kind, detail }: Rejection, errors: ErrorTable = {}): ErrorDescription {
  const standard = standardErrors[kind];
  const common = /^\d+ (invalid_client|invalid_grant):/.exec(standard)?.[1] as 'invalid_client' | undefined;
  const entry = errors[kind] ?? (common && errors[common]) ?? standard;
  const [, status, error = '', template = ''] = /^(\d+) (\w+): (.*)$/.exec(entry) ?? [];
  return { status: Number(status), body: { error, error_description: template.replace('{}', () => detail) } };
}
