/** Everything an endpoint can find wrong; each dialect has its own words for it. */
export type Problem =
  | { readonly kind: 'unknown_client'; readonly clientId: string }
  | {
      readonly kind:
        | 'wrong_secret'
        | 'no_client_auth'
        | 'wrong_assertion'
        | 'secret_of_public_client'
        | 'two_auths'
        | 'wrong_auth_method';
    }
  | { readonly kind: 'missing_field' | 'duplicate_field'; readonly field: string }
  | { readonly kind: 'unknown_tenant' | 'tenant_without_metadata'; readonly tenant: string }
  | { readonly kind: 'tenant_without_password' | 'password_off' | 'wrong_password' }
  | {
      readonly kind: 'dead_refresh_token' | 'expired_refresh_token' | 'dead_code' | 'wrong_verifier' | 'wrong_redirect';
    }
  | { readonly kind: 'unsupported_grant'; readonly grant: string }
  | { readonly kind: 'wrong_scope'; readonly scope: string }
  | { readonly kind: 'pending' | 'slow_down' | 'declined' | 'expired_device_code' | 'dead_device_code' }
  | { readonly kind: 'unread_body' | 'throttled' | 'broken' };

/** Thrown by an endpoint; the dialect turns it into an answer. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.kind);
  }
}

/** Ends a request with a refusal. */
export function rejectWith(problem: Problem): never {
  throw new ProblemError(problem);
}

/** Puts a problem's details into a dialect's words: `Missing required parameter: {field}`. */
export function fill(words: string, problem: Problem): string {
  const details = problem as unknown as Readonly<Record<string, unknown>>;
  return words.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name]));
}
