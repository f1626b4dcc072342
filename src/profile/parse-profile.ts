import { type ExternalSources, Resolver } from '../config/resolver.ts';
import type { Source, Variables } from '../config/variables.ts';
import { InvalidProfileError } from '../errors.ts';
import type { Secret } from '../redaction/secret.ts';
import { chooseProvider } from './choose-provider.ts';
import { chooseClientAuth } from './client-auth.ts';
import { collectFields } from './collect-fields.ts';
import { selectFormParameters } from './form-parameters.ts';
import { selectGrant } from './grant.ts';
import { parseOptions } from './options.ts';
import type { Profile } from './profile.ts';
import { checkRequired } from './required-fields.ts';
import { selectTokenUrl } from './token-url.ts';

/** What reading a profile needs of the outside world. */
export interface ProfileSources extends ExternalSources {
  /** The text of a file that an option names, `undefined` if it cannot be read. */
  readOptionFile(path: string, source: Source): string | undefined;
}

/** A refresh token that a login left in the vault, and the family that it belongs to. */
export interface StoredGrant {
  readonly refreshToken: Secret;
  readonly family: string;
}

/** Turns a profile's variables into a checked {@link Profile}, or throws one error that names every fault; a login's refresh token replaces the profile's own. */
export function parseProfile(
  name: string,
  variables: Variables,
  outside: ProfileSources,
  login?: StoredGrant,
): Profile {
  const draft = collectFields(name, variables, new Resolver(variables, outside));
  if (login !== undefined) {
    draft.fields.set('refresh_token', { name: 'refresh_token', value: login.refreshToken, source: 'vault' });
  }
  const provider = chooseProvider(draft);
  const { options, clientAuth: asked, allowHttp } = parseOptions(draft, provider, outside);
  const auth = chooseClientAuth(draft, provider, asked);
  if (provider === undefined) throw new InvalidProfileError(name, draft.issues, draft.notes);
  const selected = selectGrant(draft, provider, login !== undefined);
  const url = selectTokenUrl(draft, provider, selected?.grant, allowHttp);
  checkRequired(draft, provider, selected?.grant, auth);
  if (url === undefined || draft.issues.length > 0) throw new InvalidProfileError(name, draft.issues, draft.notes);
  const fields = selectFormParameters(draft, provider, selected);
  const { clientAuth, basic } = auth;
  const { notes } = draft;
  const family = login?.family;
  return { name, provider, url, grant: selected?.grant, clientAuth, basic, fields, family: family, options, notes };
}
