import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { assertion, compare, type Fields, ODD_SECRET, outcomeOf, type Party, PLUS_SECRET } from './compare.ts';

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-keys-'));
afterAll(() => rmSync(directory, { recursive: true }));
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [keyFile, otherKeyFile] = [keys, otherKeys].map(({ privateKey }, index) => {
  const path = join(directory, `${index}.pem`);
  writeFileSync(path, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  return path;
}) as [string, string];

const web: Fields = { client_id: 'web', client_secret: 'web-secret' };
const machine: Fields = { grant_type: 'client_credentials', ...web };
const basic: Fields = { 'options.client_auth': 'client_secret_basic' };
const raw: Fields = { 'options.client_auth': 'client_secret_basic_raw' };
const signed: Fields = {
  grant_type: 'client_credentials',
  client_id: 'signer',
  'options.client_auth': 'private_key_jwt',
  'options.key_file': keyFile,
};
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const header = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

/** Sends a request of `signer` with changed claims. */
async function postSigned(
  party: Party,
  claims: Record<string, unknown>,
  more: Fields = { client_id: 'signer' },
): Promise<string> {
  const client_assertion = assertion(keys.privateKey, party.audience, claims);
  const form = { grant_type: 'client_credentials', client_assertion_type: assertionType, client_assertion, ...more };
  return outcomeOf(await party.post(new URLSearchParams(form).toString()));
}

const withAssertions = ['oidc-provider', 'emulator'] as const;
const now = (): number => Math.floor(Date.now() / 1000);

compare('Clients and requests', keys, {
  'right secret in the body': { must: 'token', try: (party) => party.outcome(machine) },
  'right secret in a header': { must: 'token', try: (party) => party.outcome({ ...machine, ...basic }) },
  'wrong secret in the body': { try: (party) => party.outcome({ ...machine, client_secret: 'wrong-secret' }) },
  'wrong secret in a header': {
    must: '401 invalid_client',
    try: (party) => party.outcome({ ...machine, ...basic, client_secret: 'wrong-secret' }),
  },
  'unknown client in the body': { try: (party) => party.outcome({ ...machine, client_id: 'unknown-client' }) },
  'unknown client in a header': {
    must: '401 invalid_client',
    try: (party) => party.outcome({ ...machine, ...basic, client_id: 'unknown-client' }),
  },
  'no secret': { try: (party) => party.outcome({ grant_type: 'client_credentials', client_id: 'web' }) },
  'empty secret': { try: (party) => party.outcome({ ...machine, client_secret: '' }) },
  'no client': { try: (party) => party.outcome({ grant_type: 'client_credentials' }) },
  'odd secret, form-encoded in a header': {
    try: (party) => party.outcome({ ...machine, ...basic, client_id: 'odd', client_secret: ODD_SECRET }),
  },
  'odd secret, not encoded in a header': {
    try: (party) => party.outcome({ ...machine, ...raw, client_id: 'odd', client_secret: ODD_SECRET }),
  },
  'plus sign, not encoded in a header': {
    try: (party) => party.outcome({ ...machine, ...raw, client_id: 'plus', client_secret: PLUS_SECRET }),
  },
  'secret in the body and an assertion': {
    try: (party) =>
      party.outcome({ ...machine, client_assertion_type: assertionType, client_assertion: 'eyJ.eyJ.AAAA' }),
  },
  'secret in a header and in the body': {
    try: async (party) =>
      outcomeOf(await party.post(new URLSearchParams(machine).toString(), header('web', 'web-secret'))),
  },
  'secret in a header and an empty one in the body': {
    must: 'token',
    try: async (party) =>
      outcomeOf(await party.post('grant_type=client_credentials&client_secret=', header('web', 'web-secret'))),
  },
  'challenge to a wrong secret in a header': {
    must: '401 Basic',
    try: async (party) => {
      const { status, headers } = await party.post('grant_type=client_credentials', header('web', 'wrong'));
      return `${status} ${headers['www-authenticate']?.split(' ')[0]}`;
    },
  },

  'assertion for the token URL': { of: withAssertions, must: 'token', try: (party) => party.outcome(signed) },
  'assertion for a list with the token URL in it': {
    of: withAssertions,
    must: 'token',
    try: (party) => postSigned(party, { aud: ['https://elsewhere.example.test', party.audience] }),
  },
  'assertion for another audience': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => party.outcome({ ...signed, 'options.audience': 'https://elsewhere.example.test' }),
  },
  'assertion without an audience': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => postSigned(party, { aud: undefined }),
  },
  'assertion that has expired': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => postSigned(party, { iat: now() - 3600, exp: now() - 3500 }),
  },
  'assertion without an expiry': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => postSigned(party, { exp: undefined }),
  },
  'assertion that is not valid yet': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => postSigned(party, { nbf: now() + 3600, exp: now() + 7200 }),
  },
  'assertion that another client issued': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => postSigned(party, { iss: 'web' }),
  },
  'assertion signed with another key': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => party.outcome({ ...signed, 'options.key_file': otherKeyFile }),
  },
  'malformed assertion': {
    of: withAssertions,
    try: (party) =>
      party.outcome({
        grant_type: 'client_credentials',
        client_id: 'signer',
        client_assertion_type: assertionType,
        client_assertion: 'nonsense',
      }),
  },
  'assertion without client_id': {
    of: withAssertions,
    must: 'token',
    try: (party) => postSigned(party, {}, {}),
  },
  'assertion with the client_id of another client': {
    of: withAssertions,
    try: (party) => postSigned(party, {}, { client_id: 'web' }),
  },
  'assertion used twice': {
    of: withAssertions,
    try: async (party) => {
      await postSigned(party, { jti: 'once' });
      return postSigned(party, { jti: 'once' });
    },
  },
  'no assertion': {
    of: withAssertions,
    must: '401 invalid_client',
    try: (party) => party.outcome({ grant_type: 'client_credentials', client_id: 'signer' }),
  },

  'no grant_type': { must: '400 invalid_request', try: (party) => party.outcome(web) },
  'empty grant_type': { must: '400 invalid_request', try: (party) => party.outcome({ ...web, grant_type: '' }) },
  'unknown grant_type': {
    must: '400 unsupported_grant_type',
    try: (party) => party.outcome({ ...web, grant_type: 'urn:example:nothing' }),
  },
  'implicit as grant_type': {
    must: '400 unsupported_grant_type',
    try: (party) => party.outcome({ ...web, grant_type: 'implicit' }),
  },
  'grant that the client may not use': {
    of: ['oidc-provider', 'oauth2-server'],
    try: (party) =>
      party.outcome({
        grant_type: 'refresh_token',
        client_id: 'robot',
        client_secret: 'robot-secret',
        refresh_token: 'unknown-refresh-token',
      }),
  },
  'parameter given twice': {
    try: async (party) =>
      outcomeOf(await party.post(`${new URLSearchParams({ ...machine, scope: 'read' })}&scope=write`)),
  },
  'parameters as JSON': {
    try: async (party) => outcomeOf(await party.post(JSON.stringify(machine), { 'Content-Type': 'application/json' })),
  },
  'unknown parameter': { must: 'token', try: (party) => party.outcome({ ...machine, x_colour: 'blue' }) },
  'empty scope': { must: 'token', try: (party) => party.outcome({ ...machine, scope: '' }) },
  'unknown scope': { try: (party) => party.outcome({ ...machine, scope: 'everything' }) },
  'malformed scope': { try: (party) => party.outcome({ ...machine, scope: 'read "write"' }) },
  'refresh token for client_credentials': {
    must: 'no',
    try: async (party) => ('refresh_token' in (await party.token(machine)) ? 'yes' : 'no'),
  },
  'caching of a token': {
    try: async (party) => {
      const { headers } = await party.post(new URLSearchParams(machine).toString());
      return [headers['cache-control'], headers['pragma']].filter((value) => value !== undefined).join(', ');
    },
  },
});
