import type { Provider, UrlVariable } from '../providers/provider.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import type { ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { isLoopback, isSecure, parseStrictUrl } from './url.ts';

/** Longer values are truncated in messages, in characters. */
const MAX_SHOWN_LENGTH = 100;

/** Selects the token URL: `<profile>.url` (D8), or the provider's with its variables; `undefined` if there is an issue. */
export function selectTokenUrl(draft: ProfileDraft, provider: Provider, allowHttp: boolean): URL | undefined {
  const { name } = draft;
  const { tokenUrl, variables = {} } = provider;
  const configured = draft.getText('url');
  if (configured !== undefined) {
    const url = parseStrictUrl(configured);
    if (typeof url === 'string') draft.addIssue('url', url, `set ${name}.url to https://host/path`);
    else if (allowHttp || isSecure(url)) return url;
    else {
      const hint = `use https:, or set ${name}.options.allow_http: true for a network you trust`;
      draft.addIssue('url', 'is an http: URL, so secrets would be sent unencrypted', hint);
    }
  }
  // A url that cannot be resolved must not fall back to the provider's default.
  if (draft.hasIssue('url')) return undefined;
  if (tokenUrl === undefined) {
    if (provider.usesIssuer) {
      if (!draft.hasIssue('issuer'))
        draft.addIssue('issuer', 'is missing', `set ${name}.issuer to the issuer, such as https://login.example.com`);
    } else draft.addIssue('url', 'is missing', `set ${name}.url to the URL of the token endpoint`);
    return undefined;
  }
  return fillTemplate(draft, tokenUrl, variables);
}

/** Inserts the variables of a profile into a URL; `undefined` if one is missing or invalid. */
function fillTemplate(
  draft: ProfileDraft,
  template: string,
  variables: NonNullable<Provider['variables']>,
): URL | undefined {
  let text = template;
  let isValid = true;
  for (const [name, { pattern, description, default: byDefault }] of Object.entries(variables)) {
    const value = draft.getText(name) ?? byDefault;
    if (value === undefined || draft.hasIssue(name)) {
      isValid = false;
      if (!draft.has(name) || draft.hasIssue(name)) continue;
      const hint = 'take it from a variable without secret, password or token in its name';
      draft.addIssue(name, 'comes from a secret, but messages show this field', hint);
      continue;
    }
    // Validated before it is inserted: in a host name, a wrong value would send the credentials elsewhere (D13).
    if (pattern.test(value)) text = text.replace(`{${name}}`, () => value);
    else {
      isValid = false;
      const shown = escapeControls(value.slice(0, MAX_SHOWN_LENGTH));
      const other = findVariable(value, name, template);
      const hint = pattern.test(other) ? `did you mean ${other}?` : `set ${draft.name}.${name} to ${description}`;
      draft.addIssue(name, `is "${shown}", which cannot be part of the token URL`, hint);
    }
  }
  const url = isValid ? parseStrictUrl(text) : undefined;
  if (typeof url !== 'string') return url;
  draft.addIssue(Object.keys(variables)[0] ?? 'url', `gives the URL ${escapeControls(text)}, which ${url}`, undefined);
  return undefined;
}

/** The origins of a profile that sets none (`options.origins`). Of another server than the default, only the API next to it is known. */
export function selectDefaultOrigins(draft: ProfileDraft, provider: Provider | undefined): readonly string[] {
  if (provider?.apiOrigins === undefined) return [];
  if (provider.apiOrigins === 'token_url') {
    const url = selectTokenUrl(draft.copy(), provider, false);
    return url === undefined ? [] : [url.origin];
  }
  const isOther = ([name, { default: byDefault }]: [string, UrlVariable]) =>
    byDefault !== undefined && draft.has(name) && draft.getText(name) !== byDefault;
  return draft.has('url') || Object.entries(provider.variables ?? {}).some(isOther) ? [] : provider.apiOrigins;
}

