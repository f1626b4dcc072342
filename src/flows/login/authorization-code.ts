import { abortError, OAuthProfileError, ProviderError } from '../../errors.ts';
import {
  buildAuthorizationParameters,
  buildCodeTokenRequest,
  matchesState,
  needsConsent,
  parseAuthorizationResponse,
} from '../../oauth/login/authorization.ts';
import { findIssuerMismatch, type ServerMetadata } from '../../oauth/metadata.ts';
import { findHint } from '../../oauth/provider-error.ts';
import { type ParsedToken, parseTokenResponse } from '../../oauth/token-response.ts';
import type { LoginPorts, Ports, Redirect, RedirectTarget } from '../../ports.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { providerName } from '../../profile/profile.ts';
import { parseUrl } from '../../profile/url.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import { findMetadata } from '../read-metadata.ts';
import { post } from '../request-token.ts';
import { createAuthorizationUrl } from './authorization-url.ts';
import { toLoginError } from './login-error.ts';

/** How the user is involved in a browser login. */
export interface BrowserPrompt {
  /** Shows the URL of the login page, and why no browser was opened. The login fails after `leftMs`. */
  showUrl(url: string, problem: string | undefined, leftMs: number): void;
  /** Reads a line from the terminal, such as the URL at which the browser ended. `undefined` without a terminal. */
  readonly readLine: ((signal: AbortSignal) => Promise<string>) | undefined;
  /** Shows why a line was not accepted. */
  showMistake(message: string): void;
  /** Shows a problem that does not end the login. */
  showWarning(message: string): void;
}

/** Options of a browser login. */
export interface BrowserLoginOptions {
  /** Port of the redirect. Default: the registered one, else any free port. */
  readonly port: number | undefined;
  readonly open: boolean;
}

/** Longer parameters of a redirect are truncated, in characters. */
const MAX_MEMBER_LENGTH = 200;
const LOGIN_TIMEOUT_MS = 10 * 60_000;

/** Authorization code flow with PKCE and a loopback redirect (RFC 6749 §4.1, RFC 7636, RFC 8252 §7.3). */
export async function loginWithAuthorizationCode(
  login: LoginProfile,
  options: BrowserLoginOptions,
  ports: Ports,
  loginPorts: LoginPorts,
  prompt: BrowserPrompt,
  signal: AbortSignal | undefined,
): Promise<ParsedToken> {
  const endpoint = login.endpoints.authorizationUrl;
  if (endpoint === undefined) {
    throw new OAuthProfileError('profile_invalid', `${login.name} has no authorization URL`, {
      hint: `set ${login.name}.options.authorization_url, or use --device`,
    });
  }
  const state = loginPorts.randomString();
  const verifier = new Secret(loginPorts.randomString());
  const target = redirectTarget(login, options.port);
  const listener = await loginPorts.listen(target, (query) => matchesState(query, state));
  const done = new AbortController();
  const ended = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
  try {
    // Exactly as registered: with one more slash it is another redirect URI.
    const own = `http://${target.host}:${listener.port}${target.path === '/' ? '' : target.path}`;
    const redirectUri = login.options.redirectUri ?? own;
    const { dpopKey, options: profileOptions, provider } = login;
    // Fails before anything is sent if the profile cannot be used.
    const parameters = buildAuthorizationParameters(login, {
      redirectUri,
      state,
      challenge: loginPorts.sha256(verifier),
      keyThumbprint: dpopKey && (await ports.dpop()).thumbprint(dpopKey),
    });
    // The metadata is read while the user logs in, unless the URL depends on it.
    const metadata = findMetadata(login, { ...loginPorts, ports }, ended).catch((error: Error) => {
      if (!ended.aborted) prompt.showWarning(describeMetadataFailure(endpoint, error));
      return undefined;
    });
    // Only servers that are not known beforehand may require or offer pushed or signed requests.
    const isKnown = provider.login !== undefined && !profileOptions.signsRequest && dpopKey === undefined;
    const published = isKnown ? undefined : await metadata;
    if (needsConsent(login) && published?.consentPromptSupported) parameters.set('prompt', 'consent');
    if (ended.aborted) throw abortError(ended);
    const limits = { timeoutMs: LOGIN_TIMEOUT_MS, signal: ended };
    const url = await createAuthorizationUrl(login, endpoint, parameters, published, ports, limits);
    const page = loginPorts.pageUrl(url);
    const problem = options.open ? await loginPorts.openBrowser(page) : 'not opened because of --no-open';
    if (options.open && problem !== undefined && prompt.readLine === undefined) throw noBrowserError(login, problem);
    prompt.showUrl(page, problem, LOGIN_TIMEOUT_MS);
    const waits = [listener.redirect, rejectAfterTimeout(ports, ended)];
    if (problem !== undefined) waits.push(promptForRedirect(prompt, redirectUri, state, ended));
    const redirect = await Promise.race(waits);
    return await exchangeCode(login, redirect, { redirectUri, verifier, issuer: await metadata }, ports, ended);
  } finally {
    done.abort();
    await listener.close();
  }
}

/** A server that is unavailable to this program often is to the browser too, and the code cannot be exchanged. */
function describeMetadataFailure({ host }: URL, error: Error): string {
  const hint = error instanceof OAuthProfileError ? error.hint : undefined;
  const message = `cannot read the metadata of ${host}: ${error.message}; the login may fail too`;
  return hint === undefined ? message : `${message}; ${hint}`;
}

