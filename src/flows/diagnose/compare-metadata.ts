import { aliasesOf } from '../../oauth/discovery.ts';
import { isSameEndpoint } from '../../oauth/metadata.ts';
import { findHint } from '../../oauth/provider-error.ts';
import { resolveUrl, selectLoginEndpoints } from '../../profile/endpoints.ts';
import type { Profile } from '../../profile/profile.ts';
import { loginCommand } from '../../profile/profile.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import type { Diagnostic } from './diagnostic.ts';

type Document = Readonly<Record<string, unknown>>;

/** Values of `options.client_auth`, which are those of RFC 8414 §2. */
const CLIENT_AUTH_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
  'none',
];

/** Many servers list only these, although they support others. */
const STANDARD_SCOPES = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access', 'device_sso']);

/** Compares a profile with the metadata of its server (RFC 8414 §2). A missing member proves nothing. */
export function compareMetadata(profile: Profile, document: Document): Diagnostic[] {
  const other = compareEndpoint(profile, document);
  // The metadata of another server does not describe this one.
  if (other?.level === 'warning') return [other, ...compareScopes(profile)];
  return [
    ...(other === undefined ? [] : [other]),
    ...compareGrant(profile, document),
    ...compareClientAuth(profile, document),
    ...compareProofs(profile, document),
    ...compareLogin(profile, document),
    ...compareScopes(profile, document),
  ];
}

function compareEndpoint({ name, provider, url }: Profile, document: Document): Diagnostic | undefined {
  const announced = document['token_endpoint'];
  if ([announced, aliasesOf(document)['token_endpoint']].some((endpoint) => isSameEndpoint(endpoint, url, provider)))
    return undefined;
  const shown = typeof announced === 'string' ? excerpt(announced, 200) : 'none';
  // Google's metadata names another URL than our default, and serves both.
  if (provider.tokenUrl !== undefined && url.href === resolveUrl(provider.tokenUrl, url).href) {
    const message = `the default token URL is an older one; the metadata names ${shown}`;
    return diagnostic(name, 'url', 'note', message, `no action needed; to use the new one, set ${name}.url`);
  }
  const message = `the metadata of the server names another token endpoint: ${shown}`;
  return diagnostic(name, 'url', 'warning', message, `if token requests fail, set ${name}.url to that URL`);
}

function compareGrant(profile: Profile, document: Document): Diagnostic[] {
  const { grant, name } = profile;
  const announced = listOf(document, 'grant_types_supported');
  if (grant === undefined || announced === undefined || announced.includes(grant)) return [];
  const message = `the metadata does not list the grant ${excerpt(grant, 100)}, only ${formatList(announced)}`;
  const hint = findHint(
    { ...profile, warnings: [] },
    { status: 400, error: 'unsupported_grant_type' },
    'provider_rejected',
  );
  // Many servers support refresh tokens without listing the grant.
  return [diagnostic(name, 'grant_type', grant === 'refresh_token' ? 'warning' : 'error', message, hint)];
}

function compareClientAuth(profile: Profile, document: Document): Diagnostic[] {
  const { name, grant, provider, options } = profile;
  const announced = listOf(document, 'token_endpoint_auth_methods_supported');
  const ours = methodsOf(profile);
  if (announced === undefined || ours.some((method) => announced.includes(method))) return [];
  // Built-in providers support public clients without listing it, and a client certificate may be sufficient.
  const isPublic = ours.includes('none');
  if (isPublic && (provider.login !== undefined || options.cert !== undefined)) return [];
  const what = isPublic ? 'clients without a secret' : `client authentication with ${ours[0]}`;
  const message = `the metadata does not list ${what}, only ${formatList(announced)}`;
  // Keycloak and others support public clients without listing `none`. RFC 6749 §4.4: not for client_credentials.
  if (isPublic && grant !== 'client_credentials') {
    const hint = `no action needed for a public client; if the client has a secret, set ${name}.client_secret`;
    return [diagnostic(name, 'options.client_auth', 'note', message, hint)];
  }
  const possible = announced.filter((method) => CLIENT_AUTH_METHODS.includes(method));
  const hint =
    possible.length > 0
      ? `set ${name}.options.client_auth to ${possible.join(' or ')}, with the secret, key or certificate that it needs`
      : 'ask the administrator of the server for a client with a secret';
  return [diagnostic(name, 'options.client_auth', 'error', message, hint)];
}

/** Proofs are signed with ES256 (RFC 9449 §5.1). */
function compareProofs({ name, options }: Profile, document: Document): Diagnostic[] {
  const announced = listOf(document, 'dpop_signing_alg_values_supported');
  if (!options.dpop || announced === undefined || announced.includes('ES256')) return [];
  const message = `the metadata does not list ES256 for DPoP, only ${formatList(announced)}`;
  return [diagnostic(name, 'options.dpop', 'error', message, 'ask the administrator of the server to allow ES256')];
}

