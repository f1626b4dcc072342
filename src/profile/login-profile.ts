import { isEmpty } from '../config/value.ts';
import { InvalidProfileError } from '../errors.ts';
import type { ClientAuth, Provider } from '../providers/provider.ts';
import { Secret } from '../redaction/secret.ts';
import { selectGrant } from './grant.ts';
import { loginCommand } from './login-command.ts';
import { type LoginEndpoints, loginEndpoints } from './login-endpoints.ts';
import type { ParsedProfile } from './parse-profile.ts';
import { type BasicPair, type Field, getClientId, type ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { checkRequired } from './required-fields.ts';
import { selectTokenUrl } from './token-url.ts';

/** A profile that a person can sign in for: it needs neither a password nor a refresh token. */
export interface LoginProfile {
  readonly name: string;
  /** What to run to sign in once more. */
  readonly command: string;
  readonly provider: Provider;
  /** The token endpoint, to which what a login brings is bound. */
  readonly url: URL;
  readonly clientId: string | Secret;
  readonly clientAuth: ClientAuth;
  readonly basic: BasicPair | undefined;
  /** What the client authenticates with. */
  readonly clientParameters: readonly Field[];
  /** With what a refresh token cannot do without; `undefined` where the profile and the provider name none. */
  readonly scope: Field | undefined;
  /** What else the person's sign-in is asked with, such as an audience; never a secret. */
  readonly extraParameters: readonly Field[];
  readonly endpoints: LoginEndpoints;
  /** The refresh token that the profile itself holds. */
  readonly configuredRefreshToken: Field | undefined;
  readonly options: ProfileOptions;
}

const CLIENT_FIELDS = new Set(['client_id', 'client_secret', 'client_assertion', 'client_assertion_type']);

/** What says where to go, what belongs to other grants, and what a sign-in sets itself. */
const NOT_FURTHER = new Set([
  ...CLIENT_FIELDS,
  'type',
  'url',
  'tenant_id',
  'grant_type',
  'username',
  'password',
  'refresh_token',
  'scope',
  'code',
  'code_verifier',
  'device_code',
  'redirect_uri',
  'response_type',
  'response_mode',
  'state',
  'code_challenge',
  'code_challenge_method',
]);

/** Completes a profile for an interactive login. Throws one {@link InvalidProfileError} that lists all issues (D16). */
export function toLoginProfile(parsed: ParsedProfile): LoginProfile {
  const { name, provider, options, auth, allowHttp } = parsed;
  const draft = parsed.draft.copy('refresh_token');
  if (provider === undefined) throw new InvalidProfileError(name, draft.issues, draft.notes);
  refuseOtherGrants(draft, provider);
  const url = selectTokenUrl(draft, provider, 'refresh_token', allowHttp);
  checkRequired(draft, provider, 'refresh_token', auth);
  for (const field of ['client_id', ...(provider.login?.required ?? [])]) requireFor(draft, field);
  refuseHidden(draft, 'scope');
  if (url === undefined || draft.issues.length > 0) throw new InvalidProfileError(name, draft.issues, draft.notes);
  const { clientAuth, basic } = auth;
  const fields = [...draft.fields.values()];
  return {
    name,
    command: loginCommand(name),
    provider,
    url,
    clientId: getClientId({ basic, fields }),
    clientAuth,
    basic,
    clientParameters: fields.filter((field) => CLIENT_FIELDS.has(field.name) && !isEmpty(field.value)),
    scope: scopeOf(draft, provider),
    extraParameters: fields.filter(
      ({ name, value }) => !NOT_FURTHER.has(name) && !(value instanceof Secret) && !isEmpty(value),
    ),
    endpoints: loginEndpoints(provider, url, options),
    configuredRefreshToken: fields.find((field) => field.name === 'refresh_token' && !isEmpty(field.value)),
    options,
  };
}

/** A profile that asks with another grant would never use what a login brings. */
function refuseOtherGrants(draft: ProfileDraft, provider: Provider): void {
  if (draft.hasIssue('grant_type')) return;
  const selected = selectGrant(draft, provider, true);
  if (selected === undefined || selected.grant === 'refresh_token') return;
  const { name } = draft;
  if (draft.has('grant_type')) {
    draft.addIssue(
      'grant_type',
      `is ${selected.grant}, so that a login would never be used`,
      'set it to refresh_token, or remove it',
    );
    return;
  }
  const why = provider.grantsByFields.find(({ grant }) => grant === selected.grant)?.fields ?? [];
  const hint =
    provider.login === undefined
      ? `${provider.type} signs applications in, not people: run oauth-profile token ${name}`
      : `set ${name}.grant_type: refresh_token, or remove ${why.map((field) => `${name}.${field}`).join(' and ')}`;
  draft.addIssue(
    why[0] ?? 'type',
    `makes the grant ${selected.grant} the one that is used, so that a login never would be`,
    hint,
  );
}

function requireFor(draft: ProfileDraft, field: string): void {
  if (draft.has(field) || draft.hasIssue(field)) return;
  if (field === 'client_id' && draft.wantsBasic) return;
  draft.addIssue(field, 'is missing; a login needs it', `set ${draft.name}.${field}`);
}

/** Whoever signs in is shown it. */
function refuseHidden(draft: ProfileDraft, field: string): void {
  if (!(draft.fields.get(field)?.value instanceof Secret)) return;
  draft.addIssue(
    field,
    'is made from a secret, but the sign-in page has to show it',
    'take it from a variable whose name does not say secret, password, token or the like',
  );
}

function scopeOf(draft: ProfileDraft, { login: signIn, type }: Provider): Field | undefined {
  const asked = (draft.text('scope') ?? '').split(/\s+/).filter((one) => one !== '');
  const missing = (signIn?.scopes ?? []).filter((one) => !asked.includes(one));
  if (asked.length + missing.length === 0) return undefined;
  const source = draft.fields.get('scope')?.source;
  const sources = [...(source === undefined ? [] : [source]), ...(missing.length > 0 ? [`default of ${type}`] : [])];
  return { name: 'scope', value: [...asked, ...missing].join(' '), source: sources.join(', ') };
}
