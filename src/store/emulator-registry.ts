import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OAuthProfileError } from '../errors.ts';
import type { EmulatorEndpoint, Environment } from '../ports.ts';
import { createPrivateDirectory } from './vault/durable-fs.ts';
import { checkPrivateDirectory, findVaultDirectory, readPrivateFile } from './vault/private-files.ts';

/** Files that describe this user's running emulators, by port. Other users can neither read nor replace them. */
function registryDirectory(env: Environment): string {
  return join(dirname(findVaultDirectory(env)), 'emulators');
}

/** Lets clients of this user find and verify an emulator. Returns a function that ends that. */
export async function registerEmulator(emulator: EmulatorEndpoint, env: Environment): Promise<() => void> {
  const directory = registryDirectory(env);
  await createPrivateDirectory(directory);
  checkPrivateDirectory(directory);
  const { port, ca, loopbackHosts, allow } = emulator;
  const file = join(directory, `${port}.json`);
  const unregister = (): void => rmSync(file, { force: true });
  unregister();
  writeFileSync(file, JSON.stringify({ port, ca, loopbackHosts, allow }), { flag: 'wx', mode: 0o600 });
  return unregister;
}

/** Finds the emulator that this user started at a URL. Any other server fails the TLS handshake before it receives a secret. */
export function findEmulator(url: string, env: Environment): EmulatorEndpoint {
  const [, port] = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/.exec(url) ?? [];
  if (port === undefined)
    throw new OAuthProfileError('usage', 'invalid URL of an emulator', {
      hint: 'use the URL that oauth-profile emulate prints: http://127.0.0.1:PORT',
    });
  const directory = registryDirectory(env);
  const file = checkPrivateDirectory(directory) ? readPrivateFile(join(directory, `${port}.json`)) : undefined;
  if (file !== undefined) return JSON.parse(file.toString());
  throw new OAuthProfileError('connection_failed', `no emulator of yours is running at ${url}`, {
    hint: 'start an emulator: oauth-profile emulate',
  });
}
