import { OAuthProfileError } from '../errors.ts';
import { readEnv } from './dotenv.ts';
import { readJson } from './json.ts';
import { readProperties } from './properties.ts';
import { type Entry, type Source, Variables } from './variables.ts';

/** A file of variables, read but not parsed. */
export interface DataFile {
  readonly text: string;
  readonly source: Source;
}

/** Variables that were read already. */
export interface DataEntries {
  readonly entries: readonly Entry[];
  readonly source: Source;
}

/** Where the variables of a call come from, weakest first; `text` was read by the caller. */
export interface DataSources {
  readonly user: DataFile | undefined;
  readonly directory: DataFile | undefined;
  /** The `data` of a script. */
  readonly script?: DataEntries | undefined;
  readonly given: readonly DataFile[];
  readonly settings: DataEntries;
}

/** Puts all sources together; later ones win. */
export async function loadVariables({ user, directory, script, given, settings }: DataSources): Promise<Variables> {
  const variables = new Variables();
  if (user !== undefined) variables.add(await parseDataFile(user), user.source);
  if (directory !== undefined) variables.addDirectoryFile(await parseDataFile(directory), directory.source);
  if (script !== undefined) variables.add(script.entries, script.source);
  for (const file of given) variables.add(await parseDataFile(file), file.source);
  return variables.add(settings.entries, settings.source);
}

/** Reads a file in the format that its name says. */
async function parseDataFile({ text, source: { label } }: DataFile): Promise<Entry[]> {
  const name = label.toLowerCase();
  // YAML is the dearest to load, so that only its users pay for it.
  if (/\.ya?ml$/.test(name)) return (await import('./yaml.ts')).readYaml(text, label);
  if (name.endsWith('.json')) return readJson(text, label);
  if (name.endsWith('.properties')) return readProperties(text, label);
  if (/(?:^|[\\/.])env(?:\.[^\\/]+)?$/.test(name)) return readEnv(text, label);
  throw new OAuthProfileError('data_invalid', `${label}: is of no known format`, {
    hint: 'name it .yaml, .json, .env or .properties',
  });
}