/** Validates the redirect, exchanges its code, and shows the result in the browser. */
async function exchangeCode(
  login: LoginProfile,
  redirect: Redirect,
  { redirectUri, verifier, issuer }: { redirectUri: string; verifier: Secret; issuer: ServerMetadata | undefined },
  ports: Ports,
  signal: AbortSignal,
): Promise<ParsedToken> {
  try {
    const response = parseAuthorizationResponse(redirect.query);
    if (response.kind === 'invalid') throw invalidRedirectError(login, `invalid redirect: ${response.reason}`);
    const hosts = [login.endpoints.authorizationUrl, login.url].filter((url) => url !== undefined);
    const problem = findIssuerMismatch(response.issuer, issuer, hosts);
    if (problem !== undefined) throw invalidRedirectError(login, problem);
    if (response.kind === 'error') {
      redirect.show('denied');
      throw authorizationError(login, response.error, response.description);
    }
    const request = buildCodeTokenRequest(login, { code: response.code, redirectUri, verifier });
    const token = await post(request, ports, {
      parse: parseTokenResponse,
      // A code can be used only once (RFC 6749 §4.1.2).
      mayRetry: (failure) => failure === 'not_sent',
      signal,
    });
    redirect.show('signed-in');
    return { ...token, response: { ...redirectMembers(login, redirect.query), ...token.response } };
  } catch (error) {
    redirect.show('failed');
    throw toLoginError(error, login);
  }
}

/** The parameters of a redirect that belong to the token, such as the company whose data it gives access to. */
function redirectMembers({ options }: LoginProfile, query: string): Record<string, string> {
  const parameters = new URLSearchParams(query);
  const names = options.redirectMembers.filter((name) => parameters.has(name));
  return Object.fromEntries(names.map((name) => [name, excerpt(parameters.get(name) ?? '', MAX_MEMBER_LENGTH)]));
}

/** The registered redirect URI, or one of our own (RFC 8252 §7.3). */
function redirectTarget(login: LoginProfile, port: number | undefined): RedirectTarget {
  const { redirectUri } = login.options;
  if (redirectUri === undefined) {
    const host = login.provider.login?.redirectHost;
    return host === undefined
      ? { host: '127.0.0.1', port: port ?? 0, path: '/callback' }
      : { host, port: port ?? 0, path: '/' };
  }
  const target = registeredTarget(redirectUri);
  if (port !== undefined && port !== target.port) {
    throw new OAuthProfileError('usage', `--port ${port} is not the port of ${login.name}.options.redirect_uri`, {
      hint: 'remove one of them',
    });
  }
  return target;
}

/** Where to listen for `options.redirect_uri`. */
export function registeredTarget(redirectUri: string): RedirectTarget {
  const { hostname, port, pathname } = new URL(redirectUri);
  return { host: hostname, port: Number(port || 80), path: pathname };
}

/** Reads lines until the user pastes a valid redirect URL, for a browser on another machine. */
async function promptForRedirect(
  { readLine, showMistake }: BrowserPrompt,
  redirectUri: string,
  state: string,
  signal: AbortSignal,
): Promise<Redirect> {
  while (readLine !== undefined) {
    const line = (await readLine(signal)).trim();
    if (line === '') continue;
    const query = queryOf(line, redirectUri);
    if (query === undefined) showMistake(`the URL must start with ${redirectUri}?`);
    else if (!matchesState(query, state)) showMistake('the URL belongs to another login: its state does not match');
    else return { query, show: () => {} };
  }
  return new Promise(() => {});
}

function queryOf(line: string, redirectUri: string): string | undefined {
  const expected = new URL(redirectUri);
  const url = line.length > 16_384 ? undefined : parseUrl(line);
  if (url === undefined) return undefined;
  const { origin, pathname, search, username, password } = url;
  const isSame = origin === expected.origin && pathname === expected.pathname && username === '' && password === '';
  return isSame && search !== '' ? search.slice(1) : undefined;
}

async function rejectAfterTimeout({ clock }: Ports, signal: AbortSignal): Promise<never> {
  await clock.sleep(LOGIN_TIMEOUT_MS, signal);
  throw new OAuthProfileError('timeout', `the login was not completed within ${LOGIN_TIMEOUT_MS / 60_000} minutes`, {
    hint: 'run the command again',
  });
}

function noBrowserError({ command, endpoints }: LoginProfile, problem: string): OAuthProfileError {
  const device = endpoints.device.length > 0 ? `run: ${command} --device; or ` : '';
  return new OAuthProfileError('login_required', `cannot open a browser (${problem}) and stdin is not a terminal`, {
    hint: `${device}run in a terminal: ${command}; or open the URL yourself: ${command} --no-open`,
  });
}

function invalidRedirectError({ command }: LoginProfile, message: string): OAuthProfileError {
  return new OAuthProfileError('response_unreadable', message, {
    hint: `the code was not used; to try again, run: ${command}`,
  });
}

/** RFC 6749 §4.1.2.1. */
function authorizationError(login: LoginProfile, error: string, description: string | undefined): ProviderError {
  const provider = { status: 302, error, description };
  const details = description === undefined ? error : `${error}: ${description}`;
  const name = providerName({ provider: login.provider, url: login.endpoints.authorizationUrl ?? login.url });
  const request = buildCodeTokenRequest(login, { code: new Secret(''), redirectUri: '', verifier: new Secret('') });
  return new ProviderError('provider_rejected', `${name} rejected the login for ${login.name} (${details})`, {
    provider,
    hint: findHint(request, provider, 'provider_rejected'),
  });
}
