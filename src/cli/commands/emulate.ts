import { once } from 'node:events';
import { createClient } from '../../client.ts';
import type { ServedRequest } from '../../emulator/control/request-log.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { type Context, portFlag, warn } from '../context.ts';
import { emulatedProfiles, registerEmulator, startEmulator } from '../emulation.ts';
import { alignColumns, type Style } from '../style.ts';
import { clientOptions, variableSources } from '../with-client.ts';

/** `emulate`: serves the providers on loopback until Ctrl-C and prints each request. */
export async function runEmulate(context: Context): Promise<number> {
  const { args, terminal, environment, signal } = context;
  const port = portFlag(context, 0) ?? 0;
  const { loadVariables, sources } = createClient(clientOptions(context));
  const variables = await loadVariables(variableSources(context));
  terminal.useStreams();
  const style = terminal.style.out;
  const json = args.switches.has('json');
  const emulator = await startEmulator(context, sources, [variables], port, (request) => {
    if (json) terminal.stdoutJson(request, 0);
    else if (!args.switches.has('quiet')) terminal.stdout(formatRequest(request, style));
  });
  const unregister = await registerEmulator(emulator, environment.env).catch((error: Error) => {
    warn(context, `--emulate=${emulator.url} cannot verify this emulator: ${error.message}`);
  });
  const names = Object.keys(emulatedProfiles(sources, variables));
  const invalid = variables.profileNames().filter((name) => !names.includes(name));
  if (invalid.length > 0)
    warn(context, `these profiles are invalid and not emulated: ${invalid.join(', ')}; run oauth-profile check`);
  if (json) terminal.stdoutJson({ url: emulator.url, profiles: names }, 0);
  else {
    terminal.stdout(`${style.bold('emulator')} running at ${style.cyan(emulator.url)}; press Ctrl-C to stop
  profiles  ${names.length === 0 ? 'none: create oauth-profiles.yaml, or pass --data' : escapeControls(names.join(', '))}
  use it    oauth-profile token ${names[0] === undefined ? '<profile>' : escapeControls(names[0])} --emulate=${emulator.url}
  URLs      ${emulator.url}/<host>/<path> instead of https://<host>/<path>
`);
  }
  if (!signal.aborted) await once(signal, 'abort');
  unregister?.();
  await emulator.close();
  return 0;
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
