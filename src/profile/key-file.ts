import { JWT_BEARER } from './grant.ts';
import { type Field, LoadedFile, type ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

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
