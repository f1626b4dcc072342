import { composeCallApi } from '../../compose.ts';
import { checkOnline } from '../../flows/diagnose/check-online.ts';
import { checkStore } from '../../flows/diagnose/check-store.ts';
import type { Diagnostic } from '../../flows/diagnose/finding.ts';
import { createConnector } from '../../http/connector.ts';
import { createInspectCertificate } from '../../http/inspect-certificate.ts';
import { listenForRedirect } from '../../interactive/loopback-server.ts';
import type { EmulatorEndpoint } from '../../ports.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Session } from '../../session.ts';
import { probeFolder } from '../../store/vault/inspect-directory.ts';
import type { Context } from '../context.ts';

const STORE_MS = 10_000;

/** What `check --online` finds of each profile, and of the store that all of them share; an emulator has none. */
export async function look(
  profiles: readonly Profile[],
  session: Session,
  { surroundings, signal }: Context,
  emulator: EmulatorEndpoint | undefined,
): Promise<{ readonly findings: ReadonlyMap<Profile, readonly Diagnostic[]>; readonly store: Diagnostic | undefined }> {
  const { clock, version } = session.ports;
  const { callApi } = composeCallApi(surroundings, emulator);
  const seeCertificate = createInspectCertificate(createConnector(surroundings.env, emulator));
  const findings = await checkOnline(
    profiles,
    { callApi, clock, version, listen: listenForRedirect, seeCertificate },
    signal,
  );
  if (emulator !== undefined) return { findings, store: undefined };
  const refreshes = profiles.some(({ grant }) => grant === 'refresh_token');
  const store = { open: () => session.openStore(), tryFolder: probeFolder };
  return { findings, store: await checkStore(store, refreshes, { timeoutMs: STORE_MS, signal }) };
}
