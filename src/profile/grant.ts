import type { Provider } from '../providers/provider.ts';
import { loginCommand } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** The grant of a profile. */
export interface SelectedGrant {
  readonly grant: string;
  /** Why it was selected: `explain` shows this as the source of `grant_type`. */
  readonly reason: string;
}

/**
 * Selects the grant (D6): the one the profile sets, else the one implied by its fields, else the provider's default. A
 * custom profile has no default, but a stored login implies `refresh_token` (D24).
 */
export function selectGrant(
  draft: ProfileDraft,
  provider: Provider,
  hasStoredLogin = false,
): SelectedGrant | undefined {
  // A grant_type that cannot be resolved is one issue; the fields of another grant must not be reported as missing too.
  if (draft.hasIssue('grant_type')) return undefined;
  const configured = draft.getText('grant_type');
  if (configured !== undefined) return { grant: configured, reason: draft.fields.get('grant_type')?.source ?? '' };
  const type = draft.getText('type') ?? '';
  const implied = provider.aliases?.[type];
  if (implied !== undefined) return { grant: implied, reason: `type ${type}` };
  for (const { grant, fields } of provider.grantsByFields) {
    if (fields.every((field) => draft.has(field) || draft.hasIssue(field))) {
      return { grant, reason: `default of ${provider.type} with ${fields.join(' and ')}` };
    }
  }
  if (provider.defaultGrant === undefined) {
    return hasStoredLogin ? { grant: 'refresh_token', reason: 'stored login' } : undefined;
  }
  return { grant: provider.defaultGrant, reason: `default of ${provider.type}` };
}

/** Reports a grant that the provider does not support; the server of another `url` may support it. */
export function checkGrantSupport(draft: ProfileDraft, provider: Provider, grant: string | undefined): void {
  if (draft.has('url') || draft.hasIssue('url')) return;
  const { name } = draft;
  const tenant = draft.getText('tenant_id') ?? '';
  for (const { tenants } of provider.unsupportedGrants?.filter((one) => one.grant === grant) ?? []) {
    if (tenants === undefined) {
      const hint = `remove it, then run: ${loginCommand(name)}`;
      draft.addWarning(`${name}.grant_type is ${grant}, which ${provider.type} does not support: ${hint}`);
    } else if (tenants.includes(tenant.toLowerCase())) {
      const hint = `set ${name}.tenant_id to your own tenant`;
      draft.addIssue('tenant_id', `is "${tenant}", which does not support the grant ${grant}`, hint);
    }
  }
}

/** Fields that belong to one grant only. */
const fieldsByGrant: Readonly<Record<string, readonly string[]>> = {
  password: ['username', 'password'],
  refresh_token: ['refresh_token'],
  client_credentials: [],
  authorization_code: ['code', 'code_verifier'],
  'urn:ietf:params:oauth:grant-type:device_code': ['device_code'],
};

/** Grants whose fields are all known. Other grants are sent with all fields of the profile (D7). */
export const knownGrants: ReadonlySet<string> = new Set(['password', 'refresh_token', 'client_credentials']);

/** The other grant that a field belongs to, if any: a password is not sent with a refresh request (D6). */
export function findOtherGrant(field: string, grant: string): string | undefined {
  if (!knownGrants.has(grant)) return undefined;
  for (const [owner, fields] of Object.entries(fieldsByGrant)) {
    if (owner !== grant && fields.includes(field)) return owner;
  }
  return undefined;
}
