import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderError } from '../../src/cli/render-error.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { type FaultKind, faultKinds } from '../../src/emulator/fault.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { errorCodes, OAuthProfileError } from '../../src/errors.ts';
import { findLogins, forget, revocationEndpoint, revokeToken } from '../../src/flows/login/logout.ts';
import { oauthProfile } from '../../src/oauth-profile.ts';
import { Session } from '../../src/session.ts';
import { KeptOutput, runCommand } from '../../tools/run-command.js';
import { FakeClock } from '../support/fake-ports.ts';
import { leaksIn } from '../support/leaks.ts';
import { enterCodeByHand, signInByHand } from '../support/login-visits.ts';
import { LoginWorld, variablesWith } from '../support/login-world.ts';

type Fields = Readonly<Record<string, string>>;

/** A grant, and a profile that uses it. */
interface GrantCase {
  readonly title: string;
  readonly about: string;
  readonly fields: Fields;
  /** Faults that need a right answer to spoil, where the emulator has none. */
  readonly unmet?: readonly FaultKind[];
}

/** Made up. */
const secrets = ['made-up-client-secret', 'made-up-password', 'made-up-refresh-token', 'made-up-assertion'] as const;
const [clientSecret, password, refreshToken, assertion] = secrets;
const id = { url: 'https://id.example.com/oauth/token', client_id: 'tool', client_secret: clientSecret };
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const answered: readonly FaultKind[] = ['slow', 'reset-after', 'truncate', 'wrong-type'];

export const grantCases: readonly GrantCase[] = [
  {
    title: 'client_credentials',
    about: 'A custom server. Asking again harms nobody.',
    fields: { type: 'custom', ...id, grant_type: 'client_credentials' },
  },
  {
    title: 'password',
    about: 'GitLab. Asking again harms nobody, but wrong credentials are sent once.',
    fields: { type: 'gitlab', username: 'root', password },
  },
  {
    title: 'refresh_token that may be used again',
    about: 'Google, where a refresh token stays valid.',
    fields: { type: 'google', client_id: 'desk', client_secret: clientSecret, refresh_token: refreshToken },
  },
  {
    title: 'refresh_token that rotates',
    about:
      'A custom server that ends the whole login when a refresh token comes twice: what may have arrived is not sent again.',
    fields: { type: 'custom', ...id, grant_type: 'refresh_token', refresh_token: refreshToken },
  },
  {
    title: 'any other grant, such as jwt-bearer',
    about: 'Passed through. Nobody knows whether it may come twice, so that what may have arrived is not sent again.',
    fields: { type: 'custom', ...id, grant_type: JWT_BEARER, assertion },
    unmet: answered,
  },
];

const loginFields: Fields = {
  type: 'okta',
  tenant_id: 'acme',
  client_id: '0oa1',
  client_secret: clientSecret,
  scope: 'openid profile',
};

/** What came of a command. */
interface Seen {
  readonly exit: number;
  readonly code: string;
  /** Requests that came to the token endpoint. */
  readonly attempts: number;
  readonly told: string;
}

/** One line of a table. */
type Row = readonly string[];

const meetsPassword = (fields: Fields): boolean => fields['password'] !== undefined;

/** Whether a fault has something to do with a grant. */
function meets(fault: FaultKind, { fields, unmet }: Pick<GrantCase, 'fields' | 'unmet'>): boolean {
  return unmet?.includes(fault) !== true && (fault !== 'no-password' || meetsPassword(fields));
}

/** Runs something against an emulator with a fault, and counts the requests to its token endpoint. */
async function withEmulator(
  fields: Fields,
  fault: FaultKind,
  act: (emulator: Emulator) => Promise<Omit<Seen, 'attempts'>>,
  clock?: () => number,
): Promise<Seen> {
  let attempts = 0;
  const emulator = await startEmulator({
    profiles: { svc: fields },
    faults: [{ kind: fault }],
    clock,
    onRequest: (request) => {
      if (request.fault !== undefined) attempts++;
    },
  });
  try {
    const seen = await act(emulator);
    const leaks = leaksIn(JSON.stringify(seen), secrets);
    if (leaks.length > 0) throw new Error(`${fault}: a secret is shown: ${seen.told}`);
    return { ...seen, attempts };
  } finally {
    await emulator.close();
  }
}

/** The last thing that a person reads: the sentence and its hint, in one line. */
function lastWords(text: string): string {
  const at = text.lastIndexOf('oauth-profile: ');
  const words = text.slice(at < 0 ? 0 : at + 'oauth-profile: '.length).trim();
  // How long the last attempt had depends on chance, and how long is to be waited on the clock.
  return words.replace(/\s*\n\s*/g, ' ').replace(/\b(within|wait) [\d.]+ s/, '$1 … s');
}

