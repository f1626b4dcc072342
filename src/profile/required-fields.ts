import { closestMatch } from '../config/suggestions.ts';
import type { ClientAuth, Provider } from '../providers/provider.ts';
import type { ChosenClientAuth } from './client-auth.ts';
import { KNOWN_FIELDS } from './known-fields.ts';
import { loginCommand } from './login-command.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** Reports every field that the grant and the client authentication cannot do without. */
export function checkRequired(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  { clientAuth }: ChosenClientAuth,
): void {
  // Where everything is sent as given, an empty secret is a value.
  const isThere = (field: string) =>
    draft.has(field) || (provider.clientAuth === 'as_given' && draft.fields.has(field));
  const absent = [...requiredBy(draft, provider, grant, clientAuth)].filter((field) => !isThere(field));
  if (provider.tenant !== undefined && !draft.has('url') && !draft.hasIssue('url')) {
    if (!draft.has('tenant_id'))
      missing(draft, 'tenant_id', 'is missing', `set ${draft.name}.tenant_id to ${provider.tenant.form}`);
  }
  if (awaitsLogin(draft, provider, grant, absent)) {
    const { name } = draft;
    draft.addIssue(
      'refresh_token',
      `is missing: nobody has signed in for ${name} yet`,
      loginHint(draft, grant, absent),
    );
  } else {
    for (const field of absent) {
      missing(
        draft,
        field,
        grant === undefined ? 'is missing' : `is missing; the grant ${grant} needs it`,
        hint(draft, provider, field, grant),
      );
    }
  }
  if (draft.issues.length > 0 && !draft.has('grant_type')) explainDefault(draft, provider);
}

function requiredBy(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  clientAuth: ClientAuth,
): Set<string> {
  const known = grant !== undefined && Object.hasOwn(provider.required, grant);
  const required = new Set(known ? provider.required[grant] : []);
  if (draft.wantsBasic) {
    required.delete('client_id');
    required.delete('client_secret');
    return required;
  }
  if (clientAuth === 'client_secret_basic' || clientAuth === 'client_secret_basic_raw')
    required.add('client_id').add('client_secret');
  else if (draft.has('client_assertion')) required.delete('client_secret');
  if (clientAuth === 'private_key_jwt') required.add('client_id');
  // Whoever asks for another way needs no secret; `none` as a default only means that there is none.
  if (clientAuth === 'private_key_jwt' || (clientAuth === 'none' && draft.hasOption('client_auth'))) {
    required.delete('client_secret');
  }
  if (draft.hasIssue('options.client_auth')) required.delete('client_secret');
  return required;
}

/** A misspelt field may be the reason why the default grant was taken, a misspelt secret why a person is asked for. */
function explainDefault(draft: ProfileDraft, { grantsByFields }: Provider): void {
  const unknown = unknownIn(draft);
  for (const field of [...grantsByFields.flatMap(({ fields }) => fields), 'client_secret']) {
    if (draft.has(field) || draft.hasIssue(field)) continue;
    const near = closestMatch(field, unknown);
    if (near === undefined || draft.hasIssue(near)) continue;
    draft.addIssue(near, 'is not a field that we know', `did you mean ${draft.name}.${field}?`);
  }
}

function unknownIn({ fields }: ProfileDraft): string[] {
  return [...fields.keys()].filter((name) => !KNOWN_FIELDS.includes(name));
}

function missing(draft: ProfileDraft, field: string, message: string, mend: string): void {
  if (draft.hasIssue(field)) return;
  const near = closestMatch(field, unknownIn(draft));
  const { name } = draft;
  draft.addIssue(
    field,
    message,
    near === undefined ? mend : `${name}.${near} is there: did you mean ${name}.${field}?`,
  );
}

/** What a person brings, or a login. */
const OF_A_PERSON = ['username', 'password', 'refresh_token'];

/** Whether a profile has all that a login needs, and lacks only what the login brings. */
function awaitsLogin(
  draft: ProfileDraft,
  { login: signIn, tenant }: Provider,
  grant: string | undefined,
  absent: readonly string[],
): boolean {
  if (signIn === undefined || absent.length === 0 || !absent.every((field) => OF_A_PERSON.includes(field)))
    return false;
  if (grant !== 'refresh_token' && draft.has('grant_type')) return false;
  if (OF_A_PERSON.some((field) => draft.has(field) || draft.hasIssue(field))) return false;
  const isAddressed = tenant === undefined || draft.has('tenant_id') || draft.has('url');
  const isClient = draft.has('client_id') || draft.wantsBasic;
  if (!isAddressed || !isClient || !(signIn.required ?? []).every((field) => draft.has(field))) return false;
  // Somebody who misspelt a password does not want to sign in.
  return OF_A_PERSON.every((field) => closestMatch(field, unknownIn(draft)) === undefined);
}

function loginHint(draft: ProfileDraft, grant: string | undefined, absent: readonly string[]): string {
  const { name } = draft;
  const login = `run: ${loginCommand(name)}`;
  if (isMachine(draft, grant))
    return `set ${name}.grant_type: client_credentials to sign in as the application itself; as a person, ${login}`;
  return `${login}; or set ${absent.map((field) => `${name}.${field}`).join(' and ')}`;
}

/** An id and a secret but no user: most likely the application signs in as itself. */
function isMachine(draft: ProfileDraft, grant: string | undefined): boolean {
  const client = draft.wantsBasic || (draft.has('client_id') && draft.has('client_secret'));
  return grant === 'password' && client && !draft.has('username');
}

function hint(draft: ProfileDraft, { login: signIn }: Provider, field: string, grant: string | undefined): string {
  const set = `set ${draft.name}.${field}`;
  if (isMachine(draft, grant))
    return `${set}, or set ${draft.name}.grant_type: client_credentials to sign in as the application itself`;
  // Whoever has signed in needs none of these.
  const person = OF_A_PERSON.includes(field) && !draft.has('username');
  const fits = signIn !== undefined && (grant === 'refresh_token' || !draft.has('grant_type'));
  if (!person || !fits) return set;
  const lacking = (signIn.required ?? []).filter((one) => !draft.has(one)).map((one) => `${draft.name}.${one}`);
  const first = lacking.length === 0 ? '' : `set ${lacking.join(' and ')} and `;
  return `${set}, or ${first}sign in once: ${loginCommand(draft.name)}`;
}
