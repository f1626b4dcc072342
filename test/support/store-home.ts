import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kept } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import type { Keychain } from '../../src/store/vault/key-provider.ts';
import { openVault, type Vault, type VaultOptions } from '../../src/store/vault/vault.ts';

/** A key as a user would make it. */
export const anyKey = (): string => randomBytes(32).toString('base64');

/** What a test keeps: a head, and a content made from it unless given. */
export const kept = (head: string, content = `{"token":"${head}"}`): Kept => ({ head, content: new Secret(content) });

/** What is kept, in clear. */
export const shown = (found: Kept | undefined) => found && { head: found.head, content: found.content.reveal() };

/** Longer than any test waits. */
export const patient = { timeoutMs: 20_000, signal: undefined };

/** A system without a keychain. */
export const noKeychain: Keychain = {
  get: () => Promise.reject(new Error('no keychain')),
  set: () => Promise.reject(new Error('no keychain')),
};

/** A home of its own for vaults, with nothing in it. */
export class StoreHome {
  readonly folder: string;
  readonly vaultFolder: string;
  readonly keyFile: string;

  constructor(base = tmpdir()) {
    this.folder = mkdtempSync(join(base, 'oauth-profile-store-'));
    this.vaultFolder = join(this.folder, 'data', 'oauth-profile', 'vault');
    this.keyFile = join(this.folder, 'config', 'oauth-profile', 'vault.key');
  }

  env(changes: Record<string, string> = {}): Record<string, string> {
    return {
      HOME: this.folder,
      XDG_DATA_HOME: join(this.folder, 'data'),
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      ...changes,
    };
  }

  /** A vault with the key, or with one that it has to find itself. */
  open(key: string | undefined, options: Partial<VaultOptions> = {}): Vault {
    const env = this.env(key === undefined ? {} : { OAUTH_PROFILE_KEY: key });
    return openVault({ env, keychain: noKeychain, ...options });
  }

  /** The names in the vault's folder. */
  files(): string[] {
    return readdirSync(this.vaultFolder).sort();
  }

  /** The sealed files, with their folder. */
  sealed(): string[] {
    return this.files()
      .filter((file) => file.endsWith('.sealed'))
      .map((file) => join(this.vaultFolder, file));
  }

  makeFolder(): void {
    mkdirSync(this.vaultFolder, { recursive: true, mode: 0o700 });
  }

  removeVault(): void {
    rmSync(this.vaultFolder, { recursive: true });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Writes one record. */
export async function put(vault: Vault, name: string, next: Kept): Promise<void> {
  const written = await vault.update(name, (held) => held.write(next), patient);
  if (!written) throw new Error('it was not written');
}
