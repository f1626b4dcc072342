import { nearest } from '../data/nearest.ts';
import type { Provider } from '../providers/provider.ts';
import type { ChosenClientAuth } from './choose-client-auth.ts';
import { KNOWN_FIELDS } from './known-fields.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** Reports every field that the grant and the client authentication cannot do without. */
export function checkRequired(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  { clientAuth, basic }: ChosenClientAuth,
): void {
  const required = new Set(grant === undefined ? [] : provider.required[grant]);
  if (clientAuth === 'basic' || clientAuth === 'basic_raw') required.add('client_id').add('client_secret');
  if (clientAuth === 'private_key_jwt') required.add('client_id');
  if (clientAuth === 'private_key_jwt' || clientAuth === 'none') required.delete('client_secret');
  if (basic !== undefined) {
    required.delete('client_id');
    required.delete('client_secret');
  }
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
      advice(draft, field, grant),
    );
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

/** An id and a secret but no user: most likely the application signs in as itself. */
function advice(draft: ProfileDraft, field: string, grant: string | undefined): string {
  const machine =
    grant === 'password' && draft.has('client_id') && draft.has('client_secret') && !draft.has('username');
  const set = `set ${draft.name}.${field}`;
  return machine
    ? `${set}, or set ${draft.name}.grant_type: client_credentials to sign in as the application itself`
    : set;
}
