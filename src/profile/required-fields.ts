import { closestMatch } from '../config/suggestions.ts';
import type { ClientAuth, Provider, UrlVariable } from '../providers/provider.ts';
import type { ParsedProfile } from './parse-profile.ts';
import { type AssertionSource, JWT_BEARER, loginCommand, type ProfileOptions, TOKEN_EXCHANGE } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** Fields that identify a user: the user sets them, or a login makes them unnecessary. */
const USER_FIELDS = ['username', 'password', 'refresh_token'];

/** Adds an issue for every field that is required but missing. Returns whether one of them is that of a login. */
export function checkRequiredFields(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  { auth: { clientAuth }, options }: Pick<ParsedProfile, 'auth' | 'options'>,
): boolean {
  // Custom profiles are sent as given: there, an empty secret is a value.
  const isSet = (field: string): boolean =>
    draft.has(field) || (provider.clientAuth === 'passthrough' && draft.fields.has(field));
  const missing = [...findRequiredFields(draft, provider, grant, clientAuth)].filter((field) => !isSet(field));
  for (const [field, { description }] of missingVariables(draft, provider)) {
    addMissingIssue(draft, field, 'is missing', `set ${draft.name}.${field} to ${description}`);
  }
  const lacksLogin =
    isCustomWithoutLogin(draft, provider, grant, options) || isWithoutLogin(draft, provider, grant, missing);
  if (lacksLogin)
    draft.addIssue(
      'refresh_token',
      'is missing: no user has logged in yet',
      loginHint(draft, grant ?? (provider.usesIssuer ? 'password' : undefined)),
    );
  else if (provider.usesIssuer && grant === undefined && draft.has('url') && !draft.hasIssue('grant_type')) {
    draft.addIssue('grant_type', 'is missing', `set ${draft.name}.grant_type, such as client_credentials`);
  }
  const message = grant === undefined ? 'is missing' : `is missing (required by the ${grant} grant)`;
  // All hints first: they depend on the issues so far.
  const hints = missing.map((field) => [field, missingFieldHint(draft, provider, field, grant)] as const);
  for (const [field, hint] of hints) {
    if (!lacksLogin || !USER_FIELDS.includes(field)) addMissingIssue(draft, field, message, hint);
  }
  if (draft.issues.length > 0 && !draft.has('grant_type')) addMisspellingIssues(draft, provider);
  return lacksLogin;
}

/**
 * Checks the assertion of a jwt-bearer grant: configured, or signed with `options.key_file` (RFC 7523 §2.1). Returns whether it is signed for each
 * request.
 */
export function checkAssertion(draft: ProfileDraft, grant: string | undefined, options: ProfileOptions): boolean {
  const { name } = draft;
  const claims = new Set(options.assertion.claims.map((claim) => claim.name));
  const { assertionSource: source } = options;
  if (grant === TOKEN_EXCHANGE) return checkSubjectToken(draft, source);
  if (grant !== JWT_BEARER) {
    if (claims.size > 0) draft.addWarning(`${name}.options.assertion is not used: it needs grant_type: ${JWT_BEARER}`);
    return false;
  }
  if (draft.has('assertion') || draft.hasIssue('assertion') || draft.hasIssue('options.key_file')) return false;
  if (source !== undefined) return true;
  if (options.key === undefined) {
    if (draft.hasIssue('options.assertion_source')) return false;
    const hint = `set ${name}.options.key_file to its private key, or ${name}.options.assertion_source`;
    draft.addIssue('assertion', `is missing (required by the ${grant} grant)`, hint);
    return false;
  }
  // Google's service accounts omit the subject; all others need it (RFC 7523 §3).
  const required = options.assertion.omitsId ? [] : ['sub', ...(draft.has('client_id') ? [] : ['iss'])];
  for (const claim of required) {
    const option = `options.assertion.${claim}`;
    if (claims.has(claim) || draft.hasIssue(option)) continue;
    draft.addIssue(option, 'is missing (required by RFC 7523)', `set ${name}.${option}`);
  }
  return true;
}

/** RFC 8693 §2.1. Returns whether the subject token is read for each request. */
function checkSubjectToken(draft: ProfileDraft, source: AssertionSource | undefined): boolean {
  const { name } = draft;
  if (draft.has('subject_token') || draft.hasIssue('subject_token')) return false;
  if (source === undefined) {
    const hint = `set ${name}.subject_token, or ${name}.options.assertion_source`;
    if (!draft.hasIssue('options.assertion_source'))
      draft.addIssue('subject_token', 'is missing (required by RFC 8693)', hint);
    return false;
  }
  if (!draft.has('subject_token_type')) {
    const type = source.kind !== 'profile' ? 'jwt' : source.member === 'id_token' ? 'id_token' : 'access_token';
    const value = `urn:ietf:params:oauth:token-type:${type}`;
    draft.fields.set('subject_token_type', { name: 'subject_token_type', value, source: 'options.assertion_source' });
  }
  return true;
}

/** The variables of the token URL that the profile does not set. */
function missingVariables(draft: ProfileDraft, { variables = {} }: Provider): [string, UrlVariable][] {
  if (draft.has('url') || draft.hasIssue('url')) return [];
  return Object.entries(variables).filter(([field, { default: byDefault }]) => !byDefault && !draft.has(field));
}

