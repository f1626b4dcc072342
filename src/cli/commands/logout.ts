import { composeSignIn } from '../../compose.ts';
import { Resolver } from '../../config/resolver.ts';
import { locationOf, type Variables } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import { type FoundLogin, findLogins, forget, revocationEndpoint, revokeToken } from '../../flows/login/logout.ts';
import type { TokenStore } from '../../ports.ts';
import { collectFields } from '../../profile/collect-fields.ts';
import { parseLoginProfile } from '../../profile/login-profile.ts';
import { providerName } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
import type { Session } from '../../session.ts';
import { type Context, sessionOf, variablesOf, warn } from '../context.ts';
import { renderError } from '../render-error.ts';
import { usage } from '../usage.ts';

/** `logout <profile>` and `logout --all`: what a login left is forgotten, and with `--revoke` the provider is told. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  const [name] = call.positionals;
  const all = call.switches.has('all');
  if ((name === undefined) !== all) {
    throw usage(
      [all ? 'a profile and --all exclude each other' : 'a profile is missing'],
      'write oauth-profile logout <profile>, or oauth-profile logout --all',
    );
  }
  const json = call.switches.has('json');
  const variables = await variablesOf(context);
  const session = sessionOf(context);
  const forgotten: { profile: string; account: string | undefined; revoked: boolean }[] = [];
  let status = 0;
  try {
    const store = await session.openStore();
    const found = await findLogins(store, name);
    if (found.length === 0) tellNothing(context, name, variables, session);
    for (const login of found) {
      try {
        const revoked = call.switches.has('revoke') && (await revoke(context, login, variables, session, store));
        if (!revoked) await forget(login, store);
        forgotten.push({ profile: login.profile, account: login.account, revoked });
        if (!json) terminal.print(lineFor(login, revoked));
        tellOfPasted(context, login.profile, variables);
      } catch (error) {
        // The others are forgotten all the same.
        if (!(error instanceof OAuthProfileError) || found.length === 1) throw error;
        status ||= renderError(error, terminal, json, call.switches.has('verbose'), call);
      }
    }
    if (json) terminal.print(`${escapeControlsInJson({ forgotten }, 2)}\n`);
    return status;
  } finally {
    await session.close();
  }
}

/** Tells the provider and forgets; `false` where the provider has nowhere to be told. */
async function revoke(
  context: Context,
  found: FoundLogin,
  variables: Variables,
  session: Session,
  store: TokenStore,
): Promise<boolean> {
  const { signal, surroundings } = context;
  const { ports } = session;
  try {
    const login = parseLoginProfile(found.profile, variables, session.outside);
    const endpoint = await revocationEndpoint(login, ports, await composeSignIn(surroundings, undefined), signal);
    if (endpoint === undefined) {
      const who = providerName(login);
      warn(context, `${who} has no address where a refresh token is revoked: end it in the account's settings there`);
      return false;
    }
    await forget(found, store, (token, kept) => revokeToken(login, endpoint, token, kept, ports, store, signal));
    return true;
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || error.code === 'aborted') throw error;
    const name = escapeControls(found.profile);
    warn(context, `${name} is still signed in, so that you can try again; to forget it anyway, leave --revoke out`);
    throw error;
  }
}

function tellNothing(context: Context, name: string | undefined, variables: Variables, session: Session): void {
  // A name that stands nowhere is more likely misspelt.
  if (name !== undefined) collectFields(name, variables, new Resolver(variables, session.outside));
  const who = name === undefined ? 'nobody' : escapeControls(name);
  if (!context.call.switches.has('json'))
    context.terminal.print(`${who} is ${name === undefined ? '' : 'not '}signed in\n`);
  if (name !== undefined) tellOfPasted(context, name, variables);
}

/** What stands in a file is not ours to forget. */
function tellOfPasted(context: Context, profile: string, variables: Variables): void {
  const pasted = variables.get(`${profile}.refresh_token`);
  if (pasted !== undefined)
    warn(
      context,
      `${escapeControls(profile)}.refresh_token stands in ${locationOf(pasted)} and is used from now on: remove it`,
    );
}

function lineFor({ profile, account }: FoundLogin, revoked: boolean): string {
  const who = account === undefined ? '' : ` (${escapeControls(account)})`;
  return `signed out: ${escapeControls(profile)}${who}, ${revoked ? 'revoked and forgotten' : 'forgotten on this machine'}\n`;
}
