import type { Provider } from '../providers/provider.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { isLoopback } from './loopback.ts';
import type { ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { InvalidUrlError, parseStrictUrl } from './strict-url.ts';

/** Longer values are truncated in messages, in characters. */
const MAX_SHOWN_LENGTH = 100;

/**
 * Selects the token URL: `<profile>.url` (D8), or the provider's with `tenant_id` inserted. Adds an issue and returns
 * `undefined` if invalid.
 */
export function selectTokenUrl(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  allowHttp: boolean,
): URL | undefined {
  const configured = draft.getText('url');
  if (configured !== undefined) return parseConfiguredUrl(draft, configured, allowHttp);
  // A url that cannot be resolved must not fall back to the provider's default.
  if (draft.hasIssue('url')) return undefined;
  if (provider.tokenUrl === undefined) {
    draft.addIssue('url', 'is missing', `set ${draft.name}.url to the URL of the token endpoint`);
    return undefined;
  }
  if (provider.tenant === undefined) return new URL(provider.tokenUrl);
  const tenant = draft.getText('tenant_id');
  if (tenant === undefined || !isValidTenant(draft, provider, tenant, grant)) return undefined;
  try {
    return parseStrictUrl(provider.tokenUrl.replace('{tenant_id}', () => tenant));
  } catch (error) {
    if (!(error instanceof InvalidUrlError)) throw error;
    // A value that matches the pattern may still not be a valid part of a host name.
    addTenantIssue(draft, provider, tenant);
    return undefined;
  }
}

/**
 * Validates the tenant before it is inserted into the URL: in a host name, a wrong value would send the credentials
 * elsewhere (D13).
 */
function isValidTenant(draft: ProfileDraft, provider: Provider, value: string, grant: string | undefined): boolean {
  const { tenant } = provider;
  if (tenant === undefined) return true;
  if (!tenant.pattern.test(value)) {
    addTenantIssue(draft, provider, value);
    return false;
  }
  const unsupported = tenant.unsupported?.find((one) => one.grant === grant)?.tenants;
  if (unsupported?.includes(value.toLowerCase()) !== true) return true;
  draft.addIssue(
    'tenant_id',
    `is ${value}, which does not support the grant ${grant}`,
    `set ${draft.name}.tenant_id to your own tenant`,
  );
  return false;
}

function addTenantIssue(draft: ProfileDraft, { tenant }: Provider, value: string): void {
  draft.addIssue(
    'tenant_id',
    `is "${escapeControls(value.slice(0, MAX_SHOWN_LENGTH))}", which cannot be part of the token URL`,
    `set ${draft.name}.tenant_id to ${tenant?.description}`,
  );
}

function parseConfiguredUrl(draft: ProfileDraft, text: string, allowHttp: boolean): URL | undefined {
  try {
    const url = parseStrictUrl(text);
    if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return url;
    draft.addIssue(
      'url',
      'is an http: URL, so secrets would be sent unencrypted',
      `use https:, or set ${draft.name}.options.allow_http: true for a network you trust`,
    );
  } catch (error) {
    if (!(error instanceof InvalidUrlError)) throw error;
    draft.addIssue('url', error.message, `set ${draft.name}.url to https://host/path`);
  }
  return undefined;
}

/** A device authorization endpoint and the token endpoint that its codes are exchanged at. */
export interface DeviceEndpoints {
  readonly deviceAuthorizationUrl: URL;
  readonly tokenUrl: URL;
}

/** The endpoints of an interactive login. */
export interface LoginEndpoints {
  readonly preferredFlow: 'device' | 'browser';
  readonly authorizationUrl: URL | undefined;
  /**
   * In order of preference: the next pair is used if the provider rejects the application at the previous one (D23).
   */
  readonly device: readonly DeviceEndpoints[];
  readonly revocationUrl: URL | undefined;
}

/** Selects the endpoints of a login: those of the options, else the provider's, which are relative to the token URL. */
export function selectLoginEndpoints(
  provider: Provider,
  tokenUrl: URL,
  options: Pick<ProfileOptions, 'authorizationUrl' | 'deviceAuthorizationUrl'>,
): LoginEndpoints {
  const { login } = provider;
  const resolve = (url: string | undefined): URL | undefined =>
    url === undefined ? undefined : new URL(url, tokenUrl);
  const authorizationUrl = options.authorizationUrl ?? resolve(login?.authorizationUrl);
  return {
    preferredFlow: login?.preferredFlow ?? (authorizationUrl === undefined ? 'device' : 'browser'),
    authorizationUrl,
    device: selectDeviceEndpoints(provider, tokenUrl, options.deviceAuthorizationUrl),
    revocationUrl: selectRevocationUrl(provider, tokenUrl),
  };
}

/**
 * Device codes are requested from the provider's shared tenant first (R4.3), but not if the profile sets another `url`.
 */
function selectDeviceEndpoints(
  { login, tokenUrl: template }: Provider,
  tokenUrl: URL,
  configured: URL | undefined,
): DeviceEndpoints[] {
  if (configured !== undefined) return [{ deviceAuthorizationUrl: configured, tokenUrl }];
  const path = login?.deviceAuthorizationUrl;
  if (path === undefined) return [];
  const endpointsAt = (url: URL): DeviceEndpoints => ({ deviceAuthorizationUrl: new URL(path, url), tokenUrl: url });
  const [start, end] = template?.split('{tenant_id}') ?? [];
  const sharedTenant = login?.deviceTenant?.name;
  if (sharedTenant === undefined || start === undefined || end === undefined) return [endpointsAt(tokenUrl)];
  if (!tokenUrl.href.startsWith(start) || !tokenUrl.href.endsWith(end)) return [endpointsAt(tokenUrl)];
  const shared = new URL(start + sharedTenant + end);
  return shared.href === tokenUrl.href ? [endpointsAt(tokenUrl)] : [endpointsAt(shared), endpointsAt(tokenUrl)];
}

/**
 * A refresh token is revoked only at the origin that issued it, or at the URL that the provider defines for its default
 * token URL.
 */
function selectRevocationUrl({ login, tokenUrl: template }: Provider, tokenUrl: URL): URL | undefined {
  if (login?.revocationUrl === undefined) return undefined;
  const url = new URL(login.revocationUrl, tokenUrl);
  const origins = [
    url.origin,
    template === undefined ? undefined : new URL(template.replace('{tenant_id}', 't')).origin,
  ];
  return origins.includes(tokenUrl.origin) ? url : undefined;
}
