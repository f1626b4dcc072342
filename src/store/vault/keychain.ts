import type { Secret } from '../../redaction/secret.ts';
import type { Keychain } from './key-provider.ts';

const SERVICE = 'oauth-profile';
/** Longer than a person needs to let us in; a keychain that hangs must not hang us. */
const PATIENCE_MS = 30_000;

/** The keychain of the system; each call fails where there is none. */
export const systemKeychain: Keychain = {
  async get(account) {
    return (await (await entry(account)).getPassword(AbortSignal.timeout(PATIENCE_MS))) ?? undefined;
  },
  async set(account: string, value: Secret) {
    await (await entry(account)).setPassword(value.reveal(), AbortSignal.timeout(PATIENCE_MS));
  },
};

async function entry(account: string) {
  const { AsyncEntry } = await import('@napi-rs/keyring');
  // Without the pin a keyring of the kernel may serve, which a reboot empties.
  return new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
}
