import { isEmpty } from '../config/value.ts';
import { InvalidProfileError } from '../errors.ts';
import type { Provider } from '../providers/provider.ts';
import { Secret } from '../redaction/secret.ts';
import { type LoginEndpoints, selectLoginEndpoints, selectTokenUrl } from './endpoints.ts';
import { isDestinationField, withSeparator } from './form-parameters.ts';
import { findOtherGrant, selectGrant } from './grant.ts';
import type { ParsedProfile } from './parse-profile.ts';
import { expandField, type Field, getClientId, loginCommand, type Profile } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { checkRequiredFields } from './required-fields.ts';

/** A profile completed for an interactive login: it needs neither a password nor a refresh token. */
export interface LoginProfile extends Omit<Profile, 'grant' | 'createsGrant' | 'fields' | 'family'> {
  /** The command to log in again. */
  readonly command: string;
  readonly clientId: string | Secret;
  /** The form fields of client authentication. */
  readonly clientParameters: readonly Field[];
  /** The scopes of the profile, and those that the provider requires for a refresh token. */
  readonly scope: Field | undefined;
  /** Other parameters of the authorization request, such as `audience`; never secrets. */
  readonly extraParameters: readonly Field[];
  /** Other parameters of the token requests, such as `resource` (RFC 8707 §2.2); they may be secrets. */
  readonly tokenParameters: readonly Field[];
  readonly endpoints: LoginEndpoints;
  /** The refresh token set in the profile itself. */
  readonly configuredRefreshToken: Field | undefined;
}

const CLIENT_FIELDS = new Set(['client_id', 'client_secret', 'client_assertion', 'client_assertion_type']);

/** Fields that define the destination, or that the login sets itself. */
const RESERVED_FIELDS =
  /^(?:type|url|tenant_id|grant_type|refresh_token|scope|redirect_uri|response_(?:type|mode)|state|code_challenge(?:_method)?)$/;

/** Parameters of the login page only (OpenID Connect Core §3.1.2.1; Google and Microsoft). */
const AUTHORIZATION_FIELDS =
  /^(?:prompt|display|max_age|nonce|acr_values|(?:ui|claims)_locales|(?:login|domain|id_token)_hint|request(?:_uri)?|access_type|include_granted_scopes|hd)$/;

/** Completes a profile for an interactive login. Throws one {@link InvalidProfileError} that lists all issues (D16). */
export function toLoginProfile(parsed: ParsedProfile): LoginProfile {
  const { name, provider, options, auth } = parsed;
  const draft = parsed.draft.copy('refresh_token');
  if (provider === undefined) throw new InvalidProfileError(name, draft.issues, draft);
  rejectOtherGrant(draft, provider);
  const url = selectTokenUrl(draft, provider, options.allowHttp);
  checkRequiredFields(draft, provider, 'refresh_token', parsed);
  for (const field of ['client_id', ...(provider.login?.requiredFields ?? [])]) requireField(draft, field);
  rejectSecretScope(draft);
  if (url === undefined || draft.issues.length > 0) throw new InvalidProfileError(name, draft.issues, draft);
  const fields = [...draft.fields.values()].flatMap(expandField);
  const extra = fields.filter((field) => isExtraParameter(field, provider));
  return {
    name,
    command: loginCommand(name),
    provider,
    url,
    ...auth,
    clientId: getClientId({ ...auth, fields }),
    clientParameters: fields.filter((field) => CLIENT_FIELDS.has(field.name) && !isEmpty(field.value)),
    scope: selectScope(draft, provider, options),
    extraParameters: extra.filter(({ value }) => !(value instanceof Secret)),
    tokenParameters: extra.filter((field) => !AUTHORIZATION_FIELDS.test(field.name)),
    endpoints: selectLoginEndpoints(provider, url, options),
    configuredRefreshToken: fields.find((field) => field.name === 'refresh_token' && !isEmpty(field.value)),
    options,
    notes: draft.notes,
    warnings: draft.warnings,
  };
}

function isExtraParameter({ name, value }: Field, provider: Provider): boolean {
  return (
    !isDestinationField(name, provider) &&
    !CLIENT_FIELDS.has(name) &&
    !RESERVED_FIELDS.test(name) &&
    !findOtherGrant(name, 'refresh_token') &&
    !isEmpty(value)
  );
}

/** A profile with another grant would not use the login. */
function rejectOtherGrant(draft: ProfileDraft, provider: Provider): void {
  if (draft.hasIssue('grant_type')) return;
  const selected = selectGrant(draft, provider, true);
  if (selected === undefined || selected.grant === 'refresh_token') return;
  const { name } = draft;
  if (draft.has('grant_type')) {
    const hint = `set ${name}.grant_type to refresh_token, or remove it`;
    draft.addIssue('grant_type', `is ${selected.grant}, so a login would not be used`, hint);
    return;
  }
  const causes = provider.grantsByFields.find(({ grant }) => grant === selected.grant)?.fields ?? [];
  const hint =
    provider.login === undefined
      ? `${provider.type} issues tokens to applications only: run oauth-profile token ${name}`
      : `set ${name}.grant_type: refresh_token, or remove ${causes.map((field) => `${name}.${field}`).join(' and ')}`;
  draft.addIssue(causes[0] ?? 'type', `selects the grant ${selected.grant}, so a login would not be used`, hint);
}

function requireField(draft: ProfileDraft, field: string): void {
  if (draft.has(field) || draft.hasIssue(field)) return;
  if (field === 'client_id' && draft.usesBasic) return;
  draft.addIssue(field, 'is missing (required for a login)', `set ${draft.name}.${field}`);
}

/** The authorization URL and the consent page show the scope. */
function rejectSecretScope(draft: ProfileDraft): void {
  if (!(draft.fields.get('scope')?.value instanceof Secret)) return;
  const hint = 'take it from a variable without secret, password or token in its name';
  draft.addIssue('scope', 'comes from a secret, but the login page shows it', hint);
}

function selectScope(
  draft: ProfileDraft,
  { login, type }: Provider,
  options: Pick<Profile['options'], 'scopeSeparator'>,
): Field | undefined {
  const configured = (draft.getText('scope') ?? '').split(/\s+/).filter((scope) => scope !== '');
  const added = (login?.requiredScopes ?? []).filter((scope) => !configured.includes(scope));
  if (configured.length + added.length === 0) return undefined;
  const source = draft.fields.get('scope')?.source;
  const sources = [...(source === undefined ? [] : [source]), ...(added.length > 0 ? [`default of ${type}`] : [])];
  const field = { name: 'scope', value: [...configured, ...added].join(' '), source: sources.join(', ') };
  return withSeparator(field, options);
}
