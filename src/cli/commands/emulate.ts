import type { ServedRequest } from '../../emulator/start-emulator.ts';
import { profileNames } from '../../profile/collect-fields.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { type Context, variablesOf, warn } from '../context.ts';
import { profilesOf, start } from '../emulation.ts';
import type { Style } from '../style.ts';
import { usage } from '../usage.ts';

/** `emulate`: the providers on loopback until Ctrl-C, each request shown as it comes. */
export async function run(context: Context): Promise<number> {
  const { call, terminal, signal } = context;
  const given = call.values.get('port')?.[0] ?? '0';
  if (!/^\d{1,5}$/.test(given) || Number(given) > 65_535)
    throw usage(['--port is no port'], 'write a number up to 65535');
  const variables = await variablesOf(context);
  terminal.waitForNobody();
  const style = terminal.style.out;
  const json = call.switches.has('json');
  const quiet = call.switches.has('quiet');
  const emulator = await start(context, [variables], Number(given), (request) => {
    if (json) terminal.print(`${escapeControlsInJson(request)}\n`);
    else if (!quiet) terminal.print(requestText(request, style));
  });
  const names = Object.keys(profilesOf(context, variables));
  const unknown = profileNames(variables).filter((name) => !names.includes(name));
  if (unknown.length > 0)
    warn(context, `not emulated, because of faults: ${escapeControls(unknown.join(', '))}; see oauth-profile check`);
  if (json) terminal.print(`${escapeControlsInJson({ url: emulator.url, profiles: names })}\n`);
  else {
    terminal.print(`${style.bold('emulator')} on ${style.cyan(emulator.url)}, until Ctrl-C
  knows    ${names.length === 0 ? 'no profile: write oauth-profiles.yaml, or give --data' : escapeControls(names.join(', '))}
  join     oauth-profile token ${names[0] === undefined ? '<profile>' : escapeControls(names[0])} --emulate=${emulator.url}
  browse   ${emulator.url}/<real host>/…
`);
  }
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await emulator.close();
  return 0;
}

/** Beside one long name each of thousands of short ones would become as long. */
const MAX_ROWS = 100;
const MAX_WIDTH = 40;

function requestText(
  { method, host, path, authorization, form, status, fault, response }: ServedRequest,
  style: Style,
): string {
  const rows = [...(authorization === undefined ? [] : [['Authorization', `${authorization} ••••`] as const]), ...form];
  const shown = rows.slice(0, MAX_ROWS);
  const width = Math.min(MAX_WIDTH, Math.max(0, ...shown.map(([name]) => name.length)));
  const sent = shown
    .map(([name, value]) => `  ${style.cyan(escapeControls(name).padEnd(width))}  ${escapeControls(value)}\n`)
    .join('');
  const more = rows.length > shown.length ? `  … and ${rows.length - shown.length} more\n` : '';
  const members = Object.entries(response ?? {}).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const colour = status === undefined || status >= 400 ? style.red : style.green;
  const outcome = status === undefined ? 'no answer' : String(status);
  const why = fault === undefined ? '' : ` (fault ${fault})`;
  return `\n${style.bold(`${method} ${escapeControls(host + path)}`)}\n${sent}${more}  ${colour(`→ ${outcome}`)}${why}  ${style.dim(escapeControls(members.join(', ')))}\n`;
}
