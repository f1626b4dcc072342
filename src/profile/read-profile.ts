import { type Outside, Resolver } from '../data/resolve.ts';
import type { Source, Variables } from '../data/variables.ts';
import { InvalidProfileError } from '../errors.ts';
import { checkRequired } from './check-required.ts';
import { chooseClientAuth } from './choose-client-auth.ts';
import { chooseProvider } from './choose-provider.ts';
import { chooseSentFields } from './choose-sent-fields.ts';
import { chooseUrl } from './choose-url.ts';
import { collectFields } from './collect-fields.ts';
import type { Profile } from './profile.ts';
import { readOptions } from './read-options.ts';
import { selectGrant } from './select-grant.ts';

/** What reading a profile needs of the outside world. */
export interface ProfileOutside extends Outside {
  /** The text of a file that an option names, `undefined` if it cannot be read. */
  readFile(path: string, source: Source): string | undefined;
}

/** Turns a profile's variables into a checked {@link Profile}, or throws one error that names every fault. */
export function readProfile(name: string, variables: Variables, outside: ProfileOutside): Profile {
  const draft = collectFields(name, variables, new Resolver(variables, outside));
  const provider = chooseProvider(draft);
  const { options, clientAuth: asked, allowHttp } = readOptions(draft, provider, outside);
  const auth = chooseClientAuth(draft, provider, asked);
  if (provider === undefined) throw new InvalidProfileError(name, draft.faults, draft.notes);
  const selected = selectGrant(draft, provider);
  const url = chooseUrl(draft, provider, selected?.grant, allowHttp);
  checkRequired(draft, provider, selected?.grant, auth);
  if (url === undefined || draft.faults.length > 0) throw new InvalidProfileError(name, draft.faults, draft.notes);
  const fields = chooseSentFields(draft, provider, selected);
  const { clientAuth, basic } = auth;
  return { name, provider, url, grant: selected?.grant, clientAuth, basic, fields, options, notes: draft.notes };
}
