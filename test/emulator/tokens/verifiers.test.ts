import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { auth } from 'express-oauth2-jwt-bearer';
import { passportJwtSecret } from 'jwks-rsa';
import * as oidc from 'openid-client';
import passport from 'passport';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, profiles, sendRequest, useEmulator } from '../fixture.ts';

const AUDIENCE = 'api://default';

describe('an API that validates tokens of the emulator', () => {
  const server = useEmulator({ profiles, clock: Date.now });
  const issuer = (): string => `${server.emulator.url}/acme.okta.com/oauth2/default`;
  const servers: Server[] = [];
  const urls: Record<string, string> = {};

  /** An express app that knows nothing but the issuer and its audience. */
  async function serve(name: string, protect: express.RequestHandler): Promise<void> {
    const app = express();
    app.get('/orders', protect, (_, response) => {
      response.json({ orders: [] });
    });
    app.use(((error, _request, response, _next) => {
      response.status(error.status ?? 500).end();
    }) satisfies express.ErrorRequestHandler);
    const listening = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => listening.once('listening', resolve));
    servers.push(listening);
    urls[name] = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/orders`;
  }

  beforeAll(async () => {
    await serve('express-oauth2-jwt-bearer', auth({ issuerBaseURL: issuer(), audience: AUDIENCE }));
    const strategy = new Strategy(
      {
        jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
        issuer: issuer(),
        audience: AUDIENCE,
        algorithms: ['RS256'],
        secretOrKeyProvider: passportJwtSecret({ jwksUri: `${issuer()}/v1/keys` }),
      },
      (claims: object, done: (error: null, user: object) => void) => done(null, claims),
    );
    await serve('passport-jwt', new passport.Passport().use(strategy).authenticate('jwt', { session: false }));
  });
  afterAll(() => {
    for (const one of servers) one.close();
  });

  const requestToken = async () => {
    const form = { grant_type: 'client_credentials', scope: 'read' };
    const { json } = await server.post(`${issuer()}/v1/token`, form, basic('o', 'o-secret'));
    return json.access_token as string;
  };
  const setFaults = (faults: unknown[]) =>
    sendRequest(server.emulator, `${server.emulator.url}/_emulator/faults`, {
      method: 'PUT',
      body: JSON.stringify({ faults }),
      headers: { 'Content-Type': 'application/json' },
    });
  const call = async (name: string, token: string) =>
    (await fetch(urls[name] ?? '', { headers: { Authorization: `Bearer ${token}` } })).status;

  describe.each(['express-oauth2-jwt-bearer', 'passport-jwt'])('with %s', (name) => {
    it('accepts a token', async () => {
      expect(await call(name, await requestToken())).toBe(200);
    });

    it('rejects a request without a token', async () => {
      expect((await fetch(urls[name] ?? '')).status).toBe(401);
    });

    it.each(['wrong-audience', 'wrong-issuer', 'wrong-kid', 'bad-signature', 'expired-token', 'expired-signing-key'])(
      'rejects a token with the fault %s',
      async (kind) => {
        await setFaults([{ kind }]);
        const token = await requestToken();
        await setFaults([]);
        const status = await call(name, token);
        // jwks-rsa reports an unknown key as an error of the server.
        expect([401, ...(name === 'passport-jwt' ? [500] : [])]).toContain(status);
      },
    );
  });
});

describe('a relying party with openid-client', () => {
  const server = useEmulator({ profiles, clock: Date.now });

  it('finds the emulator by discovery and signs a user in', async () => {
    const issuer = new URL(`${server.emulator.url}/login.example.test`);
    const config = await oidc.discovery(issuer, 'c', 'c secret', undefined, { execute: [oidc.allowInsecureRequests] });
    const verifier = oidc.randomPKCECodeVerifier();
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: 'http://127.0.0.1:5555/callback',
      scope: 'openid profile email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    }).href;
    const form = { username: 'eve', password: 'pw-eve', step: 'sign-in' };
    const consent = await server.post(url, form);
    const [, ticket = ''] = /name="ticket" value="([^"]*)"/.exec(consent.text) ?? [];
    const redirect = await server.post(url, { ticket, step: 'allow' });
    const callback = new URL(String(redirect.headers['location']));
    const tokens = await oidc.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    expect(tokens.claims()).toMatchObject({ iss: issuer.href, sub: 'eve', aud: 'c', nonce });
    const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, 'eve');
    expect(userinfo).toMatchObject({ sub: 'eve', preferred_username: 'eve', email: 'eve@example.com' });
    expect(await oidc.tokenIntrospection(config, tokens.access_token)).toMatchObject({ active: true, username: 'eve' });
    await oidc.tokenRevocation(config, tokens.access_token);
    expect(await oidc.tokenIntrospection(config, tokens.access_token)).toMatchObject({ active: false });
  });
});
