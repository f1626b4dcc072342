import type { Provider } from '../providers/provider.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** The grant of a profile, and why: a person who wonders reads it in `explain`. */
export interface SelectedGrant {
  readonly grant: string;
  readonly reason: string;
}

/** The grant that the profile names, else the one that its provider implies by the fields that are there; a login implies a refresh (D24). */
export function selectGrant(draft: ProfileDraft, provider: Provider, hasLogin = false): SelectedGrant | undefined {
  // What could not be read is reported as it is, not as the lack of what another grant needs.
  if (draft.hasIssue('grant_type')) return undefined;
  const named = draft.text('grant_type');
  if (named !== undefined) return { grant: named, reason: draft.fields.get('grant_type')?.source ?? '' };
  const type = draft.text('type') ?? '';
  const implied = provider.aliases?.[type];
  if (implied !== undefined) return { grant: implied, reason: `type ${type}` };
  for (const { grant, fields } of provider.grantsByFields) {
    if (fields.every((field) => draft.has(field) || draft.hasIssue(field))) {
      return { grant, reason: `default of ${provider.type} with ${fields.join(' and ')}` };
    }
  }
  if (provider.defaultGrant === undefined) {
    return hasLogin ? { grant: 'refresh_token', reason: 'kept by a login' } : undefined;
  }
  return { grant: provider.defaultGrant, reason: `default of ${provider.type}` };
}

/** Fields that make sense with one grant only. */
const fieldsOfGrant: Readonly<Record<string, readonly string[]>> = {
  password: ['username', 'password'],
  refresh_token: ['refresh_token'],
  client_credentials: [],
  authorization_code: ['code', 'code_verifier'],
  'urn:ietf:params:oauth:grant-type:device_code': ['device_code'],
};

/** Those of which we know every field. */
export const knownGrants: ReadonlySet<string> = new Set(['password', 'refresh_token', 'client_credentials']);

/** The grant that a field belongs to, if that is another one: a password has no business in a refresh request. */
export function otherGrantOf(field: string, grant: string): string | undefined {
  if (!knownGrants.has(grant)) return undefined;
  for (const [owner, fields] of Object.entries(fieldsOfGrant)) {
    if (owner !== grant && fields.includes(field)) return owner;
  }
  return undefined;
}
