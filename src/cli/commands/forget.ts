import { parseRecord } from '../../flows/records.ts';
import { withLock } from '../../flows/token-family.ts';
import { parseProfile } from '../../profile/parse-profile.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { type Context, profileOrAll } from '../context.ts';
import { withClient } from '../with-client.ts';
import { warnOfConfiguredToken } from './logout.ts';

/** `forget <profile>` and `forget --all`: deletes logins, cached tokens and everything else that is stored, also for profiles that no longer exist. */
export function runForget(context: Context): Promise<number> {
  const { args, terminal } = context;
  const name = profileOrAll(context);
  return withClient(context, async ({ client, variables }) => {
    const store = await client.openStore();
    const deleted: { profile: string; kind: string }[] = [];
    for (const found of await store.list()) {
      const { profile, kind } = parseRecord(found);
      if (name !== undefined && profile !== name) continue;
      await withLock(store, found.key, (lock) => lock.remove());
      deleted.push({
        profile,
        kind: { login: 'login', family: 'refresh', token: 'token', metadata: 'metadata' }[kind],
      });
    }
    // An unknown name is an error: it is probably misspelt.
    if (deleted.length === 0 && name !== undefined) parseProfile(name, variables, client.sources);
    const profiles = [...new Set(deleted.map(({ profile }) => profile))];
    if (args.switches.has('json')) terminal.stdoutJson({ deleted });
    else if (deleted.length === 0)
      terminal.stdout(`nothing is stored${name === undefined ? '' : ` for ${escapeControls(name)}`}\n`);
    else terminal.stdout(`deleted everything that was stored for ${escapeControls(profiles.join(', '))}\n`);
    for (const profile of profiles) warnOfConfiguredToken(context, profile, variables);
    return 0;
  });
}
