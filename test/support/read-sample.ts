import { type DataObject, flatten } from '../../src/config/flatten.ts';
import type { ExternalSources } from '../../src/config/resolver.ts';
import { Variables } from '../../src/config/variables.ts';
import { readYaml } from '../../src/config/yaml.ts';
import { InvalidProfileError, type ProfileIssue, ProviderError } from '../../src/errors.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { type ParsedToken, parseTokenResponse } from '../../src/oauth/token-response.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import type { Secret } from '../../src/redaction/secret.ts';

const source = { label: 'data', directory: '', trust: 'given' } as const;

/** External sources with these files and environment variables only. */
export function createSources(files: Record<string, string> = {}, env: Record<string, string> = {}): ExternalSources {
  return { env: (name) => env[name], readFileInside: (path) => files[path] };
}

/** The profile `acme` with these fields. */
export function readAcme(fields: DataObject, sources: ExternalSources = createSources()): Profile {
  return readProfile('acme', new Variables().add(flatten({ acme: fields }, 'data'), source), sources);
}

/** The profile `name` from a YAML file. */
export function readFromYaml(name: string, text: string, sources: ExternalSources = createSources()): Profile {
  const label = 'profiles.yaml';
  return readProfile(name, new Variables().add(readYaml(text, label), { ...source, label }), sources);
}

/** Parses and completes a profile for which no login is stored. */
export function readProfile(name: string, variables: Variables, sources: ExternalSources): Profile {
  return completeProfile(parseProfile(name, variables, sources));
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
