import { type BrowserPrompt, loginWithAuthorizationCode } from '../../flows/login/authorization-code.ts';
import { type DeviceCodePrompt, loginWithDeviceCode } from '../../flows/login/device-code.ts';
import { type LoginResult, login } from '../../flows/login/login.ts';
import { type LoginProfile, toLoginProfile } from '../../profile/login-profile.ts';
import { parseProfile } from '../../profile/parse-profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import { usageError } from '../args.ts';
import { flagValue, hasFlag } from '../command.ts';
import { assertExclusive, type Context, portFlag, warn } from '../context.ts';
import { type ReadLine, terminalPrompt } from '../prompt.ts';
import { withClient } from '../with-client.ts';

/** `login <profile>`: logs the user in and stores the refresh token. */
export function runLogin(context: Context): Promise<number> {
  const { args, signal } = context;
  const name = args.positionals[0] ?? '';
  assertExclusive(context, 'device', 'browser');
  const port = portFlag(context, 1);
  return withClient(context, async ({ client, variables, emulation }) => {
    const { ports } = client;
    const parsed = parseProfile(name, variables, client.sources);
    const profile = withEmulateFlag(toLoginProfile(parsed), context);
    const method = chooseMethod(profile, context);
    if (method === 'device' && (port !== undefined || hasFlag(args, 'no-open')))
      throw usageError('--port and --no-open apply to a browser login', 'add --browser, or omit them');
    const readLine = terminalPrompt();
    const loginPorts = await client.loginPorts();
    const options = { port, open: !hasFlag(args, 'no-open') };
    const store = await client.openStore();
    const result = await login(
      {
        parsed,
        login: profile,
        authenticate: () =>
          method === 'device'
            ? loginWithDeviceCode(profile, ports, deviceCodePrompt(context), signal)
            : loginWithAuthorizationCode(profile, options, ports, loginPorts, browserPrompt(context, readLine), signal),
        mayReplace: (former, account) => confirmReplacement(context, name, readLine, former, account),
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
  const url = flagValue(args, 'emulate');
  if (url === undefined && !hasFlag(args, 'emulate')) return profile;
  return { ...profile, command: `${profile.command} --emulate${url === undefined ? '' : `=${url}`}` };
}

function chooseMethod({ name, endpoints, provider }: LoginProfile, { args }: Context): 'device' | 'browser' {
  if (hasFlag(args, 'device')) return 'device';
  if (hasFlag(args, 'browser')) return 'browser';
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
    showCode({ userCode, verificationUri, verificationUriComplete }, leftMs) {
      const complete =
        verificationUriComplete === undefined
          ? ''
          : `\n  or open ${cyan(verificationUriComplete)}, which includes the code`;
      terminal.stderr(`To log in, open ${cyan(verificationUri)}
  and enter the code ${bold(userCode)}${complete}
${terminal.isInteractive ? '' : `Waiting for authorization (expires in ${formatDuration(leftMs)})\n`}`);
      terminal.flush();
    },
    showWaiting(leftMs) {
      if (!terminal.isInteractive) return;
      terminal.stderr(`\r\u001b[K${dim(`Waiting for authorization (expires in ${formatDuration(leftMs)})…`)}`);
      terminal.flush();
    },
  };
}

function browserPrompt({ terminal }: Context, readLine: ReadLine | undefined): BrowserPrompt {
  const { cyan } = terminal.style.err;
  return {
    readLine,
    showUrl(url, problem, leftMs) {
      const instruction =
        problem === undefined
          ? `Log in with the browser that opens now. If none opens, open this URL:\n  ${cyan(url)}\n`
          : `To log in, open this URL in a browser (${problem}):\n  ${cyan(url)}\n`;
      const paste =
        problem === undefined || readLine === undefined
          ? ''
          : 'If the browser is on another machine, it ends on a page that cannot be loaded: paste the URL of that page here.\n';
      const wait = terminal.isInteractive ? '' : `Waiting for authorization (expires in ${formatDuration(leftMs)})\n`;
      terminal.stderr(instruction + paste + wait);
      terminal.flush();
    },
    showMistake(message) {
      terminal.stderr(`${message}; paste the whole URL\n`);
      terminal.flush();
    },
  };
}

/** Without a terminal, only `--force` replaces the login of another account. */
async function confirmReplacement(
  { args, terminal, signal }: Context,
  name: string,
  readLine: ReadLine | undefined,
  former: string,
  account: string,
): Promise<boolean> {
  if (hasFlag(args, 'force')) return true;
  if (readLine === undefined) return false;
  terminal.stderr(`${escapeControls(name)} is logged in as ${former}. Log in as ${account} instead? [y/N] `);
  terminal.flush();
  return /^y(?:es)?$/i.test((await readLine(signal)).trim());
}

function printResult(context: Context, profile: LoginProfile, result: LoginResult, location: string): void {
  const { terminal, args } = context;
  const { account, scope, expiresAt, replaced } = result;
  const name = escapeControls(profile.name);
  if (terminal.isInteractive) terminal.stderr('\r\u001b[K');
  if (hasFlag(args, 'json')) {
    const expiry = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
    const output = { profile: profile.name, account, scope, expiresAt: expiry, store: location, replaced };
    terminal.stdout(`${escapeControlsInJson(output, 2)}\n`);
  } else {
    const user = account === undefined ? '' : ` as ${account}`;
    const { green } = terminal.style.out;
    terminal.stdout(
      `${green('logged in')}: ${name}${user}; the refresh token is stored in ${escapeControls(location)}\n`,
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
