import { Resolver } from '../config/resolver.ts';
import { isEmpty } from '../config/value.ts';
import type { Variables } from '../config/variables.ts';
import { InvalidProfileError } from '../errors.ts';
import type { ClientAuth, Provider } from '../providers/provider.ts';
import { Secret } from '../redaction/secret.ts';
import { clientOf } from './binding.ts';
import { chooseProvider } from './choose-provider.ts';
import { chooseClientAuth } from './client-auth.ts';
import { collectFields } from './collect-fields.ts';
import { selectGrant } from './grant.ts';
import { loginCommand } from './login-command.ts';
import { type SignInEndpoints, signInEndpoints } from './login-endpoints.ts';
import { readOptions } from './options.ts';
import type { ProfileOutside } from './parse-profile.ts';
import type { BasicPair, Field, Options } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { checkRequired } from './required-fields.ts';
import { chooseUrl } from './token-url.ts';

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
  readonly client: readonly Field[];
  /** With what a refresh token cannot do without; `undefined` where the profile and the provider name none. */
  readonly scope: Field | undefined;
  /** What else the person's sign-in is asked with, such as an audience; never a secret. */
  readonly further: readonly Field[];
  readonly endpoints: SignInEndpoints;
  /** The refresh token that the profile itself holds. */
  readonly pasted: Field | undefined;
  readonly options: Options;
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

/** Reads a profile for a sign-in, or throws one error that names every fault. */
export function readLoginProfile(name: string, variables: Variables, outside: ProfileOutside): LoginProfile {
  const draft = collectFields(name, variables, new Resolver(variables, outside));
  const provider = chooseProvider(draft);
  const { options, clientAuth: asked, allowHttp } = readOptions(draft, provider, outside);
  const { clientAuth, basic } = chooseClientAuth(draft, provider, asked);
  if (provider === undefined) throw new InvalidProfileError(name, draft.faults, draft.notes);
  const pasted = draft.has('refresh_token') ? draft.fields.get('refresh_token') : undefined;
  // What the login is going to bring.
  draft.fields.set('refresh_token', { name: 'refresh_token', value: '?', source: '' });
  refuseOtherGrants(draft, provider);
  const url = chooseUrl(draft, provider, 'refresh_token', allowHttp);
  checkRequired(draft, provider, 'refresh_token', { clientAuth, basic });
  for (const field of ['client_id', ...(provider.signIn?.required ?? [])]) requireFor(draft, field);
  refuseHidden(draft, 'scope');
  if (url === undefined || draft.faults.length > 0) throw new InvalidProfileError(name, draft.faults, draft.notes);
  const fields = [...draft.fields.values()];
  return {
    name,
    command: loginCommand(name),
    provider,
    url,
    clientId: clientOf(draft.fields, draft.basic),
    clientAuth,
    basic,
    client: fields.filter((field) => CLIENT_FIELDS.has(field.name) && !isEmpty(field.value)),
    scope: scopeOf(draft, provider),
    further: fields.filter(
      ({ name, value }) => !NOT_FURTHER.has(name) && !(value instanceof Secret) && !isEmpty(value),
    ),
    endpoints: signInEndpoints(provider, url, options),
    pasted,
    options,
  };
}

/** A profile that asks with another grant would never use what a login brings. */
function refuseOtherGrants(draft: ProfileDraft, provider: Provider): void {
  if (draft.isFaulty('grant_type')) return;
  const selected = selectGrant(draft, provider, true);
  if (selected === undefined || selected.grant === 'refresh_token') return;
  const { name } = draft;
  if (draft.has('grant_type')) {
    draft.fault(
      'grant_type',
      `is ${selected.grant}, so that a login would never be used`,
      'set it to refresh_token, or remove it',
    );
    return;
  }
  const why = provider.grantsByFields.find(({ grant }) => grant === selected.grant)?.fields ?? [];
  const advice =
    provider.signIn === undefined
      ? `${provider.type} signs applications in, not people: run oauth-profile token ${name}`
      : `set ${name}.grant_type: refresh_token, or remove ${why.map((field) => `${name}.${field}`).join(' and ')}`;
  draft.fault(
    why[0] ?? 'type',
    `makes the grant ${selected.grant} the one that is used, so that a login never would be`,
    advice,
  );
}

function requireFor(draft: ProfileDraft, field: string): void {
  if (draft.has(field) || draft.isFaulty(field)) return;
  if (field === 'client_id' && draft.wantsBasic) return;
  draft.fault(field, 'is missing; a login needs it', `set ${draft.name}.${field}`);
}

/** Whoever signs in is shown it. */
function refuseHidden(draft: ProfileDraft, field: string): void {
  if (!(draft.fields.get(field)?.value instanceof Secret)) return;
  draft.fault(
    field,
    'is made from a secret, but the sign-in page has to show it',
    'take it from a variable whose name does not say secret, password, token or the like',
  );
}

function scopeOf(draft: ProfileDraft, { signIn, type }: Provider): Field | undefined {
  const asked = (draft.text('scope') ?? '').split(/\s+/).filter((one) => one !== '');
  const missing = (signIn?.scopes ?? []).filter((one) => !asked.includes(one));
  if (asked.length + missing.length === 0) return undefined;
  const source = draft.fields.get('scope')?.source;
  const sources = [...(source === undefined ? [] : [source]), ...(missing.length > 0 ? [`default of ${type}`] : [])];
  return { name: 'scope', value: [...asked, ...missing].join(' '), source: sources.join(', ') };
}
