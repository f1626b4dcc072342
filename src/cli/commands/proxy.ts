import { once } from 'node:events';
import type { ProxiedRequest } from '../../proxy/proxy-server.ts';
import { startProxy } from '../../proxy/start-proxy.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { assertExclusive, type Context, portFlag } from '../context.ts';
import type { Style } from '../style.ts';
import { withClient } from '../with-client.ts';
import { warnIfEmulated } from './token.ts';

/** `proxy <profile>`: adds the token to all requests for one API until Ctrl-C, and prints a line for each request. */
export async function runProxy(context: Context): Promise<number> {
  const { args, terminal, signal } = context;
  assertExclusive(context, 'port', 'socket');
  assertExclusive(context, 'caller-secret', 'socket');
  const port = portFlag(context, 0);
  const json = args.switches.has('json');
  const style = terminal.style.out;
  terminal.useStreams();
  return withClient(context, async (open) => {
    const proxy = await startProxy(open.client, open.variables, args.positionals, {
      port,
      socket: args.values.get('socket')?.[0],
      target: args.values.get('target')?.[0],
      callerSecret: args.switches.has('caller-secret'),
      allowedOrigins: args.values.get('allow-origin'),
      onRequest(request) {
        if (json) terminal.stdoutJson({ ...request, durationMs: Math.round(request.durationMs) }, 0);
        else if (!args.switches.has('quiet')) terminal.stdout(`${formatRequest(request, style)}\n`);
      },
    });
    try {
      const { url, target, callerSecret } = proxy;
      warnIfEmulated(context, open);
      if (json) terminal.stdoutJson({ url, target, callerSecret }, 0);
      else terminal.stdout(`${style.cyan(url)} → ${target}; press Ctrl-C to stop\n`);
      terminal.flush();
      if (!signal.aborted) await once(signal, 'abort');
      return 0;
    } finally {
      await proxy.close();
    }
  });
}

/** One line: method, host, path, status, size and time. */
export function formatRequest({ method, host, path, status, bytes, durationMs }: ProxiedRequest, style: Style): string {
  const colour = status === undefined || status >= 400 ? style.red : style.green;
  const outcome = colour(String(status ?? 'no response'));
  return `${method} ${escapeControls(host)}${escapeControls(path)} ${outcome} ${bytes} B ${Math.round(durationMs)} ms`;
}
