import { type DataObject, flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { readYaml } from '../../src/config/yaml.ts';
import { InvalidProfileError, type ProfileIssue, ProviderError } from '../../src/errors.ts';
import { toTokenResponseError } from '../../src/oauth/explain-response.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { type ParsedToken, parseTokenResponse } from '../../src/oauth/token-response.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { type ProfileSources, parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import type { Secret } from '../../src/redaction/secret.ts';

const source = { label: 'data', directory: '', trust: 'given' } as const;

/** An outside world of the given files and environment variables, and nothing else. */
export function outsideWith(files: Record<string, string> = {}, env: Record<string, string> = {}): ProfileSources {
  return { env: (name) => env[name], readFileInside: (path) => files[path], readOptionFile: (path) => files[path] };
}

/** The profile `acme` with these fields. */
export function readAcme(fields: DataObject, outside: ProfileSources = outsideWith()): Profile {
  return readProfile('acme', new Variables().add(flatten({ acme: fields }, 'data'), source), outside);
}

/** The profile `name` from a file of variables. */
export function readFromYaml(name: string, text: string, outside: ProfileSources = outsideWith()): Profile {
  const label = 'profiles.yaml';
  return readProfile(name, new Variables().add(readYaml(text, label), { ...source, label }), outside);
}

/** Parses and completes a profile for which no login is stored. */
export function readProfile(name: string, variables: Variables, sources: ProfileSources): Profile {
  return completeProfile(parseProfile(name, variables, sources));
}

/** Everything that is wrong with the profile that `read` reads. */
export function faultsOf(read: () => Profile): readonly ProfileIssue[] {
  try {
    read();
  } catch (error) {
    if (error instanceof InvalidProfileError) return error.issues;
    throw error;
  }
  throw new Error('the profile has no issues');
}

/** The names of the variables at fault in the profile `acme`. */
export function faultyIn(fields: DataObject, outside?: ProfileSources): string[] {
  return faultsOf(() => readAcme(fields, outside)).map(({ variable }) => variable);
}

/** A request as a server sees it. */
export interface SeenRequest {
  readonly url: string;
  readonly form: readonly (readonly [name: string, value: string])[];
  /** User and password of the Basic header, as they were before the header was made. */
  readonly basic: readonly [user: string, password: string] | undefined;
}

/** What a server would see of the request of `profile`. */
export function seen(profile: Profile): SeenRequest {
  const request = buildTokenRequest(profile, '1.2.3');
  return {
    url: request.url.href,
    form: [...new URLSearchParams(encodeForm(request))],
    basic: decodeBasic(clear(request.headers['Authorization'])),
  };
}

/** The text of a header or field, secret or not. */
export function clear(value: string | Secret | undefined): string | undefined {
  return typeof value === 'object' ? value.reveal() : value;
}

/** Decodes a Basic header as RFC 6749 §2.3.1 asks a server to. */
export function decodeBasic(header: string | undefined): [string, string] | undefined {
  if (header === undefined) return undefined;
  const text = Buffer.from(/^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(header)?.[1] ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return [decodeURIComponent(text.slice(0, colon)), decodeURIComponent(text.slice(colon + 1))];
}

/** When every sample reply is received. */
export const RECEIVED_AT = Date.UTC(2030, 0, 1);

/** A reply whose body is text as it is, or an object as JSON. */
export function replyWith(status: number, body: unknown, headers: HttpResponse['headers'] = {}): HttpResponse {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** What the product makes of a reply to the request of `profile`. */
export function receive(profile: Profile, reply: HttpResponse): ParsedToken {
  const found = parseTokenResponse(profile, reply, RECEIVED_AT);
  if (found !== undefined) return found;
  throw toTokenResponseError(profile, buildTokenRequest(profile, '1.2.3'), reply, RECEIVED_AT);
}

/** The error that a reply to the request of `profile` leads to. */
export function refusalOf(profile: Profile, reply: HttpResponse): ProviderError {
  try {
    receive(profile, reply);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error('the reply was taken for a token');
}
