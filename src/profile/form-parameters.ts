import { closestMatch } from '../config/suggestions.ts';
import { isEmpty } from '../config/value.ts';
import type { Provider } from '../providers/provider.ts';
import { findOtherGrant, knownGrants, type SelectedGrant } from './grant.ts';
import { expandField, type Field, type ProfileOptions } from './profile.ts';
import { KNOWN_FIELDS, type ProfileDraft } from './profile-draft.ts';

/** Fields that define where the request is sent; they are never sent themselves (D9). */
const DESTINATION_FIELDS = new Set(['type', 'url']);

/** Selects the form fields of a token request; `grant_type` comes first; only fields that may be repeated occur more than once (D14). Adds warnings. */
export function selectFormParameters(
  draft: ProfileDraft,
  provider: Provider,
  selected: SelectedGrant | undefined,
  options: ProfileOptions,
): Field[] {
  const parameters: Field[] = [];
  if (selected !== undefined) parameters.push({ name: 'grant_type', value: selected.grant, source: selected.reason });
  for (const field of draft.fields.values()) {
    if (DESTINATION_FIELDS.has(field.name) || (field.name === 'grant_type' && selected !== undefined)) continue;
    if (provider.clientAuth === 'passthrough' || isSent(draft, provider, field, selected))
      parameters.push(...expandField(withSeparator(field, options)));
  }
  if (provider.clientAuth !== 'passthrough') addMisspellingWarnings(draft, provider);
  if (selected !== undefined) addGrantNotes(draft, provider, selected.grant);
  return parameters;
}

/** Whether a field only defines where a request is sent. */
export function isDestinationField(name: string, { usesIssuer, variables = {} }: Provider): boolean {
  return name === 'tenant_id' || (usesIssuer === true && name === 'issuer') || Object.hasOwn(variables, name);
}

/** Some providers separate scopes with commas. */
export function withSeparator(field: Field, { scopeSeparator }: Pick<ProfileOptions, 'scopeSeparator'>): Field {
  if (field.name !== 'scope' || scopeSeparator === 'space' || typeof field.value !== 'string') return field;
  return { ...field, value: field.value.trim().replace(/[\s,]+/g, ',') };
}

function isSent(
  draft: ProfileDraft,
  provider: Provider,
  { name, value }: Field,
  selected: SelectedGrant | undefined,
): boolean {
  if (isDestinationField(name, provider) || isEmpty(value)) return false;
  const otherGrant = selected && findOtherGrant(name, selected.grant);
  if (otherGrant !== undefined) {
    draft.addNote(`${draft.name}.${name} belongs to the grant ${otherGrant} and is not sent`);
  }
  return otherGrant === undefined;
}

/** Unknown fields are sent, but one that resembles a known field may be misspelled. */
function addMisspellingWarnings(draft: ProfileDraft, provider: Provider): void {
  const { name, fields } = draft;
  for (const field of draft.unknownFields.filter((one) => !isDestinationField(one, provider))) {
    const match = closestMatch(
      field,
      KNOWN_FIELDS.filter((known) => !fields.has(known)),
    );
    if (match !== undefined) draft.addWarning(`${name}.${field} is sent as is: did you mean ${name}.${match}?`);
  }
}

/** Adds warnings about values that the provider will probably reject. */
function addGrantNotes(draft: ProfileDraft, { valueHints = [] }: Provider, grant: string): void {
  const { name } = draft;
  const match = knownGrants.has(grant) ? undefined : closestMatch(grant, knownGrants);
  if (match !== undefined) draft.addWarning(`${name}.grant_type is ${grant}: did you mean ${match}?`);
  for (const { field, pattern, description } of valueHints.filter((hint) => hint.grant === grant)) {
    const value = draft.getText(field) ?? '';
    // The values of secrets are not checked.
    if (pattern.test(value) || (value === '' && draft.has(field))) continue;
    draft.addWarning(`${name}.${field} should be ${description}, for the grant ${grant}`);
  }
  if (grant === 'password') {
    draft.addNote(
      'the password grant is deprecated (RFC 9700 §2.4) and fails with multi-factor authentication: use a refresh token or client_credentials',
    );
  }
}