/** The profile's client authentication in the names of RFC 8414. The kind of a configured assertion is not known. */
function methodsOf({ clientAuth, fields }: Profile): [string, ...string[]] {
  const has = (field: string): boolean => fields.some(({ name }) => name === field);
  if (clientAuth === 'client_secret_basic' || clientAuth === 'client_secret_basic_raw') return ['client_secret_basic'];
  if (/_jwt$|tls_client_auth$|^none$/.test(clientAuth)) return [clientAuth];
  if (has('client_assertion')) return ['private_key_jwt', 'client_secret_jwt'];
  return [has('client_secret') ? 'client_secret_post' : 'none'];
}

function compareLogin({ name, provider, url, options, grant }: Profile, document: Document): Diagnostic[] {
  // A custom profile has no grant before the first login.
  if (grant !== undefined && grant !== 'refresh_token') return [];
  const { authorizationUrl, device, preferredFlow } = selectLoginEndpoints(provider, url, options);
  const results: Diagnostic[] = [];
  const comparePage = (variable: string, announced: unknown, ours: URL | undefined): void => {
    if (typeof announced !== 'string') return;
    const shown = excerpt(announced, 200);
    if (ours !== undefined && !isSameEndpoint(announced, ours, provider)) {
      const message = `login uses ${ours.origin}${ours.pathname}, but the metadata names ${shown}`;
      results.push(diagnostic(name, variable, 'warning', message, `if login fails, set ${name}.${variable}`));
    } else if (authorizationUrl === undefined && device.length === 0) {
      const message = 'is not set, so login cannot use it';
      results.push(diagnostic(name, variable, 'note', message, `for oauth-profile login, set it to ${shown}`));
    }
  };
  comparePage('options.authorization_url', document['authorization_endpoint'], authorizationUrl);
  comparePage(
    'options.device_authorization_url',
    document['device_authorization_endpoint'],
    // The last one belongs to the profile's own tenant.
    device.at(-1)?.deviceAuthorizationUrl,
  );
  const rejectBrowser = (message: string, change: string): void => {
    const otherwise = device.length > 0 ? `run: ${loginCommand(name)} --device; or ` : '';
    const level = preferredFlow === 'browser' ? 'error' : 'warning';
    const hint = `${otherwise}ask the administrator of the server to ${change}`;
    results.push(diagnostic(name, 'options.authorization_url', level, message, hint));
  };
  if (authorizationUrl === undefined) return results;
  const challenges = listOf(document, 'code_challenge_methods_supported');
  if (challenges !== undefined && !challenges.includes('S256'))
    rejectBrowser(
      `a browser login needs PKCE with S256, but the metadata lists ${formatList(challenges)}`,
      'allow S256',
    );
  if (document['require_signed_request_object'] === true && options.key === undefined)
    rejectBrowser(
      `the server requires signed authorization requests (RFC 9101), but ${name}.options.key_file is not set`,
      'register the public key of that file for the client',
    );
  return results;
}

/** Checks for scopes that are needed to get a refresh token, and for scopes that the metadata does not list. */
export function compareScopes({ name, fields, grant, provider }: Profile, document: Document = {}): Diagnostic[] {
  const scope = fields.find((field) => field.name === 'scope')?.value;
  const requested = typeof scope === 'string' ? scope.split(/\s+/).filter((one) => one !== '') : [];
  // Without a scope, the granted scope is used.
  if (requested.length === 0) return [];
  const announced = listOf(document, 'scopes_supported') ?? [];
  const { login } = provider;
  const needed =
    login === undefined ? announced.filter((one) => one === 'offline_access') : (login.requiredScopes ?? []);
  const lacking = grant === 'refresh_token' ? needed.filter((one) => !requested.includes(one)) : [];
  const results = lacking.map((one) => {
    const message = `does not include ${one}, which may be needed to get a refresh token`;
    return diagnostic(name, 'scope', login === undefined ? 'note' : 'warning', message, `add ${one} to ${name}.scope`);
  });
  const unknown = requested.filter((one) => !announced.includes(one) && !STANDARD_SCOPES.has(one));
  if (unknown.length > 0 && announced.some((one) => !STANDARD_SCOPES.has(one))) {
    const hint = 'check the spelling; a server need not list all its scopes';
    results.push(diagnostic(name, 'scope', 'note', `the metadata does not list ${formatList(unknown)}`, hint));
  }
  return results;
}

function diagnostic(
  profile: string,
  variable: string,
  level: Diagnostic['level'],
  message: string,
  hint: string | undefined,
): Diagnostic {
  const about = variable === 'scope' ? 'scope' : 'discovery';
  return { level, about, where: `${profile}.${variable}`, message, hint };
}

function listOf(document: Document, member: string): readonly string[] | undefined {
  const list = document[member];
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : undefined;
}

function formatList(list: readonly string[]): string {
  return list.length === 0 ? 'nothing' : excerpt(list.join(', '), 200);
}
