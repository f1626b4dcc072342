import { findHint } from '../../oauth/provider-error.ts';
import { selectLoginEndpoints } from '../../profile/endpoints.ts';
import type { Profile } from '../../profile/profile.ts';
import { loginCommand } from '../../profile/profile.ts';
import { excerpt } from '../../redaction/printable.ts';
import type { Diagnostic } from './finding.ts';

type Document = Readonly<Record<string, unknown>>;

/** Ways of client authentication as servers name them (RFC 8414 §2), and as `options.client_auth` does. */
const METHODS: Readonly<Record<string, string>> = {
  client_secret_basic: 'basic',
  client_secret_post: 'body',
  private_key_jwt: 'private_key_jwt',
  none: 'none',
};

/** Many servers announce these alone, whatever else they know. */
const STANDARD_SCOPES = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access', 'device_sso']);

/** Holds a profile against what its server publishes of itself (RFC 8414 §2). What is not published proves nothing. */
export function compareMetadata(profile: Profile, document: Document): Diagnostic[] {
  const other = compareEndpoint(profile, document);
  // A document of another server says nothing of this one.
  if (other?.level === 'warning') return [other, ...compareScopes(profile)];
  return [
    ...(other === undefined ? [] : [other]),
    ...compareGrant(profile, document),
    ...compareClientAuth(profile, document),
    ...compareSignIn(profile, document),
    ...compareScopes(profile, document),
  ];
}

/** Whether two addresses are one; a query does not count, nor which of its names a tenant is called by: Microsoft answers with its id. */
export function isSameEndpoint(announced: unknown, ours: URL, { tokenUrl }: Profile['provider']): boolean {
  if (typeof announced !== 'string' || !URL.canParse(announced)) return false;
  const place = tokenUrl?.split('/').indexOf('{tenant_id}');
  const bare = (url: URL): string =>
    `${url.origin}${url.pathname}`
      .split('/')
      .map((part, index) => (index === place ? '' : part))
      .join('/');
  return bare(new URL(announced)) === bare(ours);
}

function compareEndpoint({ name, provider, url }: Profile, document: Document): Diagnostic | undefined {
  const announced = document['token_endpoint'];
  const aliases = document['mtls_endpoint_aliases'] as Document | null | undefined;
  if ([announced, aliases?.['token_endpoint']].some((address) => isSameEndpoint(address, url, provider)))
    return undefined;
  const shown = typeof announced === 'string' ? excerpt(announced, 200) : 'none';
  // Google announces another address than the one that profiles have used from the start, and serves both.
  if (url.href === provider.tokenUrl) {
    const message = `the default is an older address of the token endpoint; the server announces ${shown}`;
    return finding(name, 'url', 'note', message, `nothing has to be done; to use the new one, set ${name}.url to it`);
  }
  const message = `the token endpoint is another one than the server announces: ${shown}`;
  return finding(name, 'url', 'warning', message, `if tokens do not come, set ${name}.url to that address`);
}

function compareGrant(profile: Profile, document: Document): Diagnostic[] {
  const { grant, name } = profile;
  const announced = listOf(document, 'grant_types_supported');
  if (grant === undefined || announced === undefined || announced.includes(grant)) return [];
  const message = `the server does not announce the grant ${excerpt(grant, 100)}, only ${shownList(announced)}`;
  const hint = findHint(profile, { status: 400, error: 'unsupported_grant_type' }, 'provider_rejected');
  // Refreshing goes without saying at many servers.
  return [finding(name, 'grant_type', grant === 'refresh_token' ? 'warning' : 'fault', message, hint)];
}

function compareClientAuth(profile: Profile, document: Document): Diagnostic[] {
  const { name, provider, options } = profile;
  const announced = listOf(document, 'token_endpoint_auth_methods_supported');
  const ours = methodsOf(profile);
  if (announced === undefined || ours.some((method) => announced.includes(method))) return [];
  // Providers that serve public clients without saying so are known, and a certificate may be all that is asked for.
  if (ours.includes('none') && (provider.login !== undefined || options.cert !== undefined)) return [];
  const what = ours.includes('none') ? 'clients without a secret' : `the client authentication ${ours[0]}`;
  const message = `the server does not announce ${what}, only ${shownList(announced)}`;
  const possible = announced.map((method) => METHODS[method]).filter((method) => method !== undefined);
  const hint =
    possible.length > 0
      ? `set ${name}.options.client_auth to ${possible.join(' or ')}, with the secret or key that this takes`
      : 'ask those who run the server for a client with a secret';
  return [finding(name, 'options.client_auth', 'fault', message, hint)];
}

