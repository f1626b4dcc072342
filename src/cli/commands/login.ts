import { composeSignIn } from '../../compose.ts';
import { type BrowserPrompt, loginAuthorizationCode } from '../../flows/login/authorization-code.ts';
import { type DeviceCodePrompt, loginDeviceCode } from '../../flows/login/device-code.ts';
import { type LoginResult, login as signInAndKeep } from '../../flows/login/login.ts';
import { completeProfile } from '../../profile/complete-profile.ts';
import { type LoginProfile, toLoginProfile } from '../../profile/login-profile.ts';
import { parseProfile } from '../../profile/parse-profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/printable.ts';
import { type Context, sessionOf, variablesOf, warn } from '../context.ts';
import { emulationOf } from '../emulation.ts';
import { type ReadLine, terminalPrompt } from '../prompt.ts';
import { usage } from '../usage.ts';

/** `login <profile>`: a person signs in, and the refresh token is kept. */
export async function run(context: Context): Promise<number> {
  const { call, signal, surroundings } = context;
  const name = call.positionals[0] ?? '';
  const asked = methodFlags(context);
  const port = portOf(context);
  const variables = await variablesOf(context);
  const emulation = await emulationOf(context, variables);
  const session = sessionOf(context, emulation?.address);
  try {
    const { ports, outside } = session;
    const parsed = parseProfile(name, variables, outside);
    const login = again(toLoginProfile(parsed), context);
    const method = asked ?? defaultMethod(login);
    if (method === 'device' && (port !== undefined || call.switches.has('no-open')))
      throw usage(['--port and --no-open are for a sign-in with a browser'], 'add --browser, or leave them out');
    const person = terminalPrompt();
    const signInPorts = await composeSignIn(surroundings, emulation?.address);
    const wish = { port, open: !call.switches.has('no-open') };
    const kept = await signInAndKeep(
      {
        login,
        signIn: () =>
          method === 'device'
            ? loginDeviceCode(login, ports, devicePerson(context), signal)
            : loginAuthorizationCode(login, wish, ports, signInPorts, browserPerson(context, person), signal),
        readWith: (brought) => completeProfile(parsed, brought),
        mayReplace: (former, account) => mayReplace(context, name, person, former, account),
      },
      ports,
      await session.openStore(),
    );
    report(context, login, kept, (await session.openStore()).place);
    if (emulation !== undefined) warn(context, 'emulated: that is how it goes, but nothing is kept after this command');
    return 0;
  } finally {
    await session.close();
    await emulation?.close();
  }
}

/** Who rehearses a login wants to try the rehearsal again. */
function again(login: LoginProfile, { call }: Context): LoginProfile {
  const address = call.values.get('emulate')?.[0];
  if (address === undefined && !call.switches.has('emulate')) return login;
  return { ...login, command: `${login.command} --emulate${address === undefined ? '' : `=${address}`}` };
}

function methodFlags({ call }: Context): 'device' | 'browser' | undefined {
  const [method, second] = (['device', 'browser'] as const).filter((flag) => call.switches.has(flag));
  if (second !== undefined) throw usage(['--device and --browser exclude each other'], 'choose one');
  return method;
}

function defaultMethod({ name, endpoints, provider }: LoginProfile): 'device' | 'browser' {
  if (endpoints.authorizationUrl === undefined && endpoints.device.length === 0) {
    throw usage(
      [`nobody can sign in for ${escapeControls(name)}: type ${provider.type} has no address for that`],
      `set ${escapeControls(name)}.options.authorization_url or ${escapeControls(name)}.options.device_authorization_url`,
    );
  }
  return endpoints.preferredFlow;
}

function portOf({ call }: Context): number | undefined {
  const given = call.values.get('port')?.[0];
  if (given === undefined) return undefined;
  if (!/^\d{1,5}$/.test(given) || Number(given) < 1 || Number(given) > 65_535)
    throw usage(['--port is no port'], 'write a number from 1 to 65535');
  return Number(given);
}

function devicePerson(context: Context): DeviceCodePrompt {
  const { terminal } = context;
  const { bold, cyan, dim } = terminal.style.err;
  return {
    showCode({ userCode, verificationUri, verificationUriComplete }, leftMs) {
      const complete =
        verificationUriComplete === undefined
          ? ''
          : `\n  or open ${cyan(verificationUriComplete)}, which has the code in it`;
      terminal.tell(`To sign in, open ${cyan(verificationUri)}
  and enter the code ${bold(userCode)}${complete}
${terminal.isLive ? '' : `waiting for that, ${durationText(leftMs)} at most\n`}`);
      terminal.flush();
    },
    showWaiting(leftMs) {
      if (!terminal.isLive) return;
      terminal.tell(`\r\u001b[K${dim(`waiting for that, ${durationText(leftMs)} left`)}`);
      terminal.flush();
    },
  };
}

function browserPerson(context: Context, readLine: ReadLine | undefined): BrowserPrompt {
  const { terminal } = context;
  const { cyan } = terminal.style.err;
  return {
    readLine,
    showAddress(address, problem, leftMs) {
      const how =
        problem === undefined
          ? `Sign in with the browser that opens now; if none does, open\n  ${cyan(address)}\n`
          : `To sign in, open this address in a browser (${problem}):\n  ${cyan(address)}\n`;
      const paste =
        problem === undefined || readLine === undefined
          ? ''
          : 'If that browser is on another machine, it ends at a page that cannot be reached: paste its address here.\n';
      const wait = terminal.isLive ? '' : `waiting for that, ${durationText(leftMs)} at most\n`;
      terminal.tell(how + paste + wait);
      terminal.flush();
    },
    showMistake(text) {
      terminal.tell(`${text}; paste the whole address\n`);
      terminal.flush();
    },
  };
}

/** Whoever runs this in a script cannot be asked, and must say so beforehand. */
async function mayReplace(
  { call, terminal, signal }: Context,
  name: string,
  readLine: ReadLine | undefined,
  former: string,
  account: string,
): Promise<boolean> {
  if (call.switches.has('force')) return true;
  if (readLine === undefined) return false;
  terminal.tell(`${escapeControls(name)} is signed in as ${former}. Sign in as ${account} instead? [y/N] `);
  terminal.flush();
  return /^y(?:es)?$/i.test((await readLine(signal)).trim());
}

function report(context: Context, login: LoginProfile, kept: LoginResult, place: string): void {
  const { terminal, call } = context;
  const { account, scope, expiresAt, replaced } = kept;
  if (terminal.isLive) terminal.tell('\r\u001b[K');
  if (call.switches.has('json')) {
    const expiry = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
    const told = { profile: login.name, account, scope, expiresAt: expiry, store: place, replaced };
    terminal.print(`${escapeControlsInJson(told, 2)}\n`);
  } else {
    const who = account === undefined ? '' : ` as ${account}`;
    const { green } = terminal.style.out;
    terminal.print(
      `${green('signed in')}: ${escapeControls(login.name)}${who}; the refresh token is kept in ${escapeControls(place)}\n`,
    );
  }
  if (login.configuredRefreshToken !== undefined)
    warn(
      context,
      `${escapeControls(login.name)}.refresh_token (${login.configuredRefreshToken.source}) is not used any more: remove it`,
    );
}

function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
