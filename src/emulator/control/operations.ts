import { clientSchema, faultSchema, objectOf, type Schema, userSchema } from '../schemas.ts';

/** An operation of the control API: one entry of its OpenAPI document. */
export interface Operation {
  /** A method and a path below `/_emulator`; `{name}` is a parameter. */
  readonly route: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`;
  readonly summary: string;
  readonly query?: Readonly<Record<string, Schema>>;
  /** The schema of the request body, if there is one. */
  readonly body?: Schema;
  /** The status of a successful response. Default: 200, or 204 without a response body. */
  readonly status?: number;
  readonly response?: Schema;
  /** Whether the operation responds with 404 if what it names does not exist. */
  readonly canMiss?: boolean;
}

export const text: Schema = { type: 'string' };
export const texts: Schema = arrayOf(text);
const number: Schema = { type: 'integer' };
export const members: Schema = { type: 'object' };

function arrayOf(items: Schema): Schema {
  return { type: 'array', items };
}

const served = objectOf(
  {
    id: number,
    time: { type: 'string', format: 'date-time' },
    method: text,
    host: text,
    path: text,
    provider: text,
    authorization: text,
    form: { type: 'array', items: { type: 'array', prefixItems: [text, text], minItems: 2, maxItems: 2 } },
    status: number,
    fault: text,
    response: {},
    tokens: { type: 'object', additionalProperties: objectOf({ header: members, claims: members }) },
  },
  ['id', 'time', 'method', 'host', 'path', 'form'],
);

const { password: _, ...shownUser } = userSchema['properties'] as Record<string, Schema>;
const user = objectOf({ ...shownUser, login: text, can_sign_in: { type: 'boolean' } }, ['login', 'can_sign_in']);
const client = objectOf(
  {
    client_id: text,
    provider: text,
    host: text,
    auth_methods: texts,
    redirect_uris: texts,
    audience: text,
    scopes: texts,
    roles: texts,
    claims: members,
    access_token_lifetime: number,
  },
  ['client_id', 'provider', 'auth_methods'],
);
const fault = objectOf({ faults: { type: 'array', items: faultSchema, maxItems: 100 } }, ['faults']);

const target: Readonly<Record<string, Schema>> = {
  provider: (clientSchema['properties'] as Record<string, Schema>)['provider'] ?? {},
  host: (clientSchema['properties'] as Record<string, Schema>)['host'] ?? {},
};
const given: Schema = { type: 'string', minLength: 1, maxLength: 16_384 };
export const name: Schema = { type: 'string', minLength: 1, maxLength: 4096 };

/** The status of a successful response. */
export function successStatus({ status, response }: Operation): number {
  return status ?? (response === undefined ? 204 : 200);
}

/** All operations, by id. */
export const operations = {
  getStatus: {
    route: 'GET /status',
    summary: 'What is emulated, and the URLs to use',
    response: objectOf(
      {
        url: text,
        faults: texts,
        providers: texts,
        issuers: arrayOf(
          objectOf(
            { profile: text, provider: text, loopback: text, production: text, jwks_uri: text, token_endpoint: text },
            ['profile', 'provider'],
          ),
        ),
        hosts: texts,
      },
      ['url', 'issuers', 'hosts'],
    ),
  },
  listRequests: {
    route: 'GET /requests',
    summary: 'List handled requests; with wait, as soon as there are enough of them',
    query: {
      after: { type: 'integer', minimum: 0, maximum: 2 ** 53 - 1, description: 'only requests with a greater id' },
      method: { ...name, description: 'only requests with this method' },
      host: { ...name, description: 'only requests to this real host' },
      path: { ...name, description: 'only requests to this path' },
      count: { type: 'integer', minimum: 1, maximum: 1000, description: 'how many requests to wait for; default: 1' },
      wait: { type: 'integer', minimum: 0, maximum: 60, description: 'seconds to wait at most; default: 0' },
    },
    response: objectOf({ requests: arrayOf(served) }, ['requests']),
  },
  clearRequests: { route: 'DELETE /requests', summary: 'Forget all handled requests' },
  listUsers: {
    route: 'GET /users',
    summary: 'List the users of all providers, without passwords',
    response: objectOf({ users: arrayOf(user) }, ['users']),
  },
  putUser: { route: 'PUT /users/{login}', summary: 'Add or replace a user', body: userSchema, response: user },
  deleteUser: { route: 'DELETE /users/{login}', summary: 'Remove a user', canMiss: true },
  listClients: {
    route: 'GET /clients',
    summary: 'List the clients, without secrets',
    response: objectOf({ clients: arrayOf(client) }, ['clients']),
  },
  addClient: {
    route: 'POST /clients',
    summary: 'Add a client, or another credential of an existing one',
    body: clientSchema,
    status: 201,
    response: client,
  },
  deleteClient: { route: 'DELETE /clients/{client_id}', summary: 'Remove a client from all providers', canMiss: true },
  issueToken: {
    route: 'POST /tokens',
    summary: 'Issue any token directly',
    body: objectOf({
      ...target,
      path: { type: 'string', pattern: '^/', maxLength: 4096, description: 'the path of the token endpoint' },
      type: { enum: ['access_token', 'id_token', 'refresh_token'], description: 'default: access_token' },
      urls: { enum: ['loopback', 'production'], description: 'whose issuer the token has; default: loopback' },
      client_id: name,
      user: { ...name, description: 'the login name; it need not be registered' },
      scope: { type: 'string', maxLength: 4096 },
      audience: name,
      nonce: name,
      expires_in: { type: 'integer', minimum: -3_155_760_000, maximum: 3_155_760_000 },
      claims: { type: 'object', description: 'claims to set; null removes a claim' },
      header: { type: 'object', description: 'header parameters to set; null removes one' },
    }),
    status: 201,
    response: objectOf({ token: text, type: text, header: members, claims: members, issuer: text }, ['token', 'type']),
  },
  inspectToken: {
    route: 'POST /tokens/inspect',
    summary: 'Decode a token and tell whether it is valid',
    body: objectOf({ token: given }, ['token']),
    response: objectOf(
      {
        format: { enum: ['jwt', 'opaque', 'refresh_token', 'unknown'] },
        status: { enum: ['active', 'expired', 'revoked', 'invalid_signature', 'unknown'] },
        provider: text,
        client_id: text,
        user: text,
        scope: text,
        header: members,
        claims: members,
      },
      ['format', 'status'],
    ),
  },
  revokeToken: {
    route: 'POST /tokens/revoke',
    summary: 'Revoke an access token or refresh token',
    body: objectOf({ token: given }, ['token']),
    canMiss: true,
  },
  expireTokens: {
    route: 'POST /tokens/expire',
    summary: 'Let all access tokens, or one token, expire now',
    body: objectOf({ token: given }),
    canMiss: true,
  },
  listFaults: {
    route: 'GET /faults',
    summary: 'List the faults that are injected, and all kinds of faults',
    response: objectOf({ faults: arrayOf(faultSchema), kinds: texts }, ['faults', 'kinds']),
  },
  setFaults: {
    route: 'PUT /faults',
    summary: 'Replace the faults; requests are counted from 1 again',
    body: fault,
    response: fault,
  },
  clearFaults: { route: 'DELETE /faults', summary: 'Inject no faults' },
  listKeys: {
    route: 'GET /keys',
    summary: 'The JSON Web Key Set',
    response: objectOf({ keys: arrayOf(members) }, ['keys']),
  },
  rotateKeys: {
    route: 'POST /keys/rotate',
    summary: 'Replace the signing key',
    body: objectOf({ publish_old: { type: 'boolean', description: 'leave the old key in the JWKS; default: false' } }),
    response: objectOf({ kid: text }, ['kid']),
  },
  reset: {
    route: 'POST /reset',
    summary: 'Return to the state after the start: users, clients, tokens, keys, faults and requests',
  },
} satisfies Record<string, Operation>;

/** The ids of all operations. */
export type OperationId = keyof typeof operations;
