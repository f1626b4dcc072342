/** Every error code with its exit status on the command line. The list is closed, so that a `switch` over it narrows. */
export const errorCodes = {
  step_failed: 1,
  usage: 2,
  script_invalid: 2,
  data_invalid: 2,
  profile_not_found: 2,
  profile_invalid: 2,
  request_too_large: 2,
  provider_rejected: 3,
  connection_failed: 4,
  tls_failed: 4,
  proxy_refused: 4,
  not_emulated: 4,
  timeout: 4,
  redirected: 4,
  rate_limited: 4,
  provider_unavailable: 4,
  response_unreadable: 4,
  response_too_large: 4,
  login_required: 5,
  store_locked: 6,
  store_unreadable: 6,
  store_unwritable: 6,
  aborted: 130,
} as const satisfies Record<string, number>;

/** One of the codes of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** Optional details of an error. */
export interface ErrorDetails {
  /** The variable to change or the command to run. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** Base class of all errors of this package. `code` is for programs, `message` and `hint` are for users. */
export class OAuthProfileError extends Error {
  /** `AbortError` if a signal ended the call, as for other calls that accept a signal. */
  override readonly name: string;
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = code === 'aborted' ? 'AbortError' : 'OAuthProfileError';
    this.code = code;
    this.hint = details.hint;
  }

  /** The error as `--json` prints it. */
  toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.message, hint: this.hint };
  }
}

/** The error for invalid variables, or for a file that cannot be used. */
export function dataError(message: string, hint: string): OAuthProfileError {
  return new OAuthProfileError('data_invalid', message, { hint });
}

/** The error of a call that was aborted by its signal. */
export function abortError(signal: AbortSignal | undefined): OAuthProfileError {
  return new OAuthProfileError('aborted', 'the request was aborted', { cause: signal?.reason });
}

/** One issue of a profile or of the data that defines it. */
export interface ProfileIssue {
  /** Name of the variable, such as `graph.client_id`. */
  readonly variable: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Where the variable was defined, such as `oauth-profiles.yaml:4`. */
  readonly where?: string | undefined;
}

/** Remarks about a profile that do not make it invalid. */
export interface ProfileRemarks {
  readonly notes: readonly string[];
  /** Probable mistakes, such as misspelled names. */
  readonly warnings: readonly string[];
}

/** A profile that cannot be used. `issues` lists everything that is wrong with it (D16); with the code `login_required`, only a login is missing. */
export class InvalidProfileError extends OAuthProfileError implements ProfileRemarks {
  override readonly name = 'InvalidProfileError';
  readonly issues: readonly ProfileIssue[];
  /** The message without the issues, for callers that show the issues themselves. */
  readonly summary: string;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];

  constructor(
    profile: string,
    issues: readonly ProfileIssue[],
    { notes, warnings }: ProfileRemarks = { notes: [], warnings: [] },
    code: 'profile_invalid' | 'login_required' = 'profile_invalid',
  ) {
    const count = issues.length === 1 ? 'is invalid' : `has ${issues.length} issues`;
    const summary = `profile ${profile} ${code === 'login_required' ? 'requires a login' : count}`;
    const details = issues.map(({ variable, message }) => `${variable} ${message}`).join('; ');
    const hints = issues
      .filter(({ hint }) => hint !== undefined)
      .map(({ variable, hint }) => (issues.length === 1 ? hint : `${variable}: ${hint}`));
    super(code, `${summary}: ${details}`, { hint: hints.length === 0 ? undefined : hints.join('\n') });
    this.summary = summary;
    this.issues = issues;
    this.notes = notes;
    this.warnings = warnings;
  }

  override toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.summary, hint: this.hint, issues: this.issues };
  }
}

/** One issue of a script. */
export interface ScriptIssue {
  /** Position in the file, counted from 1; columns in UTF-16 code units, as editors count. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The source line, with secrets masked and truncated around the issue. */
  readonly excerpt?: string | undefined;
  /** Number of characters of the excerpt before the issue. */
  readonly caret?: number | undefined;
  /** Position in a script that is an object: `steps[2].ws.get`. */
  readonly path?: string | undefined;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** An invalid script. `issues` lists all its issues in the order of the file. */
export class InvalidScriptError extends OAuthProfileError {
  override readonly name = 'InvalidScriptError';
  /** The script's file, for messages. */
  readonly file: string;
  readonly issues: readonly ScriptIssue[];

  /** `total` is the number of issues if `issues` contains only the first ones. */
  constructor(file: string, issues: readonly ScriptIssue[], total = issues.length) {
    const shown = total > issues.length ? `; showing the first ${issues.length}` : '';
    super('script_invalid', total === 1 ? `${file} has an issue` : `${file} has ${total} issues${shown}`);
    this.file = file;
    this.issues = issues;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), file: this.file, issues: this.issues };
  }
}

/** The request could not be sent, or no response arrived. */
export class TransportError extends OAuthProfileError {
  override readonly name = 'TransportError';
  /** Whether the provider may have received and processed the request. */
  readonly sent: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails & { sent: boolean }) {
    super(code, message, details);
    this.sent = details.sent;
  }
}

/** An error response of a provider, in one shape for all providers. */
export interface ErrorResponse {
  readonly status: number;
  readonly error?: string | undefined;
  readonly description?: string | undefined;
  /** The provider's own error codes: `AADSTS7000215`, `E0000047`, `99`. */
  readonly codes?: readonly string[] | undefined;
  readonly suberror?: string | undefined;
  /** The provider requires interaction of the user, such as MFA or consent. */
  readonly claims?: true | undefined;
  /** Id for the provider's support. */
  readonly correlationId?: string | undefined;
}

/** The provider's response is not a token. */
export class ProviderError extends OAuthProfileError {
  override readonly name = 'ProviderError';
  readonly provider: ErrorResponse;
  /** When to retry, in epoch milliseconds, if the provider sent `Retry-After`. */
  readonly retryAt: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails & { provider: ErrorResponse; retryAt?: number | undefined },
  ) {
    super(code, message, details);
    this.provider = details.provider;
    this.retryAt = details.retryAt;
  }

  override toJSON(): Record<string, unknown> {
    const { status, error, description, codes, suberror, correlationId } = this.provider;
    return {
      ...super.toJSON(),
      // Members have the names that the provider uses.
      provider: { status, error, error_description: description, codes, suberror, correlation_id: correlationId },
      ...(this.retryAt === undefined ? {} : { retryAt: new Date(this.retryAt).toISOString() }),
    };
  }
}
