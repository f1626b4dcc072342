import { findDataFiles, type ProcessEnvironment } from './compose.ts';
import { deepCopy, deepEqual } from './config/copy.ts';
import { type DataObject, flatten } from './config/flatten.ts';
import { type DataEntries, loadVariables } from './config/load-variables.ts';
import { Variables } from './config/variables.ts';
import type { EmulatorEndpoint } from './ports.ts';
import type { Profile } from './profile/profile.ts';
import { Session } from './session.ts';

/** What every call of the library can be told. */
export interface CallOptions {
  /** The variables: `{'graph.type': 'microsoft'}` or `{graph: {type: 'microsoft'}}`. Without it the files that the shell command reads are read. */
  readonly data?: DataObject | undefined;
  /** Ends the call early, with an error of code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** An emulator of the providers, from `oauth-profile/emulator`: every request goes there, to the real address. */
  readonly emulator?: EmulatorEndpoint | undefined;
  /** Where refresh tokens and tokens are kept: `redis://…`, `memory` for this process alone; the vault of this machine unless given. */
  readonly store?: string | undefined;
}

/** This process. */
export const surroundings: ProcessEnvironment = {
  env: process.env,
  get cwd() {
    return process.cwd();
  },
};
const dataSource = { label: 'data', directory: '', trust: 'given' } as const;
const sessions = new Map<string | undefined, Session>();
const emulated = new WeakMap<EmulatorEndpoint, Session>();
const read = new WeakMap<DataObject, { copy: unknown; variables: Variables; profiles: Map<string, Profile> }>();

/** The session that calls with these options share: connections and requests under way are kept from call to call. */
export function sessionFor({ emulator, store }: CallOptions): Session {
  const known = emulator === undefined ? sessions.get(store) : emulated.get(emulator);
  if (known !== undefined) return known;
  const warn = (text: string): void => process.emitWarning(text, 'OAuthProfileWarning');
  const session = new Session(surroundings, { emulator, store, warn });
  if (emulator === undefined) sessions.set(store, session);
  else emulated.set(emulator, session);
  return session;
}

/** The variables of a call; a script's own are weaker than what the caller gives. */
export async function variablesFor({ data }: CallOptions, script?: DataEntries): Promise<Variables> {
  if (data !== undefined) return variablesIn(data, script);
  const settings = { entries: [], source: dataSource };
  return loadVariables({ ...findDataFiles(surroundings), script, given: [], settings });
}

function variablesIn(data: DataObject, script?: DataEntries): Variables {
  const variables = new Variables();
  if (script !== undefined) variables.add(script.entries, script.source);
  return variables.add(flatten(data, 'data'), dataSource);
}

/** The profile of a call. A program asks with the same `data` again and again: as long as it holds the same, it is not read again. */
export function profileFor(session: Session, name: string, options: CallOptions): Profile | Promise<Profile> {
  const { data } = options;
  const known = data && read.get(data);
  const found = known?.profiles.get(name);
  return found !== undefined && deepEqual(data, known?.copy) ? found : readProfileFor(session, name, options);
}

async function readProfileFor(session: Session, name: string, options: CallOptions): Promise<Profile> {
  const { data } = options;
  if (data === undefined) return session.readProfile(name, await variablesFor(options));
  let known = read.get(data);
  if (known === undefined || !deepEqual(data, known.copy)) {
    // Made before the copy: it refuses what contains itself. And in one go with it: the caller may change `data` while we wait.
    const variables = variablesIn(data);
    known = { copy: deepCopy(data), variables, profiles: new Map() };
    read.set(data, known);
  }
  const { variables, profiles } = known;
  // What else it depends on may change unseen.
  let lasts = true;
  const profile = await session.readProfile(name, variables, () => {
    lasts = false;
  });
  if (lasts) profiles.set(name, profile);
  return profile;
}

/** Refuses what TypeScript would not have let through. */
export function checkCall(caller: string, profile: unknown, options: CallOptions): void {
  if (typeof profile !== 'string' || profile === '') throw new TypeError(`${caller}: the profile must be a name`);
  checkOptions(caller, options);
}

/** The same for options alone. */
export function checkOptions(caller: string, { data, signal, store }: CallOptions): void {
  if (data !== undefined && (typeof data !== 'object' || data === null || Symbol.iterator in data))
    throw new TypeError(`${caller}: data must be an object of variables`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new TypeError(`${caller}: signal must be an AbortSignal`);
  if (store !== undefined && (typeof store !== 'string' || !/^(?:memory|rediss?:\/\/.+)$/.test(store)))
    throw new TypeError(`${caller}: store must be a redis:// address or 'memory'`);
}
