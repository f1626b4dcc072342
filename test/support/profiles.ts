import { type DataObject, flatten } from '../../src/config/flatten.ts';
import type { ExternalSources } from '../../src/config/resolver.ts';
import { Variables } from '../../src/config/variables.ts';
import { InvalidProfileError, type ProfileIssue, ProviderError } from '../../src/errors.ts';
import { createProfileSources } from '../../src/files/profile-files.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { type ParsedToken, parseTokenResponse } from '../../src/oauth/token-response.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { type LoginProfile, toLoginProfile } from '../../src/profile/login-profile.ts';
import { type ParsedProfile, parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { catalogueTypes } from '../../src/providers/registry.ts';
import type { Secret } from '../../src/redaction/secret.ts';
import { createSources, sources } from './variables.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Values long enough to be found again wherever they turn up. */
export const secrets = {
  client_secret: 'Cl13nt~Secret/with+signs=',
  password: 'pass word & "quotes" <ü>',
  refresh_token: '0.AXEA-refresh_token.of~ada!',
} as const;

/** A complete profile of each type and grant, as a user would write it. */
export const samples = {
  microsoftPassword: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    client_id: '11111111-2222-3333-4444-555555555555',
    username: 'ada@contoso.com',
    password: secrets.password,
  },
  microsoftRefresh: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    client_id: '11111111-2222-3333-4444-555555555555',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  microsoftClient: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    grant_type: 'client_credentials',
    client_id: '11111111-2222-3333-4444-555555555555',
    client_secret: secrets.client_secret,
    scope: 'https://graph.microsoft.com/.default',
  },
  google: {
    type: 'google',
    client_id: '1234.apps.googleusercontent.com',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  oktaPassword: {
    type: 'okta',
    tenant_id: 'trial-1234567',
    client_id: '0oa1',
    client_secret: secrets.client_secret,
    username: 'ada',
    password: secrets.password,
    scope: 'openid',
  },
  oktaRefresh: {
    type: 'okta',
    tenant_id: 'trial-1234567',
    client_id: '0oa1',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  gitlabPassword: { type: 'gitlab', username: 'ada', password: secrets.password },
  gitlabRefresh: {
    type: 'gitlab',
    client_id: 'gitlab-app',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  twitter: { type: 'twitter', client_id: 'xKey', client_secret: secrets.client_secret },
  custom: {
    type: 'custom',
    url: 'https://id.example.com/token',
    grant_type: 'client_credentials',
    client_id: 'me',
    client_secret: secrets.client_secret,
  },
} as const satisfies Record<string, DataObject>;

/** Profiles that users can log in to. */
export const loginProfiles = {
  microsoft: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read' },
  google: { type: 'google', client_id: 'desktop', client_secret: 'GOCSPX-secret', scope: 'email' },
  okta: { type: 'okta', tenant_id: 'acme', client_id: '0oa1', client_secret: 'okta-secret', scope: 'openid' },
} as const;

/** Fields of the token URLs in the catalogue, and others that a login needs. */
const catalogueFields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  auth0: { domain: 'acme.eu.auth0.com' },
  cognito: { prefix: 'acme', region: 'eu-central-1' },
  keycloak: { host: 'sso.example.com', realm: 'demo' },
  shopify: { shop: 'acme' },
};

/** A profile for a login of each type of the catalogue. */
export const catalogueProfiles: readonly (readonly [string, Readonly<Record<string, string>>])[] = catalogueTypes.map(
  (type) => [
    type,
    { type, client_id: 'app', client_secret: 'app-secret-1', scope: 'read write', ...catalogueFields[type] },
  ],
);

/** The variables of one profile. */
export function variablesWith(name: string, fields: Fields): Variables {
  return new Variables().add(flatten({ [name]: fields }, 'data'), sources.given);
}

/** A parsed profile, which is not completed with a stored login yet. */
export function parsedProfileOf(name: string, fields: Fields): ParsedProfile {
  return parseProfile(name, variablesWith(name, fields), createProfileSources({ env: {}, cwd: '/' }));
}

/** The profile `svc` with these fields and without a stored login. */
export function profileOf(fields: Fields): Profile {
  return completeProfile(parsedProfileOf('svc', fields));
}

/** The profile `svc` with these fields, for a login. */
export function loginProfileOf(fields: Fields): LoginProfile {
  return toLoginProfile(parsedProfileOf('svc', fields));
}

/** The profile `acme` with these fields. */
export function readAcme(fields: DataObject, external: ExternalSources = createSources()): Profile {
  return readProfile('acme', variablesWith('acme', fields), external);
}

/** Parses and completes a profile for which no login is stored. */
export function readProfile(name: string, variables: Variables, external: ExternalSources): Profile {
  return completeProfile(parseProfile(name, variables, external));
}

/** The error of an invalid profile. Each of its issues must say what is wrong and what to do. */
export function invalidProfileError(read: () => unknown): InvalidProfileError {
  try {
    read();
  } catch (error) {
    if (!(error instanceof InvalidProfileError)) throw error;
    for (const { message, hint } of error.issues) {
      if (message === '' || !hint) throw new Error('an issue has no message or no hint', { cause: error });
    }
    return error;
  }
  throw new Error('the profile is valid');
}

/** The issues of an invalid profile. */
export function issuesOf(read: () => unknown): readonly ProfileIssue[] {
  return invalidProfileError(read).issues;
}

/** The names of the variables of the profile `acme` that have issues. */
export function invalidVariables(fields: DataObject, sources?: ExternalSources): string[] {
  return issuesOf(() => readAcme(fields, sources)).map(({ variable }) => variable);
}

/** A request as a server decodes it. */
export interface DecodedRequest {
  readonly url: string;
  readonly form: readonly (readonly [name: string, value: string])[];
  /** Username and password of the Basic header, decoded. */
  readonly basic: readonly [user: string, password: string] | undefined;
}

/** Decodes the token request of a profile as a server does. */
export function decodeRequest(profile: Profile): DecodedRequest {
  const request = buildTokenRequest(profile, '1.2.3');
  return {
    url: request.url.href,
    form: [...new URLSearchParams(encodeForm(request))],
    basic: decodeBasic(reveal(request.headers['Authorization'])),
  };
}

/** A request of a login as a server receives it, with its form as an object. */
export function toWire(profile: Profile) {
  const request = buildTokenRequest(profile, '1');
  return {
    url: request.url.href,
    form: Object.fromEntries(new URLSearchParams(encodeForm(request))),
    authorization: reveal(request.headers['Authorization']),
  };
}

/** The plaintext of a header or field. */
export function reveal(value: string | Secret | undefined): string | undefined {
  return typeof value === 'object' ? value.reveal() : value;
}

/** Decodes a Basic header as RFC 6749 §2.3.1 requires of a server. */
export function decodeBasic(header: string | undefined): [string, string] | undefined {
  if (header === undefined) return undefined;
  const text = Buffer.from(/^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(header)?.[1] ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return [decodeURIComponent(text.slice(0, colon)), decodeURIComponent(text.slice(colon + 1))];
}

/** When every sample response is received, in epoch milliseconds. */
export const RECEIVED_AT = Date.UTC(2030, 0, 1);

/** A response whose body is a string as it is, or an object as JSON. */
export function createResponse(status: number, body: unknown, headers: HttpResponse['headers'] = {}): HttpResponse {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** Parses a response to the token request of a profile; throws the error that a user gets. */
export function parseResponse(profile: Profile, response: HttpResponse): ParsedToken {
  const request = buildTokenRequest(profile, '1.2.3');
  return parseTokenResponse({ profile, request, response, receivedAt: RECEIVED_AT });
}

/** The error for a response to the token request of a profile. */
export function providerErrorFor(profile: Profile, response: HttpResponse): ProviderError {
  try {
    parseResponse(profile, response);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.message === '' || error.hint === '') throw new Error('an error has no message', { cause: error });
    return error;
  }
  throw new Error('the response contains a token');
}
