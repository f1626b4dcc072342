import { expect, it } from 'vitest';
import { createClient } from '../../src/client.ts';
import type { FaultKind } from '../../src/emulator/faults.ts';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { type ErrorCode, OAuthProfileError } from '../../src/errors.ts';
import { deleteLogin, findLogins, revokeToken } from '../../src/flows/login/logout.ts';
import { enterCodeByHand, signInByHand } from '../support/browser.ts';
import { LoginFixture } from '../support/client.ts';
import { FakeClock } from '../support/ports.ts';
import { variablesWith } from '../support/profiles.ts';

const fields = {
  type: 'okta',
  tenant_id: 'acme',
  client_id: '0oa1',
  client_secret: 'made-up-client-secret',
  scope: 'openid profile',
};

interface Faulty {
  readonly login: LoginFixture;
  readonly clock: FakeClock;
}

/** Uses a login at an emulator whose token endpoint has a fault, and returns the error code and the number of faulty responses. */
async function withFault(
  faults: readonly { readonly kind: FaultKind; readonly at?: number }[],
  use: (faulty: Faulty) => Promise<void>,
  { fakeTime = false } = {},
): Promise<{ readonly code: ErrorCode | undefined; readonly attempts: number }> {
  let attempts = 0;
  const clock = new FakeClock();
  const emulator = await startEmulator({
    profiles: { svc: fields },
    faults,
    clock: fakeTime ? clock.now : undefined,
    onRequest: ({ fault }) => {
      if (fault !== undefined) attempts++;
    },
  });
  const client = createClient({ environment: { env: {}, cwd: '/' }, emulator });
  const login = new LoginFixture('svc', variablesWith('svc', fields), client, emulator);
  try {
    await use({ login, clock });
    return { code: undefined, attempts };
  } catch (error) {
    if (!(error instanceof OAuthProfileError)) throw error;
    return { code: error.code, attempts };
  } finally {
    await login.close();
  }
}

async function loginWithDevice({ login, clock }: Faulty): Promise<void> {
  let entered: Promise<unknown> | undefined;
  clock.whileAsleep = () => entered;
  const prompt = {
    showCode({ userCode, verificationUri }: { userCode: string; verificationUri: string }) {
      entered = enterCodeByHand(verificationUri, userCode);
    },
    showWaiting: () => {},
  };
  await login.loginWithDevice(prompt, { ports: { clock } });
}

async function loginWithBrowser({ login }: Faulty): Promise<void> {
  let visit: Promise<unknown> | undefined;
  const result = login.loginWithBrowser((url) => {
    visit = signInByHand(url).then((redirect) => fetch(redirect));
  });
  await Promise.allSettled([result]);
  await visit;
  await result;
}

// A device code is polled while it is valid, because the user may have entered it; an authorization code is sent once.
it.each([
  { fault: '429', code: 'rate_limited', polls: 10 },
  { fault: '500', code: 'provider_unavailable', polls: 6 },
  { fault: 'reset-after', code: 'connection_failed', polls: 6 },
  { fault: 'html', code: 'response_unreadable', polls: 1 },
  { fault: 'empty', code: 'response_unreadable', polls: 1 },
  { fault: 'huge', code: 'response_too_large', polls: 1 },
  { fault: 'wrong-type', code: undefined, polls: 1 },
] satisfies { fault: FaultKind; code: ErrorCode | undefined; polls: number }[])(
  'a login meets the fault $fault: $code after $polls poll(s) or one code exchange',
  async (row) => {
    const faults = [{ kind: row.fault }];
    expect(await withFault(faults, loginWithDevice, { fakeTime: true })).toEqual({
      code: row.code,
      attempts: row.polls,
    });
    expect(await withFault(faults, loginWithBrowser)).toEqual({ code: row.code, attempts: 1 });
  },
);

it('logout --revoke sends nothing to the token endpoint', async () => {
  const afterLogin = [2, 3, 4].map((at) => ({ kind: '500', at }) as const);
  const outcome = await withFault(afterLogin, async (faulty) => {
    await loginWithBrowser(faulty);
    const { client, profile } = faulty.login;
    const store = await client.openStore();
    const logins = await findLogins(store, 'svc');
    expect(logins).toHaveLength(1);
    for (const found of logins) {
      await deleteLogin(found, store, (family) => revokeToken(profile, family, client, store, undefined));
    }
  });
  expect(outcome).toEqual({ code: undefined, attempts: 0 });
});
