import { parseRequestUrls } from '../../credential/request-url.ts';
import { matchesOrigin } from '../../profile/origins.ts';
import { usageError } from '../args.ts';

/** A table `[registries.<name>]` of `config.toml`, by its lines. */
interface RegistryTable {
  readonly name: string;
  /** Index of the header's line. */
  readonly header: number;
  readonly index: string | undefined;
  /** Index of the line of `credential-provider`. */
  readonly provider: number | undefined;
}

/**
 * Sets `credential-provider` of the registries whose index has one of the origins, or removes it. Only lines of tables `[registries.<name>]` are
 * changed; everything else stays as it is.
 */
export function editCargoConfig(
  text: string | undefined,
  origins: readonly string[],
  profile: string,
  provider: readonly string[],
  undo: boolean,
): string | undefined {
  const lines = (text ?? '').split('\n');
  const tables = findTables(lines).filter(
    ({ index = '' }) => undo || parseRequestUrls(index).some((url) => matchesOrigin(origins, url)),
  );
  if (tables.length === 0 && !undo)
    throw usageError(
      `no registry in config.toml of cargo has an index at ${origins.join(', ') || 'an origin of the profile'}`,
      'add a table [registries.NAME] with index = "sparse+https://…", then repeat the command',
    );
  const line = `credential-provider = ${JSON.stringify(provider)}`;
  const isOwn = (number: number | undefined): number is number =>
    number !== undefined && isOwnProvider(lines[number] ?? '', profile);
  // From the last table to the first, so that line numbers stay valid.
  for (const { name, header, provider: existing } of tables.reverse()) {
    if (existing !== undefined && !isOwn(existing) && !undo)
      throw usageError(`the registry ${name} already has a credential-provider`, 'remove it from config.toml of cargo');
    if (isOwn(existing)) lines.splice(existing, 1);
    if (!undo) lines.splice(header + 1, 0, line);
  }
  return text === undefined && undo ? undefined : lines.join('\n');
}

function isOwnProvider(line: string, profile: string): boolean {
  return line.includes('oauth-profile') && line.includes(`"--profile","${profile}"`);
}

function findTables(lines: readonly string[]): RegistryTable[] {
  const tables: RegistryTable[] = [];
  let current: { -readonly [member in keyof RegistryTable]: RegistryTable[member] } | undefined;
  for (const [number, line] of lines.entries()) {
    const header = /^\s*\[\s*(?:registries\s*\.\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*\])?/.exec(line);
    if (header !== null) {
      const name = header[1] ?? header[2] ?? header[3];
      current = name === undefined ? undefined : { name, header: number, index: undefined, provider: undefined };
      if (current !== undefined) tables.push(current);
    }
    if (current === undefined) continue;
    current.index ??= /^\s*index\s*=\s*["']([^"']*)["']/.exec(line)?.[1];
    if (/^\s*credential-provider\s*=/.test(line)) current.provider = number;
  }
  return tables;
}