/** Finds a variable in a URL or host: `acme` in `https://acme.okta.com/`. */
function findVariable(value: string, name: string, template: string): string {
  const [start = '', end = ''] = template.split(`{${name}}`);
  const [suffix = ''] = end.split('/', 1);
  const text = value.trim().replace(start, 'https://');
  const [, host = text.replace(/\/$/, '')] = /^https?:\/\/([^/]*)/i.exec(text) ?? [];
  return host.endsWith(suffix) ? host.slice(0, host.length - suffix.length) : host;
}

/** Whether a URL, or its origin, is the provider's default with any values of its variables. */
export function isDefaultUrl({ tokenUrl }: Provider, url: URL, part: 'href' | 'origin' = 'href'): boolean {
  if (tokenUrl === undefined) return false;
  const template = part === 'href' ? tokenUrl : tokenUrl.replace(/^(https:\/\/[^/]+).*$/, '$1');
  const pattern = template.replace(/[.?+*()[\]^$|\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`, 'i').test(url[part]);
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
  /** The next pair is used if the provider rejects the application at the previous one (D23). */
  readonly device: readonly DeviceEndpoints[];
  readonly revocationUrl: URL | undefined;
}

/** Selects the endpoints of a login: those of the options, else the provider's, which are relative to the token URL. */
export function selectLoginEndpoints(
  provider: Provider,
  tokenUrl: URL,
  options: Pick<ProfileOptions, 'authorizationUrl' | 'deviceAuthorizationUrl' | 'revocationUrl'>,
): LoginEndpoints {
  const { login } = provider;
  const page = login?.authorizationUrl;
  const authorizationUrl = options.authorizationUrl ?? (page === undefined ? undefined : resolveUrl(page, tokenUrl));
  return {
    preferredFlow: login?.preferredFlow ?? (authorizationUrl === undefined ? 'device' : 'browser'),
    authorizationUrl,
    device: selectDeviceEndpoints(provider, tokenUrl, options.deviceAuthorizationUrl),
    revocationUrl: options.revocationUrl ?? selectTokenEndpoint(provider, tokenUrl, login?.revocationUrl),
  };
}

/** Resolves a URL of a provider. Next to a token URL of the emulator, `https://host/path` is at `http://127.0.0.1:8400/host/path`. */
export function resolveUrl(url: string, tokenUrl: URL): URL {
  const resolved = new URL(url, tokenUrl);
  const isEmulated = isLoopback(tokenUrl.hostname) && /^\/[a-z\d-]+(?:\.[a-z\d-]+)+\//.test(tokenUrl.pathname);
  if (!isEmulated || resolved.origin === tokenUrl.origin) return resolved;
  return new URL(`/${resolved.host}${resolved.pathname}`, tokenUrl);
}

/** Device codes are requested from the provider's shared tenant first (R4.3), unless the profile sets another `url`. */
function selectDeviceEndpoints(
  { login, tokenUrl: template }: Provider,
  tokenUrl: URL,
  configured: URL | undefined,
): DeviceEndpoints[] {
  if (configured !== undefined) return [{ deviceAuthorizationUrl: configured, tokenUrl }];
  const path = login?.deviceAuthorizationUrl;
  if (path === undefined) return [];
  const urls = [tokenUrl.href];
  const [start, end] = template?.split('{tenant_id}') ?? [];
  const tenant = login?.deviceTenant?.name;
  const isDefault = start && end && tokenUrl.href.startsWith(start) && tokenUrl.href.endsWith(end);
  if (isDefault && tenant !== undefined) urls.unshift(start + tenant + end);
  return [...new Set(urls)].map((url) => ({ deviceAuthorizationUrl: new URL(path, url), tokenUrl: new URL(url) }));
}

/** The documented userinfo endpoint of a provider. */
export function selectUserinfoUrl(provider: Provider, tokenUrl: URL): URL | undefined {
  return selectTokenEndpoint(provider, tokenUrl, provider.login?.userinfoUrl);
}

/** A token is sent only to its origin, or to the URL that the provider defines for its default token URL. */
function selectTokenEndpoint(provider: Provider, tokenUrl: URL, template: string | undefined): URL | undefined {
  if (template === undefined) return undefined;
  const url = resolveUrl(template, tokenUrl);
  return url.origin === tokenUrl.origin || isDefaultUrl(provider, tokenUrl, 'origin') ? url : undefined;
}
