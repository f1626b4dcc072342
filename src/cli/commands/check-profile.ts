import type { Variables } from '../../config/variables.ts';
import { errorCodes, InvalidProfileError, OAuthProfileError, type ProfileIssue } from '../../errors.ts';
import { buildTokenRequest } from '../../oauth/token-request.ts';
import { parseLoginProfile } from '../../profile/login-profile.ts';
import { parseProfile } from '../../profile/parse-profile.ts';
import { type Profile, tlsFiles } from '../../profile/profile.ts';
import type { Session } from '../../session.ts';
import type { Context } from '../context.ts';

/** What is wrong with a profile, and the profile as far as a look at its provider can use it. */
export interface CheckedProfile {
  readonly name: string;
  readonly issues: readonly ProfileIssue[];
  readonly notes: readonly string[];
  readonly profile: Profile | undefined;
}

/** Reads a profile and tries its files; nothing is sent. */
export async function checkProfile(
  name: string,
  variables: Variables,
  session: Session,
  context: Context,
): Promise<CheckedProfile> {
  try {
    const profile = await tryFiles(await readWithLogin(name, variables, session, context), session, context);
    return { name, issues: [], notes: profile.notes, profile };
  } catch (error) {
    if (error instanceof InvalidProfileError) {
      const { issues, notes } = error;
      const login = async () => tryFiles(readBeforeLogin(name, variables, session), session, context);
      return { name, issues, notes, profile: await login().catch(() => undefined) };
    }
    if (!(error instanceof OAuthProfileError) || error.code !== 'profile_not_found') throw error;
    const fault = { variable: name, message: 'is no profile', hint: error.hint };
    return { name, issues: [fault], notes: [], profile: undefined };
  }
}

/** With what a login left; a store that cannot be read is looked at on its own, one in the network only with `--online`. */
async function readWithLogin(
  name: string,
  variables: Variables,
  session: Session,
  { call, surroundings }: Context,
): Promise<Profile> {
  const remote = call.values.has('store') || Boolean(surroundings.env['OAUTH_PROFILE_STORE']);
  if (call.switches.has('online') || !remote) {
    try {
      return await session.readProfile(name, variables);
    } catch (error) {
      if (!(error instanceof OAuthProfileError) || errorCodes[error.code] !== 6) throw error;
    }
  }
  return parseProfile(name, variables, session.outside);
}

/** As it will be once somebody has logged in. */
function readBeforeLogin(name: string, variables: Variables, { outside }: Session): Profile {
  const { clientParameters: client, scope, ...login } = parseLoginProfile(name, variables, outside);
  const fields = scope === undefined ? client : [...client, scope];
  return { ...login, grant: 'refresh_token', fields, family: undefined, notes: [] };
}

/** Keys and certificates are used once, so that a wrong file is found here and not at the first request. */
async function tryFiles(profile: Profile, { ports }: Session, { signal }: Context): Promise<Profile> {
  const { assertion } = buildTokenRequest(profile, '');
  const { timeoutMs, ca, cert } = profile.options;
  if (assertion !== undefined) await ports.sign(assertion, profile.name, { timeoutMs, signal });
  if (ca === undefined && cert === undefined) return profile;
  const { checkTlsFiles } = await import('../../http/tls.ts');
  checkTlsFiles(profile.name, tlsFiles(profile.options));
  return profile;
}
