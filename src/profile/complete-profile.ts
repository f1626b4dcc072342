import { InvalidProfileError } from '../errors.ts';
import { Secret } from '../redaction/secret.ts';
import { selectTokenUrl } from './endpoints.ts';
import { selectFormParameters } from './form-parameters.ts';
import { checkGrantSupport, selectGrant } from './grant.ts';
import { selectInstallation } from './installation.ts';
import type { ParsedProfile } from './parse-profile.ts';
import type { Profile, ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { checkAssertion, checkRequiredFields } from './required-fields.ts';

/** A login in the vault. */
export interface StoredGrant {
  /** `undefined` if the provider issued none, but only an access token. */
  readonly refreshToken: Secret | undefined;
  /** Key of the token family that the login started. */
  readonly family: string;
}

/** Selects the grant of a login without a refresh token. It is never sent: the access token is used until it expires. */
const NO_REFRESH_TOKEN = Secret.untracked('none');

/**
 * Selects the grant and checks the required fields. A stored refresh token replaces the configured one. Throws one
 * {@link InvalidProfileError} that lists all issues (D16). Its code is `login_required` if only a login is missing.
 */
export function completeProfile(parsed: ParsedProfile, stored?: StoredGrant): Profile {
  const { name, provider, options, auth } = parsed;
  const draft = parsed.draft.copy();
  if (provider === undefined) throw new InvalidProfileError(name, draft.issues, draft);
  if (stored !== undefined) {
    const value = stored.refreshToken ?? NO_REFRESH_TOKEN;
    draft.fields.set('refresh_token', { name: 'refresh_token', value, source: 'vault' });
  }
  const selected = selectGrant(draft, provider, stored !== undefined);
  checkGrantSupport(draft, provider, selected?.grant);
  const isInstallation = selected !== undefined && selected.grant === provider.installation?.grant;
  const installation = isInstallation ? selectInstallation(draft, provider.installation, parsed) : undefined;
  const url = isInstallation ? installation?.url : selectTokenUrl(draft, provider, options.allowHttp);
  if (!isInstallation) rejectOtherOrigin(draft, url, options);
  const createsGrant = isInstallation || checkAssertion(draft, selected?.grant, options);
  const lacksLogin = checkRequiredFields(draft, provider, selected?.grant, parsed);
  if (url === undefined || draft.issues.length > 0) {
    const code = lacksLogin && draft.issues.length === 1 ? 'login_required' : 'profile_invalid';
    throw new InvalidProfileError(name, draft.issues, draft, code);
  }
  return {
    name,
    provider,
    url: (selected?.grant === 'refresh_token' && options.refreshUrl) || url,
    grant: selected?.grant,
    createsGrant,
    ...auth,
    fields: installation?.fields ?? selectFormParameters(draft, provider, selected, options),
    family: stored?.family,
    options: installation === undefined ? options : { ...options, installation: installation.request },
    notes: draft.notes,
    warnings: draft.warnings,
  };
}

/** A stored refresh token is bound to the origin of the token URL. */
function rejectOtherOrigin(draft: ProfileDraft, url: URL | undefined, { refreshUrl }: ProfileOptions): void {
  if (url === undefined || refreshUrl === undefined || refreshUrl.origin === url.origin) return;
  const hint = `set ${draft.name}.options.refresh_url to a URL that begins with ${url.origin}/`;
  draft.addIssue('options.refresh_url', `is not at the origin of the token URL, ${url.origin}`, hint);
}
