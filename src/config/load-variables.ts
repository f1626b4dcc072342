import { dataError } from '../errors.ts';
import { isEnvFile, readEnv } from './dotenv.ts';
import { readJson } from './json.ts';
import { readProperties } from './properties.ts';
import { type Entry, type Source, Variables } from './variables.ts';

/** The content of a file of variables. */
export interface DataFile {
  readonly text: string;
  readonly source: Source;
}

/** Parsed variables. */
export interface DataEntries {
  readonly entries: readonly Entry[];
  readonly source: Source;
}

/** All sources of variables; later ones override earlier ones. */
export interface DataSources {
  readonly user: DataFile | undefined;
  readonly directory: DataFile | undefined;
  readonly misnamed?: string | undefined;
  /** The `data:` of a script. */
  readonly script?: DataEntries | undefined;
  readonly given: readonly DataFile[];
  readonly settings: DataEntries;
}

/** Parses and combines all sources of variables. */
export async function loadVariables(sources: DataSources): Promise<Variables> {
  const { user, directory, misnamed, script, given, settings } = sources;
  const variables = new Variables(undefined, misnamed);
  if (user !== undefined) variables.define(await parseDataFile(user), user.source);
  if (directory !== undefined) variables.define(await parseDataFile(directory), directory.source);
  if (script !== undefined) variables.define(script.entries, { ...script.source, trust: 'script' });
  for (const file of given) variables.add(await parseDataFile(file), file.source);
  return variables.add(settings.entries, settings.source);
}

/** Parses a file in the format of its extension. */
async function parseDataFile({ text, source: { label } }: DataFile): Promise<Entry[]> {
  const name = label.toLowerCase();
  // The YAML library is slow to load.
  if (/\.ya?ml$/.test(name)) return (await import('./yaml.ts')).readYaml(text, label);
  if (name.endsWith('.json')) return readJson(text, label);
  if (name.endsWith('.properties')) return readProperties(text, label);
  if (isEnvFile(label)) return readEnv(text, label);
  throw dataError(`${label}: unsupported file format`, 'use a .yaml, .json, .env or .properties file');
}