/** What the server would call the profile's way; of an assertion that the profile brings along the kind is not known. */
function methodsOf({ clientAuth, fields }: Profile): [string, ...string[]] {
  const has = (field: string): boolean => fields.some(({ name }) => name === field);
  if (clientAuth === 'client_secret_basic' || clientAuth === 'client_secret_basic_raw') return ['client_secret_basic'];
  if (clientAuth === 'private_key_jwt' || clientAuth === 'none') return [clientAuth];
  if (has('client_assertion')) return ['private_key_jwt', 'client_secret_jwt'];
  return [has('client_secret') ? 'client_secret_post' : 'none'];
}

function compareSignIn({ name, provider, url, options, grant }: Profile, document: Document): Diagnostic[] {
  if (grant !== 'refresh_token') return [];
  const { authorizationUrl, device, preferredFlow } = selectLoginEndpoints(provider, url, options);
  const findings: Diagnostic[] = [];
  const comparePage = (variable: string, announced: unknown, ours: URL | undefined): void => {
    if (typeof announced !== 'string') return;
    const shown = excerpt(announced, 200);
    if (ours !== undefined && !isSameEndpoint(announced, ours, provider)) {
      const message = `login asks ${ours.origin}${ours.pathname}, but the server announces ${shown}`;
      findings.push(finding(name, variable, 'warning', message, `if login fails, set ${name}.${variable}`));
    } else if (authorizationUrl === undefined && device.length === 0) {
      const message = 'is not set, so that login cannot use it';
      findings.push(finding(name, variable, 'note', message, `for oauth-profile login, set it to ${shown}`));
    }
  };
  comparePage('options.authorization_url', document['authorization_endpoint'], authorizationUrl);
  comparePage(
    'options.device_authorization_url',
    document['device_authorization_endpoint'],
    // The last is that of the profile's own tenant.
    device.at(-1)?.deviceAuthorizationUrl,
  );
  const challenges = listOf(document, 'code_challenge_methods_supported');
  if (authorizationUrl !== undefined && challenges !== undefined && !challenges.includes('S256')) {
    const message = `login with a browser needs PKCE with S256, but the server announces ${shownList(challenges)}`;
    const otherwise = device.length > 0 ? `run: ${loginCommand(name)} --device; or ` : '';
    const level = preferredFlow === 'browser' ? 'fault' : 'warning';
    const hint = `${otherwise}ask those who run the server to allow S256`;
    findings.push(finding(name, 'options.authorization_url', level, message, hint));
  }
  return findings;
}

/** Scopes without which no refresh token comes, and names that the server does not know; the first holds without a document too. */
export function compareScopes({ name, fields, grant, provider }: Profile, document: Document = {}): Diagnostic[] {
  const scope = fields.find((field) => field.name === 'scope')?.value;
  const asked = typeof scope === 'string' ? scope.split(/\s+/).filter((one) => one !== '') : [];
  // Who names no scope gets what was granted before.
  if (asked.length === 0) return [];
  const announced = listOf(document, 'scopes_supported') ?? [];
  const { login: signIn } = provider;
  const needed =
    signIn === undefined ? announced.filter((one) => one === 'offline_access') : (signIn.requiredScopes ?? []);
  const lacking = grant === 'refresh_token' ? needed.filter((one) => !asked.includes(one)) : [];
  const findings = lacking.map((one) => {
    const message = `lacks ${one}, without which no new refresh token may come`;
    return finding(name, 'scope', signIn === undefined ? 'note' : 'warning', message, `add ${one} to ${name}.scope`);
  });
  const unknown = asked.filter((one) => !announced.includes(one) && !STANDARD_SCOPES.has(one));
  if (unknown.length > 0 && announced.some((one) => !STANDARD_SCOPES.has(one))) {
    const hint = 'check the spelling; a server need not announce all that it knows';
    findings.push(finding(name, 'scope', 'note', `the server does not announce ${shownList(unknown)}`, hint));
  }
  return findings;
}

function finding(
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

function shownList(list: readonly string[]): string {
  return list.length === 0 ? 'nothing' : excerpt(list.join(', '), 200);
}
