import { afterEach, beforeEach } from 'vitest';
import { type Finished, Sandbox } from './run-cli.ts';
import { startTokenServer, type TokenServer } from './server.ts';

/** The refresh token in the profile `ada`. */
export const CONFIGURED = 'configured-refresh-token-1';

/** A sandbox with the profiles `robot` (client_credentials) and `ada` (refresh_token), and the token server that both use. */
export interface CliFixture {
  readonly sandbox: Sandbox;
  readonly server: TokenServer;
  run(line: string, env?: Record<string, string>): Promise<Finished>;
  /** The refresh tokens that the server received. */
  sentRefreshTokens(): (string | null)[];
}

/** Creates a new fixture for each test. The server rotates refresh tokens. */
export function useCliFixture(): CliFixture {
  let sandbox: Sandbox;
  let server: TokenServer;
  beforeEach(async () => {
    sandbox = new Sandbox();
    server = await startTokenServer((response, { body, number }) => {
      const rotated = body.includes('grant_type=refresh_token') ? { refresh_token: `rotated-refresh-${number}` } : {};
      response.end(JSON.stringify({ access_token: `access-token-${number}`, expires_in: 3600, ...rotated }));
    });
    const url = `http://127.0.0.1:${server.port}/token`;
    sandbox.write(
      'oauth-profiles.yaml',
      `robot: {type: custom, url: "${url}", grant_type: client_credentials, client_id: robot, client_secret: robot-secret-1}
ada: {type: custom, url: "${url}", grant_type: refresh_token, client_id: app, refresh_token: ${CONFIGURED}}
`,
    );
  });
  afterEach(async () => {
    sandbox.remove();
    await server.stop();
  });
  return {
    get sandbox() {
      return sandbox;
    },
    get server() {
      return server;
    },
    run: (line, env = {}) => sandbox.run(line, { PORT: String(server.port), ...env }),
    sentRefreshTokens: () => server.requests.map(({ body }) => new URLSearchParams(body).get('refresh_token')),
  };
}
