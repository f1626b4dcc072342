import { OAuthProfileError } from '../../errors.ts';
import { parseAccount } from '../../oauth/account.ts';
import type { LoginResponse } from '../../oauth/token-response.ts';
import type { Ports, TokenStore } from '../../ports.ts';
import { completeProfile } from '../../profile/complete-profile.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import type { ParsedProfile } from '../../profile/parse-profile.ts';
import { loginCommand } from '../../profile/profile.ts';
import { familyKey, findLogin } from '../token-family.ts';
import { assertStoreWritable, saveLogin } from './save-login.ts';

/** A login to perform and store. */
export interface LoginTask {
  readonly parsed: ParsedProfile;
  readonly login: LoginProfile;
  /** Lets the user log in, with the device code or the authorization code flow. */
  readonly authenticate: () => Promise<LoginResponse>;
  /** Called if the user logged in with another account than before. */
  readonly mayReplace: (former: string, account: string) => Promise<boolean>;
}

/** A stored login. */
export interface LoginResult {
  readonly account: string | undefined;
  readonly scope: string | undefined;
  /** Expiry of the access token, in epoch milliseconds. */
  readonly expiresAt: number | undefined;
  /** Whether an earlier login was replaced. */
  readonly replaced: boolean;
}

/** Logs the user in and stores the result. An error leaves an earlier login as it was. */
export async function login(task: LoginTask, ports: Ports, store: TokenStore): Promise<LoginResult> {
  const { name, url, clientId, configuredRefreshToken } = task.login;
  const binding = { origin: url.origin, clientId };
  await assertStoreWritable(name, binding, store);
  const former = await findLogin(name, binding, store);
  const response = await task.authenticate();
  const { refreshToken, expiresAt } = response;
  const account = parseAccount(response.response);
  const formerAccount = former?.family.account;
  if (formerAccount !== undefined && account !== undefined && formerAccount !== account) {
    if (!(await task.mayReplace(formerAccount, account))) throw otherAccountError(name, formerAccount, account);
  }
  const family = familyKey(binding, refreshToken, store);
  const profile = { ...completeProfile(task.parsed, { refreshToken, family }), family };
  await saveLogin({ profile, response, account, configuredRefreshToken: configuredRefreshToken?.value }, ports, store);
  const { scope } = response.response;
  return {
    account,
    scope: typeof scope === 'string' ? scope : undefined,
    expiresAt,
    replaced: former !== undefined,
  };
}

function otherAccountError(name: string, former: string, account: string): OAuthProfileError {
  return new OAuthProfileError(
    'usage',
    `you logged in as ${account}, but ${name} is logged in as ${former}; nothing was changed`,
    { hint: `to replace the login, run: ${loginCommand(name)} --force` },
  );
}
