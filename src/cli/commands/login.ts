import { type BrowserPrompt, loginWithAuthorizationCode } from '../../flows/login/authorization-code.ts';
import { type DeviceCodePrompt, loginWithDeviceCode } from '../../flows/login/device-code.ts';
import { type LoginResult, login } from '../../flows/login/login.ts';
import { type LoginProfile, toLoginProfile } from '../../profile/login-profile.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { usageError } from '../args.ts';
import { assertExclusive, type Context, formatTime, portFlag, warn } from '../context.ts';
import { findLineReader, type ReadLine } from '../read-line.ts';
import type { Terminal } from '../terminal.ts';
import { withClient } from '../with-client.ts';

/** `login <profile>`: logs the user in and stores the refresh token. */
export function runLogin(context: Context): Promise<number> {
  const { args, signal } = context;
  const name = args.positionals[0] ?? '';
  assertExclusive(context, 'device', 'browser');
  const port = portFlag(context, 1);
  return withClient(context, async ({ client, variables, emulation }) => {
    const { ports } = client;
    const parsed = await client.parseProfile(name, variables, 'cached', signal);
    if (parsed.disclosure !== undefined) warn(context, parsed.disclosure);
    const profile = withEmulateFlag(toLoginProfile(parsed), context);
    const method = chooseMethod(profile, context);
    if (method === 'device' && (port !== undefined || args.switches.has('no-open')))
      throw usageError('--port and --no-open apply to a browser login', 'add --browser, or omit them');
    const readLine = findLineReader();
    const loginPorts = await client.loginPorts();
    const options = { port, open: !args.switches.has('no-open') };
    const store = await client.openStore();
    const result = await login(
      {
        parsed,
        login: profile,
        authenticate: (request) =>
          method === 'device'
            ? loginWithDeviceCode(request, ports, deviceCodePrompt(context), signal)
            : loginWithAuthorizationCode(request, options, ports, loginPorts, browserPrompt(context, readLine), signal),
        mayReplace: confirmReplacement(context, name, readLine),
      },
      ports,
      store,
    );
    printResult(context, profile, result, store.location);
    if (emulation !== undefined) warn(context, 'emulated login: nothing was stored');
    return 0;
  });
}

/** The command that hints name must repeat `--emulate`. */
function withEmulateFlag(profile: LoginProfile, { args }: Context): LoginProfile {
  const url = args.values.get('emulate')?.[0];
  if (url === undefined && !args.switches.has('emulate')) return profile;
  return { ...profile, command: `${profile.command} --emulate${url === undefined ? '' : `=${url}`}` };
}

function chooseMethod({ name, endpoints, provider }: LoginProfile, { args }: Context): 'device' | 'browser' {
  if (args.switches.has('device')) return 'device';
  if (args.switches.has('browser')) return 'browser';
  if (endpoints.authorizationUrl === undefined && endpoints.device.length === 0) {
    const profile = escapeControls(name);
    throw usageError(
      `${profile} has no authorization endpoint (type ${provider.type})`,
      `set ${profile}.options.authorization_url or ${profile}.options.device_authorization_url`,
    );
  }
  return endpoints.preferredFlow;
}

function deviceCodePrompt({ terminal }: Context): DeviceCodePrompt {
  const { bold, cyan, dim } = terminal.style.err;
  return {
    showCode({ userCode, verificationUri, verificationUriComplete: complete }, leftMs) {
      terminal.prompt(`To log in, open ${cyan(verificationUri)}
  and enter the code ${bold(userCode)}
${complete === undefined ? '' : `  or open ${cyan(complete)}, which includes the code\n`}${waiting(terminal, leftMs)}`);
    },
    showWaiting(leftMs) {
      if (terminal.isInteractive)
        terminal.prompt(`\r\u001b[K${dim(`${WAITING} (expires in ${formatDuration(leftMs)})…`)}`);
    },
  };
}

function browserPrompt(context: Context, readLine: ReadLine | undefined): BrowserPrompt {
  const { terminal } = context;
  const { cyan } = terminal.style.err;
  return {
    readLine,
    showUrl(url, problem, leftMs) {
      const instruction =
        problem === undefined
          ? 'Log in with the browser that opens now. If none opens, open this URL:'
          : `To log in, open this URL in a browser (${problem}):`;
      const paste =
        problem === undefined || readLine === undefined
          ? ''
          : 'If the browser is on another machine, it ends on a page that cannot be loaded: paste the URL of that page here.\n';
      terminal.prompt(`${instruction}\n  ${cyan(url)}\n${paste}${waiting(terminal, leftMs)}`);
    },
    showMistake: (message) => terminal.prompt(`${message}; paste the whole URL\n`),
    showWarning(message) {
      warn(context, message);
      terminal.flush();
    },
  };
}

const WAITING = 'Waiting for authorization';

/** The line that stands for the countdown where it cannot be shown. */
function waiting({ isInteractive }: Terminal, leftMs: number): string {
  return isInteractive ? '' : `${WAITING} (expires in ${formatDuration(leftMs)})\n`;
}

/** Without a terminal, only `--force` replaces the login of another account. */
function confirmReplacement({ args, terminal, signal }: Context, name: string, readLine: ReadLine | undefined) {
  return async (former: string, account: string): Promise<boolean> => {
    if (args.switches.has('force')) return true;
    if (readLine === undefined) return false;
    terminal.prompt(`${escapeControls(name)} is logged in as ${former}. Log in as ${account} instead? [y/N] `);
    return /^y(?:es)?$/i.test((await readLine(signal)).trim());
  };
}

function printResult(context: Context, profile: LoginProfile, result: LoginResult, location: string): void {
  const { terminal, args } = context;
  const { account, scope, expiresAt, replaced, refreshHint } = result;
  const refreshable = refreshHint === undefined;
  const expiry = formatTime(expiresAt);
  const name = escapeControls(profile.name);
  if (terminal.isInteractive) terminal.stderr('\r\u001b[K');
  if (args.switches.has('json')) {
    terminal.stdoutJson({
      profile: profile.name,
      account,
      scope,
      expiresAt: expiry,
      refreshable,
      store: location,
      replaced,
    });
  } else {
    const user = account === undefined ? '' : ` as ${account}`;
    const { green } = terminal.style.out;
    const stored = `the ${refreshable ? 'refresh' : 'access'} token is stored in ${escapeControls(location)}`;
    terminal.stdout(`${green('logged in')}: ${name}${user}; ${stored}\n`);
  }
  if (!refreshable) {
    const end = expiry === undefined ? 'has no known expiry' : `expires at ${expiry}`;
    warn(
      context,
      `the access token ${end}, and the provider returned no refresh token; ${escapeControls(refreshHint)}`,
    );
  }
  if (profile.configuredRefreshToken !== undefined) {
    const { source } = profile.configuredRefreshToken;
    warn(context, `${name}.refresh_token (${source}) is no longer used: remove it`);
  }
}

function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