function findRequiredFields(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  clientAuth: ClientAuth,
): Set<string> {
  const isKnown = grant !== undefined && Object.hasOwn(provider.required, grant);
  const required = new Set(isKnown ? provider.required[grant] : []);
  if (draft.usesBasic) {
    required.delete('client_id');
    required.delete('client_secret');
    return required;
  }
  if (/^client_secret_(?:basic|basic_raw|jwt)$/.test(clientAuth)) required.add('client_id').add('client_secret');
  else if (draft.has('client_assertion')) required.delete('client_secret');
  if (/private_key_jwt|tls_client_auth/.test(clientAuth)) required.add('client_id');
  // A configured `none` means that the client has no secret; as a default it only means that the profile has none.
  if (/private_key_jwt|tls_client_auth/.test(clientAuth) || (clientAuth === 'none' && draft.hasOption('client_auth'))) {
    required.delete('client_secret');
  }
  if (draft.hasIssue('options.client_auth')) required.delete('client_secret');
  return required;
}

/** Reports misspelled fields that may be the reason for an unexpected grant or client authentication. */
function addMisspellingIssues(draft: ProfileDraft, { grantsByFields }: Provider): void {
  for (const field of [...grantsByFields.flatMap(({ fields }) => fields), 'client_secret']) {
    if (draft.has(field) || draft.hasIssue(field)) continue;
    const match = closestMatch(field, draft.unknownFields);
    if (match === undefined || draft.hasIssue(match)) continue;
    draft.addIssue(match, 'is not a known field', `did you mean ${draft.name}.${field}?`);
  }
}

function addMissingIssue(draft: ProfileDraft, field: string, message: string, hint: string): void {
  if (draft.hasIssue(field)) return;
  const { name } = draft;
  const match = closestMatch(field, draft.unknownFields);
  draft.addIssue(
    field,
    message,
    match === undefined ? hint : `${name}.${match} is set: did you mean ${name}.${field}?`,
  );
}

/** Whether a profile of a built-in type has everything a login needs and lacks only what the login supplies. */
function isWithoutLogin(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  missing: readonly string[],
): boolean {
  const { login } = provider;
  if (login === undefined || missing.length === 0 || !missing.every((field) => USER_FIELDS.includes(field))) {
    return false;
  }
  if (grant !== 'refresh_token' && draft.has('grant_type')) return false;
  const hasClient = draft.has('client_id') || draft.usesBasic;
  const hasLoginFields = (login.requiredFields ?? []).every((field) => draft.has(field));
  return missingVariables(draft, provider).length === 0 && hasClient && hasLoginFields && hasNoUserField(draft);
}

/** Whether a custom profile can log users in, but has no refresh token and no other grant. */
function isCustomWithoutLogin(
  draft: ProfileDraft,
  { defaultGrant }: Provider,
  grant: string | undefined,
  { authorizationUrl, deviceAuthorizationUrl }: ProfileOptions,
): boolean {
  const hasEndpoint = (authorizationUrl ?? deviceAuthorizationUrl) !== undefined;
  if (defaultGrant !== undefined || !hasEndpoint || draft.hasIssue('grant_type')) return false;
  if (grant !== undefined && grant !== 'refresh_token') return false;
  return !draft.has('refresh_token') && !draft.hasIssue('refresh_token');
}

/** A profile with a user field, even a misspelled one, is not meant for a login. */
function hasNoUserField(draft: ProfileDraft): boolean {
  return USER_FIELDS.every(
    (field) => !draft.has(field) && !draft.hasIssue(field) && closestMatch(field, draft.unknownFields) === undefined,
  );
}

function loginHint(draft: ProfileDraft, grant: string | undefined): string {
  const { name } = draft;
  if (!isApplication(draft, grant)) return `run: ${loginCommand(name)}`;
  return `set ${name}.grant_type: client_credentials for a token of the application itself; for a token of a user, run: ${loginCommand(name)}`;
}

/** A client id and secret without a user: probably the application requests a token for itself (D6). */
function isApplication(draft: ProfileDraft, grant: string | undefined): boolean {
  const hasClient = draft.usesBasic || (draft.has('client_id') && draft.has('client_secret'));
  return grant === 'password' && hasClient && !draft.has('username');
}

/** The password grant is deprecated: a login or client_credentials is recommended instead, where possible. */
function missingFieldHint(draft: ProfileDraft, { login }: Provider, field: string, grant: string | undefined): string {
  const { name } = draft;
  const set = `set ${name}.${field}`;
  if (isApplication(draft, grant)) {
    const other = `set ${name}.grant_type: client_credentials for a token of the application itself`;
    return draft.has('grant_type') || draft.has('password') ? `${other}, or ${set}` : other;
  }
  const usesLogin = login !== undefined && (grant === 'refresh_token' || !draft.has('grant_type'));
  if (!USER_FIELDS.includes(field) || !usesLogin || !hasNoUserField(draft)) return set;
  const lacking = ['client_id', ...(login.requiredFields ?? [])].filter((one) => !draft.has(one));
  const first = lacking.length === 0 ? '' : `set ${lacking.map((one) => `${name}.${one}`).join(' and ')} and `;
  const run = `${first}run: ${loginCommand(name)}`;
  return field === 'refresh_token' ? `${set}, or ${run}` : run;
}
