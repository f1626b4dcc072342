import { parsePath } from '../config/reference.ts';
import { closestMatch } from '../config/suggestions.ts';
import { isCollection, isEmpty, toText } from '../config/value.ts';
import type { Source } from '../config/variables.ts';
import type { ClientAuth, Provider, RefreshTokenReuse } from '../providers/provider.ts';
import { isLoopback } from './loopback.ts';
import { LoadedFile, type ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { InvalidUrlError, parseStrictUrl } from './strict-url.ts';

/** The options of a profile and the two that decide how it is read. */
export interface ParsedOptions {
  readonly options: ProfileOptions;
  readonly clientAuth: ClientAuth | undefined;
  readonly allowHttp: boolean;
}

const clientAuths = [
  'client_secret_post',
  'client_secret_basic',
  'client_secret_basic_raw',
  'none',
  'private_key_jwt',
] as const satisfies ClientAuth[];
const reuseValues = ['allowed', 'grace', 'rejected', 'revokes_family'] as const satisfies RefreshTokenReuse[];

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MIN_TTL_MS = 60_000;
const DEFAULT_GRACE_MS = 30_000;

/** Every option, with one sentence for a person. */
export const optionNames: Readonly<Record<string, string>> = {
  timeout: 'total time for a token, retries included (30s)',
  client_auth: `how the client authenticates: ${clientAuths.join(', ')}`,
  key_file: 'private key for private_key_jwt, PEM or JWK',
  key_id: 'the key id (kid) that private_key_jwt names',
  audience: 'the audience (aud) of private_key_jwt; the token URL unless set',
  token_path: 'where the access token is in the reply, such as data.token',
  allow_http: 'true: send secrets without TLS beyond this machine',
  ca_file: 'certificates to trust beside those of the system, PEM',
  cert_file: 'client certificate for mutual TLS, PEM',
  cert_key_file: 'private key of the client certificate, PEM',
  reuse: 'true: a token that is still fresh is handed out again',
  min_ttl: 'a token with no more time left than this is not fresh (60s)',
  default_ttl: 'how long a token lives whose response does not say, such as 1h',
  authorize_origin:
    'the origin that ws.oauthProfile sets the header Authorization for, such as https://graph.microsoft.com',
  refresh_token_reuse: `what the provider does with a refresh token used twice: ${reuseValues.join(', ')}`,
  grace: 'how long a used refresh token is accepted again (30s)',
  authorization_url: 'the page where login signs a person in (authorization endpoint)',
  device_authorization_url: 'where login gets a code for a person to enter elsewhere (device authorization endpoint)',
  redirect_uri: 'where the browser comes back to after a login, on this machine: http://127.0.0.1:8912/callback',
};

/** Reads the files that options name; `readText` keeps to the folder where the source is bound to it. */
interface OptionFiles {
  readOptionFile(path: string, source: Source): string | undefined;
  readFileInside(path: string, source: Source): string | undefined;
}

/** Checks the options of a profile. */
export function parseOptions(draft: ProfileDraft, provider: Provider | undefined, files: OptionFiles): ParsedOptions {
  if (draft.options.size > 0) refuseUnknown(draft);
  const read = <T>(
    name: string,
    form: string | readonly string[],
    parse: (text: string, source: Source) => T | undefined,
  ): T | undefined => {
    const option = draft.options.get(name);
    if (option === undefined || isEmpty(option.value)) return undefined;
    const text = isCollection(option.value) ? undefined : toText(option.value);
    const parsed = typeof text === 'string' ? parse(text, option.variable.source) : undefined;
    if (parsed === undefined) {
      const wanted = typeof form === 'string' ? form : `one of ${form.join(', ')}`;
      draft.addIssue(`options.${name}`, `is not ${wanted}`, `set it to ${wanted}, or remove it`);
    }
    return parsed;
  };
  const text = (name: string) => read(name, 'a text', (value) => value);
  const duration = (name: string) => read(name, 'a time such as 30s, 500ms or 2m', parseDuration);
  const choice = <T extends string>(name: string, of: readonly T[]) =>
    read(name, of, (value) => of.find((one) => one === value));
  const file = (name: string): LoadedFile | undefined =>
    read(name, 'a file that can be read', (path, source) => {
      const content = files.readOptionFile(path, source);
      return content === undefined ? undefined : new LoadedFile(path, content);
    });
  // A key that signs for whatever address a stranger's folder names would be as good as lost.
  const keyFile = (name: string): LoadedFile | undefined => {
    const foreign = draft.options.get(name)?.variable.source.trust === 'directory';
    return read(name, `a key file that can be read${foreign ? ', inside the folder' : ''}`, (path, source) => {
      try {
        const content = files.readFileInside(path, source);
        return content === undefined ? undefined : new LoadedFile(path, content);
      } catch {
        return undefined;
      }
    });
  };
  const reuse = choice('reuse', ['true', 'false']);
  const allowHttp = choice('allow_http', ['true', 'false']) === 'true';
  const endpoint = (name: string) =>
    read(name, 'a complete https:// address', (value) => parseEndpoint(value, allowHttp));
  const options: ProfileOptions = {
    timeoutMs: duration('timeout') ?? DEFAULT_TIMEOUT_MS,
    tokenPath: read('token_path', 'a path such as data.token', parseTokenPath),
    refreshTokenReuse: choice('refresh_token_reuse', reuseValues) ?? provider?.refreshTokenReuse ?? 'revokes_family',
    graceMs: duration('grace') ?? provider?.graceMs ?? DEFAULT_GRACE_MS,
    reuse: reuse === undefined ? undefined : reuse === 'true',
    minTtlMs: duration('min_ttl') ?? DEFAULT_MIN_TTL_MS,
    defaultTtlMs: duration('default_ttl') ?? provider?.defaultLifetimeMs,
    authorizeOrigin: read('authorize_origin', 'the origin of an API such as https://graph.microsoft.com', parseOrigin),
    authorizationUrl: endpoint('authorization_url'),
    deviceAuthorizationUrl: endpoint('device_authorization_url'),
    redirectUri: read(
      'redirect_uri',
      'an http:// address of this machine without a query, such as http://127.0.0.1:8912/callback',
      parseRedirect,
    ),
    audience: text('audience'),
    keyId: text('key_id'),
    key: keyFile('key_file'),
    ca: file('ca_file'),
    cert: keyFile('cert_file'),
    certKey: keyFile('cert_key_file'),
  };
  checkCertificate(draft, options);
  return {
    clientAuth: choice('client_auth', clientAuths),
    allowHttp,
    options,
  };
}

function refuseUnknown(draft: ProfileDraft): void {
  const known = Object.keys(optionNames);
  for (const name of draft.options.keys()) {
    if (known.includes(name)) continue;
    const near = closestMatch(name, known);
    const hint = near === undefined ? `options are ${known.join(', ')}` : `did you mean ${draft.name}.options.${near}?`;
    draft.addIssue(`options.${name}`, 'is not an option', hint);
  }
}

/** A client certificate and its key come together, in two files or in one. */
function checkCertificate(draft: ProfileDraft, { cert }: ProfileOptions): void {
  if (draft.hasOption('cert_key_file') && !draft.hasOption('cert_file')) {
    draft.addIssue('options.cert_key_file', 'has no certificate beside it', `set ${draft.name}.options.cert_file too`);
  }
  if (cert !== undefined && !draft.hasOption('cert_key_file') && !cert.text.includes('PRIVATE KEY-----')) {
    draft.addIssue('options.cert_file', 'has no private key in it', `set ${draft.name}.options.cert_key_file too`);
  }
}

/** `30`, `30s`, `500ms`, `5m`, `1h` in milliseconds; a bare number counts seconds. */
export function parseDuration(text: string): number | undefined {
  const found = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text);
  if (found === null) return undefined;
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[found[2] ?? 's'] ?? 1000;
  const ms = Number(found[1]) * unit;
  // Timers cannot wait longer than 2^31 ms.
  return ms >= 1 && ms < 2 ** 31 ? ms : undefined;
}

/** Scheme, host and port alone; without TLS only this machine. */
function parseOrigin(text: string): string | undefined {
  const { origin, href, protocol, hostname } = parseUrl(text) ?? {};
  return href === `${origin}/` && (protocol === 'https:' || isLoopback(hostname ?? '')) ? origin : undefined;
}

/** Without TLS only this machine, unless the network is the user's own. */
function parseEndpoint(text: string, allowHttp: boolean): URL | undefined {
  const url = parseUrl(text);
  return url !== undefined && (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) ? url : undefined;
}

/** A browser brings the code there, so it may be nowhere else (RFC 8252 §7.3). */
function parseRedirect(text: string): string | undefined {
  const url = parseUrl(text);
  return url?.protocol === 'http:' && isLoopback(url.hostname) && !text.includes('?') ? text : undefined;
}

function parseUrl(text: string): URL | undefined {
  try {
    return parseStrictUrl(text);
  } catch (error) {
    if (error instanceof InvalidUrlError) return undefined;
    throw error;
  }
}

function parseTokenPath(text: string): readonly (string | number)[] | undefined {
  try {
    return parsePath(text);
  } catch {
    return undefined;
  }
}
