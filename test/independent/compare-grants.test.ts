import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { requestError } from '../support/client.ts';
import { compare, DEVICE, type Fields, type Party, passSeconds, REDIRECT } from './compare.ts';

const web: Fields = { client_id: 'web', client_secret: 'web-secret' };
const other: Fields = { client_id: 'other', client_secret: 'other-secret' };
const withPassword: Fields = { grant_type: 'password', ...web, username: 'ada@example.com', password: 'lovelace' };

const verifier = randomBytes(32).toString('base64url');
const challenge: Fields = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};

/** The fields of a code exchange that succeeds, once. */
async function exchange(party: Party): Promise<Fields> {
  const code = await party.code(challenge);
  return { grant_type: 'authorization_code', ...web, code, redirect_uri: REDIRECT, code_verifier: verifier };
}

/** The fields of a refresh that succeeds, once. */
async function refresh(party: Party): Promise<Fields> {
  return next(await party.token(await exchange(party)));
}

function next({ refresh_token }: { readonly [member: string]: unknown }): Fields {
  return { grant_type: 'refresh_token', ...web, refresh_token: String(refresh_token) };
}

const poll = (device_code: string): Fields => ({ grant_type: DEVICE, ...web, device_code });

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));
}

const withDevices = ['oidc-provider', 'emulator'] as const;
const withPasswords = ['oauth2-server', 'emulator'] as const;

