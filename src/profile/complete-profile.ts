import { InvalidProfileError } from '../errors.ts';
import { Secret } from '../redaction/secret.ts';
import { selectTokenUrl } from './endpoints.ts';
import { selectFormParameters } from './form-parameters.ts';
import { checkGrantSupport, selectGrant } from './grant.ts';
import { selectInstallation } from './installation.ts';
import type { ParsedProfile } from './parse-profile.ts';
import type { Profile } from './profile.ts';
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
  const createsGrant = isInstallation || checkAssertion(draft, selected?.grant, options);
  const lacksLogin = checkRequiredFields(draft, provider, selected?.grant, parsed);
  if (url === undefined || draft.issues.length > 0) {
    const code = lacksLogin && draft.issues.length === 1 ? 'login_required' : 'profile_invalid';
    throw new InvalidProfileError(name, draft.issues, draft, code);
  }
  const refreshUrl = selected?.grant === 'refresh_token' ? provider.refreshUrl : undefined;
  return {
    name,
    provider,
    url: refreshUrl === undefined ? url : new URL(refreshUrl, url),
    grant: selected?.grant,
    createsGrant,
    ...auth,
    fields: installation?.fields ?? selectFormParameters(draft, provider, selected),
    family: stored?.family,
    options: installation === undefined ? options : { ...options, installation: installation.request },
    notes: draft.notes,
    warnings: draft.warnings,
  };
}
