import type { Secret } from '../../redaction/secret.ts';
import type { Keychain } from './key-provider.ts';

const SERVICE = 'oauth-profile';
/** Long enough for the user to unlock the keychain. */
const TIMEOUT_MS = 30_000;

/** The keychain of the operating system. Each call fails if there is none. */
export const systemKeychain: Keychain = {
  async get(account) {
    return (await (await openEntry(account)).getPassword(AbortSignal.timeout(TIMEOUT_MS))) ?? undefined;
  },
  async set(account: string, value: Secret) {
    await (await openEntry(account)).setPassword(value.reveal(), AbortSignal.timeout(TIMEOUT_MS));
  },
};

async function openEntry(account: string) {
  // Not a literal, so that bundlers do not include the optional package, which contains native code.
  const name = ['@napi-rs', 'keyring'].join('/');
  const { AsyncEntry }: typeof import('@napi-rs/keyring') = await import(name);
  // The default on Linux may be the kernel keyring, which a reboot empties.
  return new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
}
