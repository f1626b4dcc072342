import { createClient } from '../../client.ts';
import type { ServedRequest } from '../../emulator/control/request-log.ts';
import { profileNames } from '../../profile/collect-fields.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { hasFlag } from '../command.ts';
import { type Context, portFlag, warn } from '../context.ts';
import { emulatedProfiles, startEmulator } from '../emulation.ts';
import type { Style } from '../style.ts';
import { clientOptions, variableSources } from '../with-client.ts';

/** `emulate`: serves the providers on loopback until Ctrl-C and prints each request. */
export async function runEmulate(context: Context): Promise<number> {
  const { args, terminal, signal } = context;
  const port = portFlag(context, 0) ?? 0;
  const { loadVariables, sources } = createClient(clientOptions(context));
  const variables = await loadVariables(variableSources(context));
  terminal.useStreams();
  const style = terminal.style.out;
  const json = hasFlag(args, 'json');
  const emulator = await startEmulator(context, sources, [variables], port, (request) => {
    if (json) terminal.stdout(`${escapeControlsInJson(request)}\n`);
    else if (!hasFlag(args, 'quiet')) terminal.stdout(formatRequest(request, style));
  });
  const names = Object.keys(emulatedProfiles(sources, variables));
  const invalid = profileNames(variables).filter((name) => !names.includes(name));
  if (invalid.length > 0)
    warn(
      context,
      `these profiles are invalid and not emulated: ${escapeControls(invalid.join(', '))}; run oauth-profile check`,
    );
  if (json) terminal.stdout(`${escapeControlsInJson({ url: emulator.url, profiles: names })}\n`);
  else {
    terminal.stdout(`${style.bold('emulator')} running at ${style.cyan(emulator.url)}; press Ctrl-C to stop
  profiles  ${names.length === 0 ? 'none: create oauth-profiles.yaml, or pass --data' : escapeControls(names.join(', '))}
  use it    oauth-profile token ${names[0] === undefined ? '<profile>' : escapeControls(names[0])} --emulate=${emulator.url}
  pages     ${emulator.url}/<real host>/…
`);
  }
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await emulator.close();
  return 0;
}

const MAX_ROWS = 100;
const MAX_NAME_WIDTH = 40;

function formatRequest(request: ServedRequest, style: Style): string {
  const { method, host, path, authorization, form, status, fault, response } = request;
  const rows = [...(authorization === undefined ? [] : [['Authorization', `${authorization} ••••`] as const]), ...form];
  const shown = rows.slice(0, MAX_ROWS);
  const width = Math.min(MAX_NAME_WIDTH, Math.max(0, ...shown.map(([name]) => name.length)));
  const parameters = shown
    .map(([name, value]) => `  ${style.cyan(escapeControls(name).padEnd(width))}  ${escapeControls(value)}\n`)
    .join('');
  const more = rows.length > shown.length ? `  … and ${rows.length - shown.length} more\n` : '';
  const members = Object.entries(response ?? {}).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const colour = status === undefined || status >= 400 ? style.red : style.green;
  const outcome = colour(`→ ${status ?? 'no response'}`);
  const cause = fault === undefined ? '' : ` (fault ${fault})`;
  const head = style.bold(`${method} ${escapeControls(host + path)}`);
  return `\n${head}\n${parameters}${more}  ${outcome}${cause}  ${style.dim(escapeControls(members.join(', ')))}\n`;
}
