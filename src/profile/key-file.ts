import { Secret } from '../redaction/secret.ts';
import {
  type AssertionSource,
  type Field,
  type Impersonation,
  JWT_BEARER,
  LoadedFile,
  METADATA_HOST,
  type ProfileOptions,
  TOKEN_EXCHANGE,
} from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { isSecure, parseStrictUrl } from './url.ts';

/** Google accepts assertions of up to one hour; so do its libraries. */
const LIFETIME_MS = 3_600_000;

/**
 * Reads the settings in a key file of Google. They become fields and options of the profile, unless it sets them itself. Any other key file
 * contains only a key, and the options are returned unchanged.
 */
export function applyKeyFile(draft: ProfileDraft, options: ProfileOptions): ProfileOptions {
  const file = options.key;
  if (file === undefined || !file.text.trimStart().startsWith('{')) return options;
  const content = parseObject(file.text);
  if (content?.['type'] === 'service_account') return applyServiceAccount(draft, options, file, content);
  if (content?.['type'] === 'external_account') return applyExternalAccount(draft, options, file, content);
  return options;
}

/** https://developers.google.com/identity/protocols/oauth2/service-account#authorizingrequests */
function applyServiceAccount(
  draft: ProfileDraft,
  options: ProfileOptions,
  file: LoadedFile,
  content: Readonly<Record<string, unknown>>,
): ProfileOptions {
  const members = readStrings(content, ['client_email', 'private_key', 'token_uri']);
  if (members === undefined) {
    draft.addIssue(
      'options.key_file',
      'is a service account file without client_email, private_key or token_uri',
      'create a new key: Google Cloud console, IAM & Admin, Service Accounts, Keys',
    );
    return options;
  }
  const { client_email: issuer, private_key: key, token_uri: tokenUrl } = members;
  const keyId = readStrings(content, ['private_key_id'])?.private_key_id;
  addField(draft, 'url', tokenUrl, file);
  addField(draft, 'grant_type', JWT_BEARER, file);
  const own = options.assertion.claims;
  const hasOwn = (name: string): boolean => own.some((claim) => claim.name === name);
  const claims: Field[] = [...own];
  if (!hasOwn('iss')) claims.push({ name: 'iss', value: issuer, source: file.path });
  if (!hasOwn('aud')) claims.push({ name: 'aud', value: options.audience ?? tokenUrl, source: file.path });
  // Google reads the scope from the assertion only.
  const scope = draft.fields.get('scope');
  if (scope !== undefined && draft.getText('grant_type') === JWT_BEARER) {
    draft.fields.delete('scope');
    if (!hasOwn('scope') && scope.value !== '') claims.push(scope);
  }
  if (!claims.some(({ name }) => name === 'scope' || name === 'target_audience') && !draft.hasIssue('scope')) {
    const hint = `set ${draft.name}.scope, or ${draft.name}.options.assertion.target_audience for an ID token`;
    draft.addIssue('scope', 'is missing (required for a service account)', hint);
  }
  const isIdToken = hasOwn('target_audience');
  return {
    ...options,
    key: new LoadedFile(file.path, key),
    keyId: options.keyId ?? keyId,
    assertion: { claims, lifetimeMs: options.assertion.lifetimeMs ?? LIFETIME_MS, omitsId: true },
    // The response to a request for an ID token has no other member. Google's ID tokens are valid for one hour.
    tokenPath: options.tokenPath ?? (isIdToken ? ['id_token'] : undefined),
    defaultTtlMs: options.defaultTtlMs ?? (isIdToken ? LIFETIME_MS : undefined),
  };
}

/** The scope of the exchanged token, with which a service account is impersonated. */
const CLOUD_PLATFORM = 'https://www.googleapis.com/auth/cloud-platform';

/** https://google.aip.dev/auth/4117 */
function applyExternalAccount(
  draft: ProfileDraft,
  options: ProfileOptions,
  file: LoadedFile,
  content: Readonly<Record<string, unknown>>,
): ProfileOptions {
  const members = readStrings(content, ['audience', 'subject_token_type', 'token_url']);
  const source = options.assertionSource ?? (members && parseCredentialSource(draft, content, members));
  if (members === undefined || source === undefined) {
    draft.addIssue(
      'options.key_file',
      'is an external account file without audience, subject_token_type, token_url or a usable credential_source',
      'the credential_source must have a file, a url with https:, an executable or the environment aws1; or set options.assertion_source',
    );
    return options;
  }
  const { audience, subject_token_type: type, token_url: tokenUrl } = members;
  addField(draft, 'url', tokenUrl, file);
  addField(draft, 'grant_type', TOKEN_EXCHANGE, file);
  addField(draft, 'audience', audience, file);
  addField(draft, 'requested_token_type', 'urn:ietf:params:oauth:token-type:access_token', file);
  addField(draft, 'subject_token_type', type, file);
  const client = readStrings(content, ['client_id', 'client_secret']);
  if (client !== undefined) {
    const { client_id: user, client_secret: password } = client;
    draft.basic.set('basic.user', { name: 'basic.user', value: user, source: file.path });
    draft.basic.set('basic.password', { name: 'basic.password', value: new Secret(password), source: file.path });
  }
  const impersonation = parseImpersonation(draft, options.allowHttp, content);
  if (impersonation !== undefined) {
    draft.fields.delete('scope');
    draft.addNote(`the token of this request is then exchanged at ${impersonation.url.href}`);
  }
  addField(draft, 'scope', CLOUD_PLATFORM, file);
  // The audience that Google expects of the other issuer, unless the pool is configured otherwise.
  const sourceAudience = options.audience ?? `https:${audience}`;
  return { ...options, key: undefined, assertionSource: source, impersonation, audience: sourceAudience };
}

