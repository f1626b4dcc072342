import { nearest } from '../data/nearest.ts';
import type { ClientAuth, Provider } from '../providers/provider.ts';
import type { ChosenClientAuth } from './choose-client-auth.ts';
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
  const required = requiredBy(draft, provider, grant, clientAuth);
  if (provider.tenant !== undefined && !draft.has('url') && !draft.isFaulty('url')) {
    if (!draft.has('tenant_id'))
      missing(draft, 'tenant_id', 'is missing', `set ${draft.name}.tenant_id to ${provider.tenant.form}`);
  }
  for (const field of required) {
    // Where everything is sent as given, an empty secret is a value.
    if (draft.has(field) || (provider.clientAuth === 'as_given' && draft.fields.has(field))) continue;
    missing(
      draft,
      field,
      grant === undefined ? 'is missing' : `is missing; the grant ${grant} needs it`,
      advice(draft, provider, field, grant),
    );
  }
  if (draft.faults.length > 0 && !draft.has('grant_type')) explainDefault(draft, provider);
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
  if (clientAuth === 'basic' || clientAuth === 'basic_raw') required.add('client_id').add('client_secret');
  else if (draft.has('client_assertion')) required.delete('client_secret');
  if (clientAuth === 'private_key_jwt') required.add('client_id');
  // Whoever asks for another way needs no secret; `none` as a default only means that there is none.
  if (clientAuth === 'private_key_jwt' || (clientAuth === 'none' && draft.hasOption('client_auth'))) {
    required.delete('client_secret');
  }
  if (draft.isFaulty('options.client_auth')) required.delete('client_secret');
  return required;
}

/** A misspelt field may be the reason why the default grant was taken. */
function explainDefault(draft: ProfileDraft, { grantsByFields }: Provider): void {
  const unknown = [...draft.fields.keys()].filter((name) => !KNOWN_FIELDS.includes(name));
  for (const field of grantsByFields.flatMap(({ fields }) => fields)) {
    if (draft.has(field) || draft.isFaulty(field)) continue;
    const near = nearest(field, unknown);
    if (near === undefined || draft.isFaulty(near)) continue;
    draft.fault(near, 'is not a field that we know', `did you mean ${draft.name}.${field}?`);
  }
}

function missing(draft: ProfileDraft, field: string, message: string, mend: string): void {
  if (draft.isFaulty(field)) return;
  const near = nearest(
    field,
    [...draft.fields.keys()].filter((name) => !KNOWN_FIELDS.includes(name)),
  );
  const { name } = draft;
  draft.fault(field, message, near === undefined ? mend : `${name}.${near} is there: did you mean ${name}.${field}?`);
}

/** An id and a secret but no user: most likely the application signs in as itself; without a secret, a person does. */
function advice(draft: ProfileDraft, { signIn }: Provider, field: string, grant: string | undefined): string {
  const client = draft.wantsBasic || (draft.has('client_id') && draft.has('client_secret'));
  const machine = grant === 'password' && client && !draft.has('username');
  const set = `set ${draft.name}.${field}`;
  if (machine)
    return `${set}, or set ${draft.name}.grant_type: client_credentials to sign in as the application itself`;
  // Whoever has signed in needs none of these.
  const person = ['username', 'password', 'refresh_token'].includes(field) && !draft.has('username');
  const fits = signIn !== undefined && (grant === 'refresh_token' || !draft.has('grant_type'));
  return person && fits ? `${set}, or sign in once: ${loginCommand(draft.name)}` : set;
}
