import { usageError } from '../args.ts';

/** Adds a host of `credHelpers` to `config.json`, or removes it. The indentation of the file is preserved. */
export function editDockerConfig(
  text: string | undefined,
  hosts: readonly string[],
  helper: string,
  undo: boolean,
): string | undefined {
  const config = parseConfig(text);
  const { credHelpers = {} } = config as { credHelpers?: Record<string, string> };
  const entries = Object.entries(credHelpers);
  const foreign = entries.find(([host, name]) => hosts.includes(host) && name !== helper);
  if (foreign !== undefined && !undo)
    throw usageError(
      `docker already uses the helper ${foreign[1]} for ${foreign[0]}`,
      'remove it from credHelpers in config.json',
    );
  const isOwn = ([, name]: readonly [string, unknown]): boolean => name === helper;
  if (undo ? !entries.some(isOwn) : hosts.every((host) => Object.hasOwn(credHelpers, host))) return text;
  const next = undo ? entries.filter((entry) => !isOwn(entry)) : [...entries, ...hosts.map((host) => [host, helper])];
  if (next.length > 0) config['credHelpers'] = Object.fromEntries(next);
  else delete config['credHelpers'];
  // A file that contained nothing else was written by this command.
  if (undo && Object.keys(config).length === 0) return undefined;
  const indent = /^[\t ]+(?=")/m.exec(text ?? '')?.[0] ?? '\t';
  return JSON.stringify(config, null, indent) + (text?.endsWith('\n') ? '\n' : '');
}

function parseConfig(text = '{}'): Record<string, unknown> {
  try {
    const config: unknown = JSON.parse(text);
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return { ...config };
  } catch {
    // Reported below.
  }
  throw usageError('config.json of docker is not a JSON object', 'correct the file');
}