compare('Grants', generateKeyPairSync('ec', { namedCurve: 'P-256' }), {
  'right password': { of: withPasswords, must: 'token', try: (party) => party.outcome(withPassword) },
  'wrong password': {
    of: withPasswords,
    must: '400 invalid_grant',
    try: (party) => party.outcome({ ...withPassword, password: 'wrong-password' }),
  },
  'unknown user': {
    of: withPasswords,
    must: '400 invalid_grant',
    try: (party) => party.outcome({ ...withPassword, username: 'unknown-user' }),
  },
  'no password': {
    of: withPasswords,
    must: '400 invalid_request',
    try: (party) => party.outcome(without(withPassword, 'password')),
  },
  'empty user name': {
    of: withPasswords,
    must: '400 invalid_request',
    try: (party) => party.outcome({ ...withPassword, username: '' }),
  },
  'right password without a client': {
    of: withPasswords,
    try: (party) => party.outcome({ grant_type: 'password', username: 'ada@example.com', password: 'lovelace' }),
  },

  'refresh token': { must: 'token', try: async (party) => party.outcome(await refresh(party)) },
  'refresh token that is unknown': {
    must: '400 invalid_grant',
    try: (party) => party.outcome(next({ refresh_token: 'unknown-refresh-token' })),
  },
  'refresh token that is missing': {
    must: '400 invalid_request',
    try: (party) => party.outcome({ grant_type: 'refresh_token', ...web }),
  },
  'refresh token that is empty': {
    must: '400 invalid_request',
    try: (party) => party.outcome(next({ refresh_token: '' })),
  },
  'refresh token of another client': {
    must: '400 invalid_grant',
    try: async (party) => party.outcome({ ...(await refresh(party)), ...other }),
  },
  'refresh token after another client tried it': {
    must: 'token',
    try: async (party) => {
      const fields = await refresh(party);
      await party.outcome({ ...fields, ...other });
      return party.outcome(fields);
    },
  },
  'refresh token that has expired': {
    must: '400 invalid_grant',
    try: async (party) => {
      const fields = await refresh(party);
      passSeconds(60 * 86_400);
      return party.outcome(fields);
    },
  },
  'refresh token used twice': {
    must: '400 invalid_grant',
    try: async (party) => {
      const fields = await refresh(party);
      await party.token(fields);
      return party.outcome(fields);
    },
  },
  'next refresh token, after a refresh token was used twice': {
    try: async (party) => {
      const fields = await refresh(party);
      const renewed = await party.token(fields);
      await party.outcome(fields);
      return party.outcome(next(renewed));
    },
  },
  'refresh with less scope': {
    must: 'token',
    try: async (party) => party.outcome({ ...(await refresh(party)), scope: 'read' }),
  },
  'refresh with more scope': {
    must: '400 invalid_scope',
    try: async (party) => party.outcome({ ...(await refresh(party)), scope: 'read write' }),
  },

  code: { must: 'token', try: async (party) => party.outcome(await exchange(party)) },
  'code that is unknown': {
    must: '400 invalid_grant',
    try: async (party) => party.outcome({ ...(await exchange(party)), code: 'unknown-code' }),
  },
  'code that is missing': {
    must: '400 invalid_request',
    try: async (party) => party.outcome(without(await exchange(party), 'code')),
  },
  'code that has expired': {
    must: '400 invalid_grant',
    try: async (party) => {
      const fields = await exchange(party);
      passSeconds(601);
      return party.outcome(fields);
    },
  },
  'code of another client': {
    must: '400 invalid_grant',
    try: async (party) => party.outcome({ ...(await exchange(party)), ...other }),
  },
  'code after another client tried it': {
    try: async (party) => {
      const fields = await exchange(party);
      await party.outcome({ ...fields, ...other });
      return party.outcome(fields);
    },
  },
  'code used twice': {
    must: '400 invalid_grant',
    try: async (party) => {
      const fields = await exchange(party);
      await party.token(fields);
      return party.outcome(fields);
    },
  },
  'refresh token, after its code was used twice': {
    try: async (party) => {
      const fields = await exchange(party);
      const token = await party.token(fields);
      await party.outcome(fields);
      return party.outcome(next(token));
    },
  },
  'code with another redirect_uri': {
    try: async (party) => party.outcome({ ...(await exchange(party)), redirect_uri: `${REDIRECT}/` }),
  },
  'code without redirect_uri': {
    try: async (party) => party.outcome(without(await exchange(party), 'redirect_uri')),
  },
  'code with another verifier': {
    must: '400 invalid_grant',
    try: async (party) =>
      party.outcome({ ...(await exchange(party)), code_verifier: randomBytes(32).toString('base64url') }),
  },
  'code with a verifier that is too short': {
    try: async (party) => party.outcome({ ...(await exchange(party)), code_verifier: 'short' }),
  },
  'code without its verifier': {
    must: '400 invalid_grant',
    try: async (party) => party.outcome(without(await exchange(party), 'code_verifier')),
  },
  'code with a verifier but without a challenge': {
    must: '400 invalid_grant',
    try: async (party) => party.outcome({ ...(await exchange(party)), code: await party.code({}) }),
  },

  'device code, not entered yet': {
    of: withDevices,
    must: '400 authorization_pending',
    try: async (party) => party.outcome(poll(await party.device('pending'))),
  },
  'device code, polled twice at once': {
    of: withDevices,
    try: async (party) => {
      const fields = poll(await party.device('pending'));
      await party.outcome(fields);
      return party.outcome(fields);
    },
  },
  'device code, allowed': {
    of: withDevices,
    must: 'token',
    try: async (party) => party.outcome(poll(await party.device('allow'))),
  },
  'device code, denied': {
    of: withDevices,
    must: '400 access_denied',
    try: async (party) => party.outcome(poll(await party.device('deny'))),
  },
  'device code used twice': {
    of: withDevices,
    must: '400 invalid_grant',
    try: async (party) => {
      const fields = poll(await party.device('allow'));
      await party.token(fields);
      return party.outcome(fields);
    },
  },
  'device code that has expired': {
    of: withDevices,
    must: '400 expired_token',
    try: async (party) => {
      const fields = poll(await party.device('pending'));
      passSeconds(601);
      return party.outcome(fields);
    },
  },
  'device code that is unknown': {
    of: withDevices,
    must: '400 invalid_grant',
    try: (party) => party.outcome(poll('unknown-device-code')),
  },
  'device code that is missing': {
    of: withDevices,
    must: '400 invalid_request',
    try: (party) => party.outcome({ grant_type: DEVICE, ...web }),
  },
  'device code of another client': {
    of: withDevices,
    must: '400 invalid_grant',
    try: async (party) => party.outcome({ ...poll(await party.device('allow')), ...other }),
  },
});

it('the emulator without the password grant rejects it as oauth2-server rejects a client that may not use it', async () => {
  const acme = { type: 'custom', url: 'https://login.example.test/token', ...withPassword };
  const emulator = await startEmulator({ profiles: { acme }, faults: [{ kind: 'no-password' }] });
  try {
    const { provider } = await requestError(acme, emulator);
    expect(provider).toMatchObject({ status: 400, error: 'unauthorized_client' });
  } finally {
    await emulator.close();
  }
});
