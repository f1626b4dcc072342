import { composeOutside, composePorts, findDataFiles, readGivenDataFile, type Surroundings } from '../compose.ts';
import { loadVariables } from '../data/load-variables.ts';
import { hasReference } from '../data/reference.ts';
import type { Entry, Variables } from '../data/variables.ts';
import type { EmulatorAddress, Ports } from '../ports.ts';
import type { ProfileOutside } from '../profile/read-profile.ts';
import { isSecretName } from '../secret/secret-names.ts';
import type { Call } from './command.ts';
import type { Terminal } from './terminal.ts';
import { usage } from './usage.ts';

/** What a command works with. */
export interface Context {
  readonly terminal: Terminal;
  readonly surroundings: Surroundings;
  readonly call: Call;
  /** Aborted by Ctrl-C and SIGTERM; while nobody has asked for it, they end the process. */
  readonly signal: AbortSignal;
}

/** A warning on stderr, unless nobody wants to hear it. */
export function warn({ terminal, call }: Context, text: string): void {
  if (!call.switches.has('quiet')) terminal.tell(`${terminal.style.err.yellow('warning:')} ${text}\n`);
}

/** The variables of all sources that the command line names. */
export async function variablesOf(context: Context): Promise<Variables> {
  const { surroundings, call } = context;
  const given = (call.values.get('data') ?? []).map((path) => readGivenDataFile(path, surroundings));
  const entries = parseSettings(call.values.get('set') ?? []);
  for (const { name, value } of entries) {
    if (isSecretName(name) && typeof value === 'string' && value !== '' && !hasReference(value)) {
      warn(context, `--set ${name}: arguments are public to every process of this machine; use \${env:…} or --data`);
    }
  }
  return loadVariables({
    ...findDataFiles(surroundings),
    given,
    settings: { entries, source: { label: '--set', folder: '', trust: 'given' } },
  });
}

function parseSettings(settings: readonly string[]): Entry[] {
  const faults: string[] = [];
  const entries = settings.map((setting, index) => {
    const end = setting.indexOf('=');
    if (end < 1) faults.push(`the ${index + 1}. --set is not NAME=VALUE`);
    return { name: setting.slice(0, end), value: setting.slice(end + 1) };
  });
  if (faults.length > 0) throw usage(faults, 'write --set graph.scope=user.read');
  return entries;
}

/** The real ports; what they log is shown to who asked for it. */
export function portsOf({ surroundings, terminal, call }: Context, emulator?: EmulatorAddress): Ports {
  const verbose = call.switches.has('verbose');
  const log = (line: string): void => {
    if (verbose) terminal.tell(`${terminal.style.err.dim(line)}\n`);
  };
  return composePorts(surroundings, { log, emulator, keepConnections: false });
}

/** What profiles reach of this machine. */
export function outsideOf({ surroundings }: Context): ProfileOutside {
  return composeOutside(surroundings);
}
