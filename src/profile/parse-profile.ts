import { type Outside, Resolver } from '../config/resolver.ts';
import type { Source, Variables } from '../config/variables.ts';
import { InvalidProfileError } from '../errors.ts';
import type { Secret } from '../redaction/secret.ts';
import { chooseProvider } from './choose-provider.ts';
import { chooseClientAuth } from './client-auth.ts';
import { collectFields } from './collect-fields.ts';
import { chooseSentFields } from './form-parameters.ts';
import { selectGrant } from './grant.ts';
import { readOptions } from './options.ts';
import type { Profile } from './profile.ts';
import { checkRequired } from './required-fields.ts';
import { chooseUrl } from './token-url.ts';

/** What reading a profile needs of the outside world. */
export interface ProfileOutside extends Outside {
  /** The text of a file that an option names, `undefined` if it cannot be read. */
  readFile(path: string, source: Source): string | undefined;
}

/** A refresh token that a login left in the vault, and the chain that it belongs to. */
export interface Login {
  readonly refreshToken: Secret;
  readonly chain: string;
}

/** Turns a profile's variables into a checked {@link Profile}, or throws one error that names every fault; a login's refresh token replaces the profile's own. */
export function readProfile(name: string, variables: Variables, outside: ProfileOutside, login?: Login): Profile {
  const draft = collectFields(name, variables, new Resolver(variables, outside));
  if (login !== undefined) {
    draft.fields.set('refresh_token', { name: 'refresh_token', value: login.refreshToken, source: 'vault' });
  }
  const provider = chooseProvider(draft);
  const { options, clientAuth: asked, allowHttp } = readOptions(draft, provider, outside);
  const auth = chooseClientAuth(draft, provider, asked);
  if (provider === undefined) throw new InvalidProfileError(name, draft.faults, draft.notes);
  const selected = selectGrant(draft, provider, login !== undefined);
  const url = chooseUrl(draft, provider, selected?.grant, allowHttp);
  checkRequired(draft, provider, selected?.grant, auth);
  if (url === undefined || draft.faults.length > 0) throw new InvalidProfileError(name, draft.faults, draft.notes);
  const fields = chooseSentFields(draft, provider, selected);
  const { clientAuth, basic } = auth;
  const { notes } = draft;
  const chain = login?.chain;
  return { name, provider, url, grant: selected?.grant, clientAuth, basic, fields, chain, options, notes };
}
