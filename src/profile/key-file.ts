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
  const { client_email: issuer, token_uri: tokenUrl, private_key: key, private_key_id: keyId } = content;
  if (typeof issuer !== 'string' || typeof key !== 'string' || typeof tokenUrl !== 'string') {
    draft.addIssue(
      'options.key_file',
      'is a service account file without client_email, private_key or token_uri',
      'create a new key: Google Cloud console, IAM & Admin, Service Accounts, Keys',
    );
    return options;
  }
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
    keyId: options.keyId ?? (typeof keyId === 'string' ? keyId : undefined),
    assertion: { claims, lifetimeMs: options.assertion.lifetimeMs ?? LIFETIME_MS, omitsId: true },
    // The response to a request for an ID token has no other member. Google's ID tokens are valid for one hour.
    tokenPath: options.tokenPath ?? (isIdToken ? ['id_token'] : undefined),
    defaultTtlMs: options.defaultTtlMs ?? (isIdToken ? LIFETIME_MS : undefined),
  };
}

/** The scope of the exchanged token, with which a service account is impersonated. */
const CLOUD_PLATFORM = 'https://www.googleapis.com/auth/cloud-platform';

/** https://google.aip.dev/auth/4117. AWS and executable sources are not supported. */
function applyExternalAccount(
  draft: ProfileDraft,
  options: ProfileOptions,
  file: LoadedFile,
  content: Readonly<Record<string, unknown>>,
): ProfileOptions {
  const { audience, subject_token_type: type, token_url: tokenUrl, credential_source: credential } = content;
  const source = options.assertionSource ?? parseCredentialSource(draft, credential);
  if (typeof audience !== 'string' || typeof type !== 'string' || typeof tokenUrl !== 'string' || !source) {
    draft.addIssue(
      'options.key_file',
      'is an external account file without audience, subject_token_type, token_url or a usable credential_source',
      'the credential_source must have a file, or a url with https:; or set options.assertion_source',
    );
    return options;
  }
  addField(draft, 'url', tokenUrl, file);
  addField(draft, 'grant_type', TOKEN_EXCHANGE, file);
  addField(draft, 'audience', audience, file);
  addField(draft, 'requested_token_type', 'urn:ietf:params:oauth:token-type:access_token', file);
  addField(draft, 'subject_token_type', type, file);
  const { client_id: user, client_secret: password } = content;
  if (typeof user === 'string' && typeof password === 'string') {
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

function parseCredentialSource(draft: ProfileDraft, credential: unknown): AssertionSource | undefined {
  const location = draft.options.get('key_file')?.variable.source;
  if (typeof credential !== 'object' || credential === null || location === undefined) return undefined;
  const { file, url: text, headers, format } = credential as Record<string, unknown>;
  const { type, subject_token_field_name: name } = (format ?? {}) as Record<string, unknown>;
  const member = type === 'json' && typeof name === 'string' ? name : undefined;
  if (typeof file === 'string') return { kind: 'file', value: file, location, member };
  const url = typeof text === 'string' ? parseStrictUrl(text) : undefined;
  if (!(url instanceof URL) || !(isSecure(url) || url.hostname === METADATA_HOST)) return undefined;
  const own = Object.entries(headers ?? {}).map(([header, value]) => [header, new Secret(String(value))] as const);
  return { kind: 'url', value: url.href, location, member, headers: Object.fromEntries(own) };
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
