import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../../client.ts';
import type { ServedRequest } from '../../../emulator/control/request-log.ts';
import type { Emulator } from '../../../emulator/start-emulator.ts';
import { escapeControls } from '../../../redaction/sanitize.ts';
import { registerEmulator } from '../../../store/emulator-registry.ts';
import { type Context, portFlag, warn } from '../../context.ts';
import { emulatedProfiles, startEmulator } from '../../emulation.ts';
import { runChild, runtimeDirectory } from '../../run-child.ts';
import { alignColumns, type Style } from '../../style.ts';
import { clientOptions, variableSources } from '../../with-client.ts';

/** `emulate`: serves the providers on loopback until Ctrl-C and prints each request, or runs a command meanwhile. */
export async function runEmulate(context: Context): Promise<number> {
  const { args, terminal, environment, signal } = context;
  const [command, ...commandArgs] = args.positionals;
  const port = portFlag(context, 0);
  const { loadVariables, sources } = createClient(clientOptions(context));
  const variables = await loadVariables(variableSources(context));
  terminal.useStreams();
  const style = terminal.style.out;
  const json = args.switches.has('json');
  // The output of a command stays its own.
  const isQuiet = args.switches.has('quiet') || command !== undefined;
  const emulator = await startEmulator(context, sources, [variables], {
    port,
    ...(args.switches.has('no-control') && { control: false }),
    onRequest: (request) => {
      if (json && command === undefined) terminal.stdoutJson(request, 0);
      else if (!isQuiet) terminal.stdout(formatRequest(request, style));
    },
  });
  const unregister = await registerEmulator(emulator, environment.env).catch((error: Error) => {
    warn(context, `--emulate=${emulator.url} cannot verify this emulator: ${error.message}`);
  });
  try {
    const names = Object.keys(await emulatedProfiles(sources, variables));
    const invalid = variables.profileNames().filter((name) => !names.includes(name));
    if (invalid.length > 0)
      warn(context, `these profiles are invalid and not emulated: ${invalid.join(', ')}; run oauth-profile check`);
    if (command !== undefined) return await runEmulated(context, emulator, command, commandArgs);
    if (json) terminal.stdoutJson({ url: emulator.url, profiles: names }, 0);
    else {
      terminal.stdout(`${style.bold('emulator')} running at ${style.cyan(emulator.url)}; press Ctrl-C to stop
  profiles  ${names.length === 0 ? 'none: create oauth-profiles.yaml, or pass --data' : escapeControls(names.join(', '))}
  use it    oauth-profile token ${names[0] === undefined ? '<profile>' : escapeControls(names[0])} --emulate=${emulator.url}
  URLs      ${emulator.url}/<host>/<path> instead of https://<host>/<path>
${args.switches.has('no-control') ? '' : `  console   ${emulator.url}/\n`}`);
    }
    if (!signal.aborted) await once(signal, 'abort');
    return 0;
  } finally {
    unregister?.();
    await emulator.close();
  }
}

/** Runs a command that finds the emulator in its environment. Returns its exit status. */
async function runEmulated(
  { environment: { env } }: Context,
  { url, ca, issuers }: Emulator,
  command: string,
  args: readonly string[],
): Promise<number> {
  const directory = mkdtempSync(join(runtimeDirectory(env), 'oauth-profile-'));
  try {
    const file = join(directory, 'ca.pem');
    writeFileSync(file, ca, { mode: 0o600 });
    const variables = Object.entries(issuers).map(([profile, issuer]) => [
      `OAUTH_PROFILE_ISSUER_${profile.replace(/\W/g, '_').toUpperCase()}`,
      issuer,
    ]);
    return await runChild(command, args, {
      ...env,
      ...Object.fromEntries(variables),
      OAUTH_PROFILE_EMULATOR: url,
      OAUTH_PROFILE_EMULATOR_CA: file,
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const MAX_ROWS = 100;
/** Wider cells are not aligned. */
const MAX_WIDTH = 40;

function formatRequest(request: ServedRequest, style: Style): string {
  const { method, host, path, authorization, form, status, fault, response } = request;
  const rows = [...(authorization === undefined ? [] : [['Authorization', `${authorization} ••••`] as const]), ...form];
  const shown = rows.slice(0, MAX_ROWS).map((row) => row.map((cell) => escapeControls(cell)));
  const lines = alignColumns(shown, [style.cyan], MAX_WIDTH);
  if (rows.length > MAX_ROWS) lines.push(`… and ${rows.length - MAX_ROWS} more`);
  const members = Object.entries(response ?? {}).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const colour = status === undefined || status >= 400 ? style.red : style.green;
  const outcome = colour(`→ ${status ?? 'no response'}`);
  const cause = fault === undefined ? '' : ` (fault ${fault})`;
  const head = style.bold(`${method} ${escapeControls(host + path)}`);
  return `\n${head}\n${lines.map((line) => `  ${line}\n`).join('')}  ${outcome}${cause}  ${style.dim(escapeControls(members.join(', ')))}\n`;
}
