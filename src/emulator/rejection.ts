/** The reasons for which an endpoint rejects a request. Each provider formats them in its own way. */
export type Rejection =
  | { readonly kind: 'unknown_client'; readonly clientId: string }
  | {
      readonly kind:
        | 'invalid_client_secret'
        | 'missing_client_auth'
        | 'invalid_assertion'
        | 'secret_for_public_client'
        | 'multiple_client_auth'
        | 'unexpected_auth_method';
    }
  | { readonly kind: 'missing_field' | 'duplicate_field'; readonly field: string }
  | { readonly kind: 'unknown_tenant' | 'tenant_without_metadata'; readonly tenant: string }
  | { readonly kind: 'tenant_without_password_grant' | 'password_grant_disabled' | 'invalid_password' }
  | {
      readonly kind:
        | 'invalid_refresh_token'
        | 'expired_refresh_token'
        | 'invalid_code'
        | 'invalid_code_verifier'
        | 'redirect_uri_mismatch';
    }
  | { readonly kind: 'unsupported_grant'; readonly grant: string }
  | { readonly kind: 'invalid_scope'; readonly scope: string }
  | {
      readonly kind:
        | 'authorization_pending'
        | 'slow_down'
        | 'access_denied'
        | 'expired_device_code'
        | 'invalid_device_code';
    }
  | { readonly kind: 'rate_limited' };

/** Thrown by endpoints; the provider converts it into an error response. */
export class RejectionError extends Error {
  constructor(readonly rejection: Rejection) {
    super(rejection.kind);
  }
}

/** Rejects the current request. */
export function reject(rejection: Rejection): never {
  throw new RejectionError(rejection);
}

/** Inserts the details of a rejection into a template: `Missing required parameter: {field}`. */
export function formatDescription(template: string, rejection: Rejection): string {
  const details = rejection as unknown as Readonly<Record<string, unknown>>;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name]));
}
