import { composeOutside, composePorts, findDataFiles, type Surroundings } from './compose.ts';
import { type DataObject, flatten } from './data/flatten.ts';
import { loadVariables } from './data/load-variables.ts';
import { Variables } from './data/variables.ts';
import { acquireToken } from './flows/acquire-token.ts';
import { readProfile } from './profile/read-profile.ts';

/** What {@link oauthProfile} can be told. */
export interface OAuthProfileOptions {
  /** The variables: `{'graph.type': 'microsoft'}` or `{graph: {type: 'microsoft'}}`. Without it the files that the shell command reads are read. */
  readonly data?: DataObject | undefined;
  /** Ends the call early, with an error of code `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** A token response as the provider gave it: every member, types kept. */
export interface TokenResponse {
  readonly [member: string]: unknown;
}

const surroundings: Surroundings = {
  env: process.env,
  get cwd() {
    return process.cwd();
  },
};
const ports = composePorts(surroundings);
const outside = composeOutside(surroundings);
const dataSource = { label: 'data', folder: '', trust: 'given' } as const;

/** Asks the provider of a profile for a token and returns its response; any failure is one {@link OAuthProfileError}. */
export async function oauthProfile(profile: string, options: OAuthProfileOptions = {}): Promise<TokenResponse> {
  if (typeof profile !== 'string' || profile === '') throw new TypeError('oauthProfile: the profile must be a name');
  const { data, signal } = options;
  const variables =
    data === undefined
      ? await loadVariables({
          ...findDataFiles(surroundings),
          given: [],
          settings: { entries: [], source: dataSource },
        })
      : new Variables().add(flatten(data, 'data'), dataSource);
  const { response } = await acquireToken(readProfile(profile, variables, outside), ports, signal);
  return response;
}
