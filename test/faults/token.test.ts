import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FaultKind, faultKinds } from '../../src/emulator/faults.ts';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { type ErrorCode, OAuthProfileError } from '../../src/errors.ts';
import { oauthProfile } from '../../src/oauth-profile.ts';
import { registerEmulator } from '../../src/store/emulator-registry.ts';
import { runCommand } from '../../tools/run-command.js';
import { leaksIn } from '../support/leaks.ts';

type Fields = Readonly<Record<string, string>>;

const secrets = ['made-up-client-secret', 'made-up-password', 'made-up-refresh-token', 'made-up-assertion'] as const;
const [clientSecret, password, refreshToken, assertion] = secrets;
const server = {
  type: 'custom',
  url: 'https://id.example.com/oauth/token',
  client_id: 'tool',
  client_secret: clientSecret,
};
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Grants whose request may be repeated, and those whose request must not be sent again once it may have arrived. */
const grants: Readonly<Record<string, { readonly repeatable: boolean; readonly fields: Fields }>> = {
  client_credentials: { repeatable: true, fields: { ...server, grant_type: 'client_credentials' } },
  password: { repeatable: true, fields: { type: 'gitlab', username: 'root', password } },
  'refresh_token without rotation': {
    repeatable: true,
    fields: { type: 'google', client_id: 'desktop', client_secret: clientSecret, refresh_token: refreshToken },
  },
  'refresh_token with rotation': {
    repeatable: false,
    fields: { ...server, grant_type: 'refresh_token', refresh_token: refreshToken },
  },
  'jwt-bearer': { repeatable: false, fields: { ...server, grant_type: JWT_BEARER, assertion } },
};

/** The error code, and whether the request is repeated where that is safe. `undefined`: a token is returned. Clients do not see the other faults. */
const expected: Readonly<Partial<Record<FaultKind, readonly [code: ErrorCode | undefined, retried: boolean]>>> = {
  slow: [undefined, false],
  // The whole timeout is used up by the first attempt.
  hang: ['timeout', false],
  'reset-before': ['connection_failed', true],
  'reset-after': ['connection_failed', true],
  429: ['rate_limited', false],
  500: ['provider_unavailable', true],
  html: ['response_unreadable', false],
  truncate: ['connection_failed', true],
  empty: ['response_unreadable', false],
  huge: ['response_too_large', false],
  'wrong-type': [undefined, false],
  'no-password': ['provider_rejected', false],
};

/** Faults that change a successful response; the emulator issues no token for jwt-bearer. */
const needsSuccess: readonly FaultKind[] = ['slow', 'reset-after', 'truncate', 'wrong-type'];

const cases = Object.entries(grants).flatMap(([grant, { repeatable, fields }]) =>
  faultKinds
    .filter((fault) => fault in expected)
    .filter((fault) => fault !== 'no-password' || grant === 'password')
    .filter((fault) => grant !== 'jwt-bearer' || !needsSuccess.includes(fault))
    .map((fault) => {
      const [code, retried] = expected[fault] ?? [undefined, false];
      // Google sends no Retry-After, so a 429 is retried like a 500.
      const isRetried = repeatable && (retried || (fault === '429' && fields['type'] === 'google'));
      return { grant, fault, fields, code, attempts: isRetried ? 3 : 1 };
    }),
);

/** Starts an emulator whose token endpoint has the fault in every response, and counts the token requests. */
async function withFault<T>(
  fields: Fields,
  kind: FaultKind,
  use: (emulator: Awaited<ReturnType<typeof startEmulator>>) => Promise<T>,
): Promise<{ readonly result: T; readonly attempts: number }> {
  let attempts = 0;
  const emulator = await startEmulator({
    profiles: { svc: fields },
    faults: [{ kind }],
    onRequest: ({ fault }) => {
      if (fault !== undefined) attempts++;
    },
  });
  try {
    return { result: await use(emulator), attempts };
  } finally {
    await emulator.close();
  }
}

describe('a fault of the token endpoint', () => {
  it.concurrent.each(cases)('$fault with $grant: $code after $attempts request(s)', async (row) => {
    const fields = row.fault === 'hang' ? { ...row.fields, 'options.timeout': '3s' } : row.fields;
    const { result, attempts } = await withFault(fields, row.fault, (emulator) =>
      oauthProfile('svc', { data: { svc: fields }, emulator }).catch((error: unknown) => error),
    );
    expect({ code: result instanceof OAuthProfileError ? result.code : undefined, attempts }).toEqual({
      code: row.code,
      attempts: row.attempts,
    });
    if (result instanceof Error) expect(leaksIn(`${result.stack}\n${JSON.stringify(result)}`, secrets)).toEqual([]);
    else expect(result).toHaveProperty('access_token');
  });

  it.concurrent.each([
    { fault: 'wrong-type', token: 0, exec: 0, run: 0 },
    { fault: 'html', token: 4, exec: 125, run: 1 },
    { fault: '429', token: 4, exec: 125, run: 1 },
    { fault: 'no-password', token: 3, exec: 125, run: 1 },
  ] as const)('$fault ends token with $token, exec with $exec and run with $run', async ({ fault, ...exits }) => {
    const fields = grants['password']?.fields ?? {};
    const cwd = mkdtempSync(join(tmpdir(), 'oauth-profile-faults-'));
    const { PATH, OAUTH_PROFILE_EMULATOR_KEY } = process.env;
    const env = { HOME: cwd, PATH, OAUTH_PROFILE_EMULATOR_KEY };
    writeFileSync(join(cwd, 'oauth-profiles.yaml'), JSON.stringify({ svc: fields }));
    writeFileSync(join(cwd, 'get.yaml'), 'steps:\n  - ws.oauthProfile: [token, svc]\n');
    const exitOf = async (name: string, first: string, ...rest: string[]): Promise<number> => {
      const { result } = await withFault(fields, fault, async (emulator) => {
        await registerEmulator(emulator, env);
        return runCommand([name, first, `--emulate=${emulator.url}`, ...rest], { cwd, env });
      });
      expect(leaksIn(result.output, secrets)).toEqual([]);
      return result.exit;
    };
    try {
      const token = await exitOf('token', 'svc');
      const exec = await exitOf('exec', 'svc', '--', 'true');
      const run = await exitOf('run', 'get.yaml');
      expect({ token, exec, run }).toEqual(exits);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});