/** A command of the command line, in this process. */
async function perform(args: readonly string[], folder: string): Promise<Omit<Seen, 'attempts'>> {
  const env = { HOME: folder, PATH: process.env['PATH'] };
  // Where a token was asked for, stdout has it.
  const { exit, told } = await runCommand(args, { cwd: folder, env });
  return { exit, code: '', told: told.includes('oauth-profile: ') ? lastWords(told) : '' };
}

async function askLibrary(fields: Fields, emulator: Emulator): Promise<Omit<Seen, 'attempts'>> {
  try {
    await oauthProfile('svc', { data: { svc: fields }, emulator });
    return { exit: 0, code: '', told: '' };
  } catch (error) {
    return seenError(error);
  }
}

function seenError(error: unknown): Omit<Seen, 'attempts'> {
  if (!(error instanceof OAuthProfileError)) throw error;
  let told = '';
  const err = new KeptOutput('stderr', (text) => {
    told += text;
  });
  const terminal = new Terminal(new KeptOutput('stdout', () => {}), err, {});
  const exit = renderError(error, terminal, false, false);
  terminal.flush();
  return { exit, code: error.code, told: lastWords(told) };
}

/** One fault, met by the library and the three commands that ask for a token. */
export async function grantRow(grant: GrantCase, fault: FaultKind): Promise<Row> {
  const { fields } = grant;
  if (!meets(fault, grant)) return [`\`${fault}\``, '–', '–', '–', '–', '–', '–'];
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-faults-'));
  try {
    writeFileSync(join(folder, 'oauth-profiles.yaml'), JSON.stringify({ svc: fields }));
    writeFileSync(join(folder, 'get.yaml'), 'steps:\n  - ws.oauthProfile: [token, svc]\n');
    const command = (name: string, first: string, ...rest: string[]): Promise<Seen> =>
      withEmulator(fields, fault, ({ url }) => perform([name, first, `--emulate=${url}`, ...rest], folder));
    const [called, shell, child, script] = await Promise.all([
      withEmulator(fields, fault, (emulator) => askLibrary(fields, emulator)),
      command('token', 'svc'),
      command('exec', 'svc', '--', 'true'),
      command('run', 'get.yaml'),
    ]);
    if (shell.told !== called.told) throw new Error(`${fault}: ${shell.told}\nbut the library: ${called.told}`);
    const attempts = new Set([called, shell, child, script].map((seen) => seen.attempts));
    return [
      `\`${fault}\``,
      called.code === '' ? 'a token' : `\`${called.code}\``,
      [...attempts].join(' or '),
      String(shell.exit),
      String(child.exit),
      String(script.exit),
      cell(shell.told),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What stands in a table. */
function cell(text: string): string {
  return text === '' ? '–' : text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** A person signs in while the token endpoint misbehaves; waiting takes no time, but a server that is silent does. */
async function signIn(how: 'device' | 'browser', fault: FaultKind): Promise<Seen> {
  const fields = fault === 'hang' ? { ...loginFields, 'options.timeout': '1s' } : loginFields;
  const clock = new FakeClock();
  const act = async (emulator: Emulator): Promise<Omit<Seen, 'attempts'>> => {
    const session = new Session({ env: {}, cwd: '/' }, { emulator });
    const world = new LoginWorld('svc', variablesWith('svc', fields), session, emulator);
    try {
      await (how === 'device' ? enterCode(world, clock) : comeBack(world));
      return { exit: 0, code: '', told: '' };
    } catch (error) {
      return seenError(error);
    } finally {
      await session.close();
    }
  };
  return withEmulator(fields, fault, act, how === 'device' ? clock.now : undefined);
}

async function enterCode(world: LoginWorld, clock: FakeClock): Promise<void> {
  let entered: Promise<unknown> | undefined;
  const person = {
    showCode({ userCode, verificationUri }: { userCode: string; verificationUri: string }) {
      entered = enterCodeByHand(verificationUri, userCode);
    },
    showWaiting: () => {},
  };
  clock.whileAsleep = () => entered;
  await world.loginWithDevice(person, { ports: { clock } });
}

async function comeBack(world: LoginWorld): Promise<void> {
  let visit: Promise<unknown> | undefined;
  const kept = world.loginWithBrowser((address) => {
    visit = signInByHand(address).then((back) => fetch(back));
  });
  await Promise.allSettled([kept]);
  await visit;
  await kept;
}

/** One fault, met by the two ways to sign in. */
export async function loginRow(fault: FaultKind): Promise<Row> {
  if (!meets(fault, { fields: loginFields })) return [`\`${fault}\``, '–', '–', '–', '–', '–', '–', '–', '–'];
  const seen = await Promise.all([signIn('device', fault), signIn('browser', fault)]);
  return [
    `\`${fault}\``,
    ...seen.flatMap(({ code, attempts, exit, told }) => [
      code === '' ? 'signed in' : `\`${code}\``,
      String(attempts),
      String(exit),
      cell(told),
    ]),
  ];
}

/** The two commands that ask the provider, but not for a token. */
export async function otherRow(fault: FaultKind): Promise<Row> {
  const grant = grantCases[0] as GrantCase;
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-faults-'));
  try {
    writeFileSync(join(folder, 'oauth-profiles.yaml'), JSON.stringify({ svc: grant.fields }));
    const looked = await withEmulator(grant.fields, fault, ({ url }) =>
      perform(['check', 'svc', '--online', `--emulate=${url}`], folder),
    );
    const left = await signOut(fault);
    return [`\`${fault}\``, ...[looked, left].flatMap(({ exit, attempts }) => [String(exit), String(attempts)])];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A login whose first token request goes well is revoked; a second request to the token endpoint would meet the fault. */
async function signOut(fault: FaultKind): Promise<Seen> {
  let attempts = 0;
  const emulator = await startEmulator({
    profiles: { svc: loginFields },
    faults: [2, 3, 4].map((at) => ({ kind: fault, at })),
    onRequest: (request) => {
      if (request.fault !== undefined) attempts++;
    },
  });
  const session = new Session({ env: {}, cwd: '/' }, { emulator });
  const world = new LoginWorld('svc', variablesWith('svc', loginFields), session, emulator);
  try {
    await comeBack(world);
    const store = await session.openStore();
    const endpoint = await revocationEndpoint(world.profile, session.ports, await world.signInPorts(), undefined);
    if (endpoint === undefined) throw new Error('there is nowhere to revoke');
    for (const found of await findLogins(store, 'svc')) {
      await forget(found, store, (secret, kept) =>
        revokeToken(world.profile, endpoint, secret, kept, session.ports, store, undefined),
      );
    }
    return { exit: 0, code: '', told: '', attempts };
  } catch (error) {
    return { ...seenError(error), attempts };
  } finally {
    await world.close();
  }
}

export function rowText(row: Row): string {
  return `| ${row.join(' | ')} |`;
}

const grantHead = ['fault', 'code', 'attempts', '`token`', '`exec`', '`run`', 'what the person reads'];
const loginHead = [
  ...['fault', 'device code', 'polls', 'exit', 'what the person reads'],
  ...['browser', 'attempts', 'exit', 'what the person reads'],
];
const otherHead = ['fault', '`check --online`', 'attempts', '`logout --revoke`', 'attempts'];

function table(head: Row, rows: readonly Row[]): string {
  return [rowText(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(rowText)].join('\n');
}

/** The page; `tell` hears how far it is. @public */
export async function faultPage(tell: (line: string) => void): Promise<string> {
  const grants: string[] = [];
  for (const grant of grantCases) {
    tell(grant.title);
    // Side by side: a server that is silent takes half a minute.
    const rows = await Promise.all(faultKinds.map((fault) => grantRow(grant, fault)));
    grants.push(`## ${grant.title}\n\n${grant.about}\n\n${table(grantHead, rows)}`);
  }
  tell('login');
  const logins: Row[] = [];
  for (const fault of faultKinds) logins.push(await loginRow(fault));
  tell('check --online, logout --revoke');
  const others: Row[] = [];
  for (const fault of faultKinds) others.push(await otherRow(fault));
  const exits = Object.entries(errorCodes).filter(([code]) =>
    grants.concat(logins.map(rowText)).join().includes(`\`${code}\``),
  );
  return pageText(grants, table(loginHead, logins), table(otherHead, others), exits);
}

function pageText(grants: readonly string[], logins: string, others: string, exits: [string, number][]): string {
  return `# When the provider misbehaves

Every fault that the [emulator](emulator.md#misbehave) can be asked for, met by every grant and by every command that asks a provider. Each line was run:
\`node tools/make-fault-matrix.js\` makes this page, and the tests hold it against the program.

- **code** is what a program gets from the library (\`error.code\`) and from \`--json\`: ${exits.map(([code, exit]) => `\`${code}\` (exit ${exit})`).join(', ')}. See [errors](errors.md).
- **attempts** is how many requests came to the token endpoint. Up to three are made, and only where a repeat is harmless.
- **\`token\`**, **\`exec\`** and **\`run\`** are their exit statuses. \`exec\` ends with 125 where it fails before its command starts; \`run\` with 1 where a step
  fails, whatever the cause.
- **–** stands where the two do not meet: \`no-password\` is about the password grant alone, and the emulator gives no token for
  jwt-bearer, so that there is no right answer to delay, cut or mislabel.

The fault strikes every request. With \`:1\` behind it, it strikes the first alone; where another attempt is made, that one gets the token.

${grants.join('\n\n')}

## login

A person signs in at Okta, with a code on another device or with a browser on this one, and then the token endpoint misbehaves. A device code is polled for as
long as it lives, since the person may have entered it already; an authorization code serves once and is sent once. For \`hang\` the profile says
\`options.timeout: 1s\`.

${logins}

## check --online and logout --revoke

They ask other addresses of the provider, for its metadata and to revoke a token: the token endpoint is not asked, and its faults do not show.

${others}
`;
}