function parseImpersonation(
  draft: ProfileDraft,
  allowHttp: boolean,
  {
    service_account_impersonation_url: text,
    service_account_impersonation: settings,
  }: Readonly<Record<string, unknown>>,
): Impersonation | undefined {
  if (typeof text !== 'string') return undefined;
  const url = parseStrictUrl(text);
  if (typeof url === 'string' || !(allowHttp || isSecure(url))) {
    draft.addIssue(
      'options.key_file',
      'has a service_account_impersonation_url that is not https',
      'create the file again',
    );
    return undefined;
  }
  const seconds = Number((settings as Record<string, unknown> | undefined)?.['token_lifetime_seconds'] ?? 3600);
  const scope = (draft.getText('scope') ?? CLOUD_PLATFORM).split(/\s+/);
  return { url, scope, lifetimeSeconds: seconds };
}

type Members = Readonly<Record<string, unknown>>;

function parseCredentialSource(
  draft: ProfileDraft,
  content: Members,
  { audience, subject_token_type: type }: Readonly<Record<'audience' | 'subject_token_type', string>>,
): AssertionSource | undefined {
  const location = draft.options.get('key_file')?.variable.source;
  const credential = content['credential_source'];
  if (typeof credential !== 'object' || credential === null || location === undefined) return undefined;
  const { file, url: text, headers, format, executable, environment_id: environment } = credential as Members;
  if (environment === 'aws1') {
    const settings = onlyStrings(credential);
    const isUsable = AWS_URLS.every((name) => settings[name] === undefined || isMetadataUrl(settings[name]));
    const { regional_cred_verification_url: target = '' } = settings;
    return isUsable && /^https:/.test(target) ? { kind: 'aws', value: audience, location, settings } : undefined;
  }
  const { command, timeout_millis: limit = 30_000, output_file: output } = (executable ?? {}) as Members;
  if (typeof command === 'string') {
    const impersonated = /serviceAccounts\/([^:/]+):/.exec(String(content['service_account_impersonation_url']))?.[1];
    const settings = onlyStrings({
      timeout_millis: String(limit),
      GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE: audience,
      GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE: type,
      GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL: impersonated,
      GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE: output,
    });
    return { kind: 'executable', value: command, location, settings };
  }
  const { type: kind, subject_token_field_name: name } = (format ?? {}) as Members;
  const member = kind === 'json' && typeof name === 'string' ? name : undefined;
  if (typeof file === 'string') return { kind: 'file', value: file, location, member };
  if (typeof text !== 'string' || !isMetadataUrl(text)) return undefined;
  const own = Object.entries(headers ?? {}).map(([header, value]) => [header, new Secret(String(value))] as const);
  return { kind: 'url', value: text, location, member, headers: Object.fromEntries(own) };
}

/** The URLs of the metadata service in a credential source for AWS. */
const AWS_URLS = ['region_url', 'url', 'imdsv2_session_token_url'] as const;

/** Whether credentials may be read from a URL: https, this machine, or the metadata service of a cloud. */
function isMetadataUrl(text: string): boolean {
  const url = parseStrictUrl(text);
  return url instanceof URL && (isSecure(url) || [METADATA_HOST, '[fd00:ec2::254]'].includes(url.hostname));
}

/** The members with these names; `undefined` unless all are strings. */
function readStrings<N extends string>(content: Members, names: readonly N[]): Readonly<Record<N, string>> | undefined {
  return names.every((name) => typeof content[name] === 'string') ? (content as Record<N, string>) : undefined;
}

function onlyStrings(members: object): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === 'string'));
}

function addField(draft: ProfileDraft, name: string, value: string, { path }: LoadedFile): void {
  if (!draft.has(name) && !draft.hasIssue(name)) draft.fields.set(name, { name, value, source: path });
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    // An invalid file is reported when it is used as a key.
    return undefined;
  }
}
