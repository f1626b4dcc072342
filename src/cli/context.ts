import { findDataFiles, type ProcessEnvironment, readGivenFile } from '../compose.ts';
import { type DataEntries, loadVariables } from '../config/load-variables.ts';
import { hasReference } from '../config/reference.ts';
import type { Entry, Variables } from '../config/variables.ts';
import type { Wish } from '../flows/wish.ts';
import type { EmulatorEndpoint } from '../ports.ts';
import { parseDuration } from '../profile/options.ts';
import type { Profile } from '../profile/profile.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { Session } from '../session.ts';
import type { ParsedArgs } from './command.ts';
import type { Terminal } from './terminal.ts';
import { usage } from './usage.ts';

/** What a command works with. */
export interface Context {
  readonly terminal: Terminal;
  readonly surroundings: ProcessEnvironment;
  readonly call: ParsedArgs;
  /** Aborted by Ctrl-C and SIGTERM; while nobody has asked for it, they end the process. */
  readonly signal: AbortSignal;
}

/** A warning on stderr, unless nobody wants to hear it. */
export function warn({ terminal, call }: Context, text: string): void {
  if (!call.switches.has('quiet')) terminal.tell(`${terminal.style.err.yellow('warning:')} ${text}\n`);
}

/** The variables of all sources that the command line names. */
export function variablesOf(context: Context): Promise<Variables> {
  return variablesReader(context)();
}

/** The same for a script, whose own stand among them; for many scripts the files are read, and warnings are given, once. */
export function variablesReader(context: Context): (script?: DataEntries) => Promise<Variables> {
  const { surroundings, call } = context;
  const given = (call.values.get('data') ?? []).map((path) => readGivenFile(path, surroundings));
  const entries = parseSettings(call.values.get('set') ?? []);
  for (const { name, value } of entries) {
    if (isSensitiveName(name) && typeof value === 'string' && value !== '' && !hasReference(value)) {
      warn(context, `--set ${name}: arguments are public to every process of this machine; use \${env:…} or --data`);
    }
  }
  const files = findDataFiles(surroundings);
  const settings = { entries, source: { label: '--set', directory: '', trust: 'given' } } as const;
  return (script) => loadVariables({ ...files, script, given, settings });
}

function parseSettings(settings: readonly string[]): Entry[] {
  const issues: string[] = [];
  const entries = settings.map((setting, index) => {
    const end = setting.indexOf('=');
    if (end < 1) issues.push(`the ${index + 1}. --set is not NAME=VALUE`);
    return { name: setting.slice(0, end), value: setting.slice(end + 1) };
  });
  if (issues.length > 0) throw usage(issues, 'write --set graph.scope=user.read');
  return entries;
}

/** A session as the command line asks for it. */
export function sessionOf(context: Context, emulator?: EmulatorEndpoint): Session {
  const { surroundings, call } = context;
  const store = call.values.get('store')?.[0];
  if (store !== undefined && !/^rediss?:\/\/./.test(store))
    throw usage(['--store is no address of a Redis'], 'write --store redis://host:6379, or rediss:// for TLS');
  if (store !== undefined && /^\w+:\/\/[^/]*:[^/]*@/.test(store))
    warn(context, '--store: arguments are public to every process of this machine; set OAUTH_PROFILE_STORE instead');
  const verbose = call.switches.has('verbose');
  return new Session(surroundings, {
    emulator,
    store,
    keepConnections: false,
    log: verbose ? (line) => logTo(context, line) : undefined,
    warn: (text) => warn(context, text),
  });
}

/** What a caller wants of a token, as the flags say. */
export function wishOf(context: Context, profile: Profile): Partial<Wish> {
  const { call } = context;
  const given = call.values.get('min-ttl')?.[0];
  const minTtlMs = given === undefined ? profile.options.minTtlMs : parseDuration(given);
  if (minTtlMs === undefined) throw usage(['--min-ttl is no time'], 'write a time such as 5m, 90s or 1h');
  const fresh = call.switches.has('force-refresh');
  // Who wants no token twice has none kept either.
  const keep = profile.options.reuse !== false;
  return {
    minTtlMs,
    anew: fresh || !keep,
    keep,
    forgetRefusal: fresh,
    // Not before it is asked for: a kept token is handed out in less time than handlers take to set up.
    get signal() {
      return context.signal;
    },
  };
}

/** A line for a person who asked to see more. */
export function logTo({ terminal }: Context, line: string): void {
  terminal.tell(`${terminal.style.err.dim(line)}\n`);
}
