import { OAuthProfileError } from '../../errors.ts';
import type { Limits, TokenStore } from '../../ports.ts';
import type { Diagnostic } from './finding.ts';

/** A store, and where the key of a vault comes from. */
type CheckedStore = TokenStore & { keySource?(): 'environment' | 'keychain' | 'file' | undefined };

/** What a look at the store takes. */
export interface StorePorts {
  open(): Promise<CheckedStore>;
  /** Whether a folder is there, or could be made. */
  tryFolder(folder: string): Promise<'there' | 'possible' | { readonly problem: string }>;
}

const KEYS = {
  environment: 'the key of OAUTH_PROFILE_KEY',
  keychain: "a key in the system's keychain",
  file: 'a key file of this user',
};
const ADVICE = 'set OAUTH_PROFILE_HOME to a folder that you may write to';

/** Reads what is kept and takes a lock, and changes nothing; a vault that is not there yet is not made. */
export async function checkStore(
  { open, tryFolder }: StorePorts,
  refreshes: boolean,
  bounds: Limits,
): Promise<Diagnostic> {
  const finding = (level: Diagnostic['level'], where: string, message: string, hint?: string): Diagnostic =>
    // Other grants go on without a store.
    ({ level: level === 'fault' && !refreshes ? 'warning' : level, about: 'store', where, message, hint });
  try {
    const store = await open();
    const { place } = store;
    const isVault = store.keySource !== undefined;
    const folder = isVault ? await tryFolder(place) : 'there';
    if (typeof folder === 'object') return finding('fault', place, folder.problem, ADVICE);
    if (folder === 'possible') return finding('note', place, 'there is no vault yet; the first token to keep makes it');
    if (isVault) await store.list();
    await store.update(store.fingerprint('check'), async () => {}, bounds);
    const source = store.keySource?.() ?? 'environment';
    return finding('ok', place, `can be read and written, sealed with ${KEYS[source]}`);
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || error.code === 'aborted' || error.code === 'usage') throw error;
    return finding('fault', 'store', error.message, error.hint);
  }
}
