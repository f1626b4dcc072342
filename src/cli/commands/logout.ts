import type { Client } from '../../client.ts';
import { locationOf, type Variables } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import { deleteLogin, type FoundLogin, findLogins, revokeToken } from '../../flows/login/logout.ts';
import { toLoginProfile } from '../../profile/login-profile.ts';
import { parseProfile } from '../../profile/parse-profile.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { type Context, profileOrAll, warn } from '../context.ts';
import { renderError } from '../render-error.ts';
import { withClient } from '../with-client.ts';

/** `logout <profile>` and `logout --all`: deletes stored logins; `--revoke` also revokes them at the provider. */
export function runLogout(context: Context): Promise<number> {
  const { args, terminal } = context;
  const name = profileOrAll(context);
  const json = args.switches.has('json');
  return withClient(context, async ({ client, variables }) => {
    const deleted: { profile: string; account: string | undefined; revoked: boolean }[] = [];
    let status = 0;
    const store = await client.openStore();
    const logins = await findLogins(store, name);
    if (logins.length === 0) printNotLoggedIn(context, name, variables, client);
    for (const login of logins) {
      try {
        const revoked = args.switches.has('revoke');
        await (revoked ? revokeAndDelete(context, login, variables, client) : deleteLogin(login, store));
        deleted.push({ profile: login.profile, account: login.account, revoked });
        if (!json) terminal.stdout(formatLogout(login, revoked));
        warnOfConfiguredToken(context, login.profile, variables);
      } catch (error) {
        // Go on with the other logins.
        if (!(error instanceof OAuthProfileError) || logins.length === 1) throw error;
        status ||= renderError(error, context);
      }
    }
    if (json) terminal.stdoutJson({ deleted });
    return status;
  });
}

async function revokeAndDelete(context: Context, found: FoundLogin, variables: Variables, client: Client) {
  try {
    const login = toLoginProfile(await client.parseProfile(found.profile, variables, 'cached', context.signal));
    const store = await client.openStore();
    await deleteLogin(found, store, (family) => revokeToken(login, family, client, store, context.signal));
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || error.code === 'aborted') throw error;
    const hint = 'so that you can try again; to delete the login anyway, omit --revoke';
    warn(context, `${found.profile} is still logged in, ${hint}`);
    throw error;
  }
}

function printNotLoggedIn(context: Context, name: string | undefined, variables: Variables, client: Client): void {
  // An unknown name is an error: it is probably misspelled.
  if (name !== undefined) parseProfile(name, variables, client.sources);
  if (!context.args.switches.has('json'))
    context.terminal.stdout(name === undefined ? 'no stored logins\n' : `${escapeControls(name)} is not logged in\n`);
  if (name !== undefined) warnOfConfiguredToken(context, name, variables);
}

/** A refresh token in a file is not deleted. */
export function warnOfConfiguredToken(context: Context, profile: string, variables: Variables): void {
  const configured = variables.get(`${profile}.refresh_token`);
  if (configured === undefined) return;
  warn(context, `${profile}.refresh_token is set in ${locationOf(configured)} and will be used from now on: remove it`);
}

function formatLogout({ profile, account }: FoundLogin, revoked: boolean): string {
  const user = account === undefined ? '' : ` (${escapeControls(account)})`;
  return `logged out: ${escapeControls(profile)}${user}, ${revoked ? 'revoked and deleted' : 'deleted from this machine'}\n`;
}
