import { faultKinds } from './faults.ts';
import { signingAlgorithms } from './tokens/signing-keys.ts';

/** A JSON Schema (2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

const string = (description: string): Schema => ({ type: 'string', minLength: 1, maxLength: 4096, description });
const strings = (description: string): Schema => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 4096 },
  maxItems: 1000,
  description,
});
const duration = (description: string): Schema => ({
  oneOf: [
    { type: 'integer', minimum: 1, maximum: 3_155_760_000 },
    { type: 'string', pattern: '^[1-9][0-9]{0,8}[smhd]?$' },
  ],
  description: `${description}: seconds, or a string such as 90s, 5m, 1h or 30d`,
});
const claims: Schema = { type: 'object', description: 'claims that the tokens have in addition' };

/** An object schema that allows only these members. */
export function objectOf(properties: Record<string, Schema>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}

const providerNames = ['microsoft', 'google', 'okta', 'gitlab', 'twitter', 'custom'];

/** A user. */
export const userSchema = objectOf({
  password: string('the password; a user without one cannot sign in'),
  sub: string('the subject in id tokens; default: as the provider forms it'),
  name: string('the full name'),
  given_name: string('the first name'),
  family_name: string('the last name'),
  email: string('the e-mail address; default: the login name'),
  groups: strings('names of groups, for the claim groups'),
  roles: strings('names of roles, for the claim roles'),
  claims,
});

/** A client. */
export const clientSchema = objectOf(
  {
    client_id: string('the client id'),
    provider: { enum: providerNames, description: 'the provider; default: the one that has the host, or custom' },
    host: {
      type: 'string',
      pattern: '^(?:[A-Za-z0-9.-]{1,253}|\\[[0-9a-fA-F:.]{2,45}\\])(?::[0-9]{1,5})?$',
      description: 'the real host, such as acme.okta.com; default: the usual host of the provider',
    },
    client_secret: string('the secret; without it and without a public key, the client is public'),
    auth_method: {
      enum: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
      description: 'the registered authentication method',
    },
    public_key: string('PEM or JWK that verifies client assertions'),
    redirect_uris: strings('accepted redirect URIs; default: https and loopback'),
    audience: string('the audience of access tokens'),
    scopes: strings('scopes that the client may request; default: all'),
    roles: strings('application roles, in tokens without a user'),
    claims,
    access_token_lifetime: duration('lifetime of access tokens'),
  },
  ['client_id'],
);

const providerSchema = objectOf({
  access_token_lifetime: duration('lifetime of access tokens'),
  id_token_lifetime: duration('lifetime of id tokens'),
  refresh_token_lifetime: duration('lifetime of refresh tokens'),
  refresh_token_rotation: { type: 'boolean', description: 'whether a refresh returns a new refresh token' },
  refresh_token_reuse: {
    enum: ['allowed', 'rejected', 'revokes_family'],
    description: 'what happens when a refresh token is used again',
  },
  refresh_token_grace: duration('how long a used refresh token is still accepted'),
  audience: string('the audience of access tokens'),
  access_token_format: { enum: ['jwt', 'opaque'], description: 'the format of access tokens' },
});

const stubSchema = objectOf(
  {
    method: { type: 'string', pattern: '^[A-Z]{1,20}$', description: 'the method; default: GET' },
    path: {
      type: 'string',
      pattern: '^/',
      maxLength: 4096,
      description: 'the exact path; * stands for any characters',
    },
    status: { type: 'integer', minimum: 200, maximum: 599, description: 'the status; default: 200' },
    headers: {
      type: 'object',
      propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$" },
      additionalProperties: { type: 'string', pattern: '^[\\t\\x20-\\x7e\\xa0-\\xff]*$', maxLength: 4096 },
      description: 'headers',
    },
    body: { description: 'a string, or any other value, which is sent as JSON' },
    file: string('a file with the body, inside the directory of the configuration'),
  },
  ['path'],
);

/** A fault. */
export const faultSchema = objectOf(
  {
    kind: { enum: faultKinds, description: 'the fault' },
    at: { type: 'integer', minimum: 1, maximum: 999_999_999, description: 'only the request with this number' },
  },
  ['kind'],
);

/** The content of `emulator.yaml`. */
export const configSchema = objectOf({
  port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'the port on 127.0.0.1' },
  users: { type: 'object', additionalProperties: userSchema, description: 'users by login name' },
  clients: { type: 'array', items: clientSchema, description: 'clients in addition to those of the profiles' },
  providers: {
    type: 'object',
    properties: Object.fromEntries(providerNames.map((name) => [name, providerSchema])),
    additionalProperties: false,
    description: 'settings of providers',
  },
  hosts: {
    type: 'object',
    additionalProperties: { type: 'array', items: stubSchema },
    description: 'stub responses by host',
  },
  signing: objectOf({
    alg: { enum: signingAlgorithms, description: 'the algorithm of signatures; default: RS256' },
    key_file: string('a file with a fixed private key, PEM or JWK'),
    key: string('a fixed private key, PEM or JWK'),
  }),
  faults: { type: 'array', items: faultSchema, description: 'faults to inject' },
  allow: strings('origins that clients may reach directly'),
  control: { type: 'boolean', description: 'whether the control API and the console are available; default: true' },
});

type Validate = (value: unknown) => string[];

const validators = new Map<Schema, Promise<Validate>>();

/** Returns the issues of a value, one sentence each. Ajv is loaded with the first value. */
export async function findIssues(schema: Schema, value: unknown): Promise<string[]> {
  const validate = validators.get(schema) ?? compile(schema);
  validators.set(schema, validate);
  return (await validate)(value);
}

async function compile(schema: Schema): Promise<Validate> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  // The schemas are constants, so they are not validated themselves, which would take a third of the time.
  const validate = new Ajv2020({ allErrors: true, strict: false, meta: false, validateSchema: false }).compile(schema);
  return (value) => {
    if (validate(value)) return [];
    // The single error `oneOf` stands for the errors of all alternatives.
    const errors = (validate.errors ?? []).filter(({ schemaPath }) => !schemaPath.includes('/oneOf/'));
    const issues = errors.map(({ instancePath, message, params, keyword }) => {
      const path = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
      const { additionalProperty, allowedValues } = params as { additionalProperty?: string; allowedValues?: string[] };
      if (additionalProperty !== undefined) return `${[path, additionalProperty].filter(Boolean).join('.')} is unknown`;
      if (allowedValues !== undefined) return `${path} must be one of ${allowedValues.join(', ')}`;
      return keyword === 'oneOf' ? `${path} is not a duration` : `${path || 'the value'} ${message}`;
    });
    return [...new Set(issues)];
  };
}
