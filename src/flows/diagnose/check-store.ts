import { OAuthProfileError } from '../../errors.ts';
import type { Limits, TokenStore } from '../../ports.ts';
import type { Diagnostic } from './diagnostic.ts';

/** A store. Only a vault knows where its key comes from. */
type CheckedStore = TokenStore & { keySource?(): 'environment' | 'keychain' | 'file' | undefined };

/** Ports of {@link checkStore}. */
export interface StorePorts {
  open(): Promise<CheckedStore>;
  /** Whether a directory exists or could be created. */
  inspectDirectory(directory: string): Promise<'exists' | 'possible' | { readonly problem: string }>;
}

const KEY_SOURCES = {
  environment: 'the key in OAUTH_PROFILE_KEY',
  keychain: 'a key in the system keychain',
  file: 'a key file of this user',
};

/** Reads the records and acquires a lock. Changes nothing: a vault that does not exist is not created. */
export async function checkStore(
  { open, inspectDirectory }: StorePorts,
  isRequired: boolean,
  limits: Limits,
): Promise<Diagnostic> {
  const diagnostic = (level: Diagnostic['level'], where: string, message: string, hint?: string): Diagnostic =>
    // Other grants than `refresh_token` work without a store.
    ({ level: level === 'error' && !isRequired ? 'warning' : level, about: 'store', where, message, hint });
  try {
    const store = await open();
    const { location, keySource } = store;
    const state = keySource === undefined ? 'exists' : await inspectDirectory(location);
    const hint = 'set OAUTH_PROFILE_HOME to a directory that you can write to';
    if (typeof state === 'object') return diagnostic('error', location, state.problem, hint);
    if (state === 'possible')
      return diagnostic('note', location, 'the vault does not exist yet; it is created when the first token is stored');
    if (keySource !== undefined) await store.list();
    await (await store.lock(store.fingerprint('check'), limits)).release();
    const source = KEY_SOURCES[store.keySource?.() ?? 'environment'];
    return diagnostic('ok', location, `readable and writable, encrypted with ${source}`);
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || error.code === 'aborted' || error.code === 'usage') throw error;
    return diagnostic('error', 'store', error.message, error.hint);
  }
}
