import { OAuthProfileError } from '../../errors.ts';
import { parseAccount } from '../../oauth/account.ts';
import type { LoginResponse } from '../../oauth/token-response.ts';
import type { Ports, TokenStore } from '../../ports.ts';
import type { StoredGrant } from '../../profile/complete-profile.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import type { Profile } from '../../profile/profile.ts';
import { loginCommand } from '../../profile/profile.ts';
import { familyName } from '../find-family.ts';
import { assertStoreWritable, findStoredLogin, saveLogin } from './save-login.ts';

/** A sign-in that is to be kept. */
export interface LoginTask {
  readonly login: LoginProfile;
  /** Lets the person sign in, in whichever way. */
  readonly signIn: () => Promise<LoginResponse>;
  /** The profile as it is read with what the sign-in brought. */
  readonly readWith: (brought: StoredGrant) => Profile;
  /** Asked when somebody else has signed in than before. */
  readonly mayReplace: (former: string, account: string) => Promise<boolean>;
}

/** What is kept now. */
export interface LoginResult {
  readonly account: string | undefined;
  readonly scope: string | undefined;
  /** When the first access token ends (epoch milliseconds), where that is known. */
  readonly expiresAt: number | undefined;
  /** Whether a former login, of whichever account, is gone. */
  readonly replaced: boolean;
}

/** Signs a person in and keeps what that brings, or keeps what was there. */
export async function login(task: LoginTask, ports: Ports, store: TokenStore): Promise<LoginResult> {
  const { name, url, clientId, configuredRefreshToken: pasted } = task.login;
  const binding = { origin: url.origin, clientId };
  // Who cannot keep the result finds out before the person does anything.
  await assertStoreWritable(name, binding, store);
  const former = await findStoredLogin(name, binding, store);
  const reply = await task.signIn();
  const { refreshToken, expiresAt, response } = reply;
  const account = parseAccount(response);
  if (former?.account !== undefined && account !== undefined && former.account !== account) {
    if (!(await task.mayReplace(former.account, account))) throw otherAccount(name, former.account, account);
  }
  const family = familyName(binding, refreshToken, store);
  const profile = { ...task.readWith({ refreshToken, family: family }), family };
  await saveLogin({ profile, refreshToken, reply, account, pasted: pasted?.value }, ports, store);
  const { scope } = response;
  return {
    account,
    scope: typeof scope === 'string' ? scope : undefined,
    expiresAt,
    replaced: former !== undefined,
  };
}

function otherAccount(name: string, former: string, account: string): OAuthProfileError {
  return new OAuthProfileError(
    'usage',
    `${account} signed in, but ${name} is signed in as ${former}; nothing was changed`,
    {
      hint: `to replace it, run: ${loginCommand(name)} --force`,
    },
  );
}
