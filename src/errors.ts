/** Every way a call can fail, with the exit status the command line gives it. The list is closed, so a `switch` over it narrows. */
export const errorCodes = {
  step_failed: 1,
  usage: 2,
  script_invalid: 2,
  data_invalid: 2,
  profile_not_found: 2,
  profile_invalid: 2,
  request_too_large: 2,
  provider_refused: 3,
  connection_failed: 4,
  tls_failed: 4,
  proxy_refused: 4,
  not_emulated: 4,
  timed_out: 4,
  redirected: 4,
  rate_limited: 4,
  provider_unavailable: 4,
  reply_unreadable: 4,
  reply_too_large: 4,
  login_required: 5,
  store_locked: 6,
  store_unreadable: 6,
  store_unwritable: 6,
  aborted: 130,
} as const satisfies Record<string, number>;

/** One of the codes of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** What an error may carry beside its code and sentence. */
export interface ErrorDetails {
  /** What to change or to run. */
  readonly advice?: string | undefined;
  readonly cause?: unknown;
}

/** Base of all errors of this package: `code` is for programs, `message` and `advice` are for the person who reads them. */
export class OAuthProfileError extends Error {
  override readonly name: string = 'OAuthProfileError';
  readonly code: ErrorCode;
  readonly advice: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.advice = details.advice;
  }

  /** The error as it is printed under `--json`. */
  toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.message, advice: this.advice };
  }
}

/** The error for a caller whose signal ended the call. */
export function aborted(signal: AbortSignal | undefined): OAuthProfileError {
  return new OAuthProfileError('aborted', 'the request was aborted', { cause: signal?.reason });
}

/** One thing that is wrong with a profile, or with the data it is read from. */
export interface Fault {
  /** Name of the variable at fault, such as `graph.client_id`. */
  readonly variable: string;
  readonly message: string;
  readonly advice?: string | undefined;
  /** Where the variable was defined, such as `oauth-profiles.yaml:4`. */
  readonly where?: string | undefined;
}

/** A profile that cannot be used; `faults` lists everything that is wrong with it, so that one correction is enough. */
export class InvalidProfileError extends OAuthProfileError {
  override readonly name = 'InvalidProfileError';
  readonly faults: readonly Fault[];
  /** The message without the faults, for who shows each of them. */
  readonly summary: string;
  /** What is no fault but may be a mistake. */
  readonly notes: readonly string[];

  constructor(profile: string, faults: readonly Fault[], notes: readonly string[] = []) {
    const summary =
      faults.length === 1 ? `profile ${profile} has a fault` : `profile ${profile} has ${faults.length} faults`;
    const details = faults.map(({ variable, message }) => `${variable} ${message}`).join('; ');
    super('profile_invalid', `${summary}: ${details}`, { advice: adviceOn(faults) });
    this.summary = summary;
    this.faults = faults;
    this.notes = notes;
  }

  override toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.summary, advice: this.advice, faults: this.faults };
  }
}

/** What to do about each fault, on a line of its own. */
function adviceOn(faults: readonly Fault[]): string | undefined {
  const lines = faults
    .filter(({ advice }) => advice !== undefined)
    .map(({ variable, advice }) => (faults.length === 1 ? `${advice}` : `${variable}: ${advice}`));
  return lines.length === 0 ? undefined : lines.join('\n');
}

/** One thing that is wrong with a script. */
export interface ScriptFault {
  /** Where it stands in the file; both count from 1, columns in UTF-16 units as editors do. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The line at fault, fit for a terminal: secrets masked, a long one cut around the fault. */
  readonly excerpt?: string | undefined;
  /** How many characters of the excerpt stand before the fault. */
  readonly caret?: number | undefined;
  /** Where it stands in a script that is an object: `steps[2].ws.get`. */
  readonly path?: string | undefined;
  readonly message: string;
  readonly advice?: string | undefined;
}

/** A script that cannot run; `faults` lists everything that is wrong with it, in the order of the file. */
export class InvalidScriptError extends OAuthProfileError {
  override readonly name = 'InvalidScriptError';
  /** The script's file as it is shown to a person. */
  readonly file: string;
  readonly faults: readonly ScriptFault[];

  /** Of very many faults only the first are given; `total` says how many there are. */
  constructor(file: string, faults: readonly ScriptFault[], total = faults.length) {
    const shown = total > faults.length ? `; these are the first ${faults.length}` : '';
    super('script_invalid', total === 1 ? `${file} has a fault` : `${file} has ${total} faults${shown}`);
    this.file = file;
    this.faults = faults;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), file: this.file, faults: this.faults };
  }
}

/** The provider could not be asked, or its answer did not arrive. */
export class TransportError extends OAuthProfileError {
  override readonly name = 'TransportError';
  /** Whether the provider may have received the request, and acted on it. */
  readonly sent: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails & { sent: boolean }) {
    super(code, message, details);
    this.sent = details.sent;
  }
}

/** A provider's own words about a refusal, in one shape whatever shape the provider uses. */
export interface Refusal {
  readonly status: number;
  readonly error?: string | undefined;
  readonly description?: string | undefined;
  /** The provider's finer codes: `AADSTS7000215`, `E0000047`, `99`. */
  readonly codes?: readonly string[] | undefined;
  readonly suberror?: string | undefined;
  /** The provider wants more of the person than it had: a second factor, a consent. */
  readonly claims?: true | undefined;
  /** What the provider's support asks for. */
  readonly correlationId?: string | undefined;
}

/** The provider answered, and the answer is not a token. */
export class ProviderError extends OAuthProfileError {
  override readonly name = 'ProviderError';
  readonly provider: Refusal;
  /** When the provider is ready for another request (epoch milliseconds), where it said so. */
  readonly retryAt: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails & { provider: Refusal; retryAt?: number | undefined },
  ) {
    super(code, message, details);
    this.provider = details.provider;
    this.retryAt = details.retryAt;
  }

  override toJSON(): Record<string, unknown> {
    const { status, error, description, codes, suberror, correlationId } = this.provider;
    return {
      ...super.toJSON(),
      // The provider's own words keep the provider's own names.
      provider: { status, error, error_description: description, codes, suberror, correlation_id: correlationId },
      ...(this.retryAt === undefined ? {} : { retryAt: new Date(this.retryAt).toISOString() }),
    };
  }
}
