import { closestMatch } from '../config/suggestions.ts';
import { isEmpty } from '../config/value.ts';
import type { Provider } from '../providers/provider.ts';
import { knownGrants, otherGrantOf, type SelectedGrant } from './grant.ts';
import { KNOWN_FIELDS } from './known-fields.ts';
import type { Field } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** They say where to send. */
const ADDRESS = new Set(['type', 'url']);

/** The fields that are sent, `grant_type` first and once. */
export function selectFormParameters(
  draft: ProfileDraft,
  provider: Provider,
  selected: SelectedGrant | undefined,
): Field[] {
  const sent: Field[] = [];
  if (selected !== undefined) sent.push({ name: 'grant_type', value: selected.grant, source: selected.reason });
  for (const field of draft.fields.values()) {
    if (ADDRESS.has(field.name) || (field.name === 'grant_type' && selected !== undefined)) continue;
    if (provider.clientAuth === 'as_given' || isSent(draft, field, selected)) sent.push(field);
  }
  if (provider.clientAuth !== 'as_given') noteNearMisses(draft);
  if (selected !== undefined) noteDoubts(draft, provider, selected.grant);
  if (selected?.grant === 'password') {
    draft.addNote(
      'the password grant is deprecated (RFC 9700 §2.4) and fails with multi-factor authentication: prefer a refresh token or client_credentials',
    );
  }
  return sent;
}

function isSent(draft: ProfileDraft, { name, value }: Field, selected: SelectedGrant | undefined): boolean {
  if (name === 'tenant_id' || isEmpty(value)) return false;
  const owner = selected && otherGrantOf(name, selected.grant);
  if (owner !== undefined) draft.addNote(`${draft.name}.${name} belongs to the grant ${owner} and is not sent`);
  return owner === undefined;
}

/** Any further field is sent; one that looks like a known field misspelt deserves a word. */
function noteNearMisses(draft: ProfileDraft): void {
  const { name, fields } = draft;
  for (const field of fields.keys()) {
    if (KNOWN_FIELDS.includes(field)) continue;
    const near = closestMatch(
      field,
      KNOWN_FIELDS.filter((known) => !fields.has(known)),
    );
    if (near !== undefined) draft.addNote(`${name}.${field} is sent as it is: did you mean ${name}.${near}?`);
  }
}

/** What the provider will most likely refuse. */
function noteDoubts(draft: ProfileDraft, { valueHints: expected = [] }: Provider, grant: string): void {
  const { name } = draft;
  const near = knownGrants.has(grant) ? undefined : closestMatch(grant, knownGrants);
  if (near !== undefined) draft.addNote(`${name}.grant_type is ${grant}: did you mean ${near}?`);
  for (const { field, pattern, form } of expected.filter((one) => one.grant === grant)) {
    const value = draft.text(field) ?? '';
    // A secret is not looked into.
    if (pattern.test(value) || (value === '' && draft.has(field))) continue;
    draft.addNote(`${name}.${field} should be ${form}, with the grant ${grant}`);
  }
}
