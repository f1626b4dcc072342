import { OAuthProfileError } from '../../errors.ts';
import { findLoginChallenge } from '../../oauth/challenge.ts';
import type { TokenStore } from '../../ports.ts';
import { loginCommand, type Profile } from '../../profile/profile.ts';
import { parseRecordOf, serializeRecord } from '../records.ts';
import { bindingOf, loginKey, withLock } from '../token-family.ts';

/**
 * Throws `login_required` if the `WWW-Authenticate` header of an API requires another login (RFC 9470). What it requires is stored, and the next login
 * requests it. A profile without a login is not affected.
 */
export async function rejectLoginChallenge(
  profile: Profile,
  origin: string,
  header: string | null,
  openStore: () => Promise<TokenStore>,
): Promise<void> {
  const challenge = profile.family === undefined ? undefined : findLoginChallenge(header);
  if (challenge === undefined) return;
  const store = await openStore();
  await withLock(store, loginKey(profile.name, bindingOf(profile), store), async (lock) => {
    const login = parseRecordOf('login', lock.record);
    if (login !== undefined) await lock.write(serializeRecord({ ...login, challenge }));
  });
  throw new OAuthProfileError('login_required', `${origin} requires another login of ${profile.name}`, {
    hint: `run: ${loginCommand(profile.name)}`,
  });
}
