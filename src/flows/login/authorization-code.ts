import { OAuthProfileError, ProviderError } from '../../errors.ts';
import {
  buildAuthorizationUrl,
  buildCodeTokenRequest,
  matchesState,
  parseAuthorizationResponse,
} from '../../oauth/authorization.ts';
import { findIssuerMismatch, type ServerMetadata } from '../../oauth/metadata.ts';
import { findHint } from '../../oauth/provider-error.ts';
import { type LoginResponse, parseLoginResponse } from '../../oauth/token-response.ts';
import type { LoginPorts, Ports, Redirect, RedirectTarget } from '../../ports.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { providerName } from '../../profile/profile.ts';
import { Secret } from '../../redaction/secret.ts';
import { postForm } from '../post-form.ts';
import { toLoginError } from './explain-sign-in.ts';
import { findIssuer } from './find-issuer.ts';

/** What a person is shown of a sign-in in a browser, and may be asked. */
export interface BrowserPrompt {
  /** The address of the sign-in page; `problem` says why no browser was opened on it. After `leftMs` nobody waits any more. */
  showAddress(address: string, problem: string | undefined, leftMs: number): void;
  /** Where a terminal is: a line that the person enters, such as the address at which their browser has ended. */
  readonly readLine: ((signal: AbortSignal) => Promise<string>) | undefined;
  /** Why a line or a redirect was of no use. */
  showMistake(text: string): void;
}

/** How the person wants to sign in. */
export interface BrowserLoginOptions {
  /** Port of the redirect; a free one, or the registered one, unless given. */
  readonly port: number | undefined;
  /** Whether a browser is opened; else the person opens the address. */
  readonly open: boolean;
}

const PATIENCE_MS = 10 * 60_000;

/** Signs a person in with a browser, which brings an authorization code back to this machine (RFC 6749 §4.1, RFC 7636, RFC 8252 §7.3). */
export async function loginAuthorizationCode(
  login: LoginProfile,
  wish: BrowserLoginOptions,
  ports: Ports,
  outside: LoginPorts,
  person: BrowserPrompt,
  signal: AbortSignal | undefined,
): Promise<LoginResponse> {
  const endpoint = login.endpoints.authorizationUrl;
  if (endpoint === undefined) {
    throw new OAuthProfileError('profile_invalid', `${login.name} has no address where people sign in`, {
      hint: `set ${login.name}.options.authorization_url, or use --device`,
    });
  }
  const state = outside.randomString();
  const verifier = new Secret(outside.randomString());
  const address = addressOf(login, wish.port);
  const listener = await outside.listen(address, (query) => matchesState(query, state));
  const over = new AbortController();
  const leave = (): void => over.abort(signal?.reason);
  signal?.addEventListener('abort', leave);
  if (signal?.aborted) leave();
  try {
    const redirectUri = redirectUriOf(login, address, listener.port);
    const url = buildAuthorizationUrl(login, endpoint, { redirectUri, state, challenge: outside.sha256(verifier) });
    const page = outside.pageUrl(url);
    // The person takes longer than the server, so nobody waits for this.
    const issuer = findIssuer(login, ports, outside, over.signal);
    const problem = wish.open ? await outside.openBrowser(page) : 'you open it yourself';
    if (wish.open && problem !== undefined && person.readLine === undefined) throw noBrowser(login, problem);
    person.showAddress(page, problem, PATIENCE_MS);
    const waits = [listener.redirect, patience(ports, over.signal)];
    if (problem !== undefined) waits.push(pasted(person, redirectUri, state, over.signal));
    const redirect = await Promise.race(waits);
    return await exchange(login, redirect, { redirectUri, verifier, issuer: await issuer }, ports, over.signal);
  } finally {
    signal?.removeEventListener('abort', leave);
    over.abort();
    await listener.close();
  }
}

/** Reads what the browser brought, gets the tokens for it, and tells the person at the browser how it went. */
async function exchange(
  login: LoginProfile,
  redirect: Redirect,
  { redirectUri, verifier, issuer }: { redirectUri: string; verifier: Secret; issuer: ServerMetadata | undefined },
  ports: Ports,
  signal: AbortSignal,
): Promise<LoginResponse> {
  try {
    const response = parseAuthorizationResponse(redirect.query);
    if (response.kind === 'invalid') throw unreadable(login, `the redirect cannot be used: ${response.reason}`);
    const hosts = [login.endpoints.authorizationUrl, login.url].filter((url) => url !== undefined);
    const problem = findIssuerMismatch(response.issuer, issuer, hosts);
    if (problem !== undefined) throw unreadable(login, problem);
    if (response.kind === 'error') {
      redirect.show('refused');
      throw refused(login, response.error, response.description);
    }
    const request = buildCodeTokenRequest(login, { code: response.code, redirectUri, verifier });
    const reply = await postForm(request, parseLoginResponse, 'unsent', ports, signal);
    redirect.show('signed-in');
    return reply;
  } catch (error) {
    redirect.show('failed');
    throw toLoginError(error, login);
  }
}

/** The redirect as it is registered, or one of our own (RFC 8252 §7.3). */
function addressOf(login: LoginProfile, port: number | undefined): RedirectTarget {
  const { redirectUri } = login.options;
  if (redirectUri === undefined) {
    const host = login.provider.login?.redirectHost;
    return host === undefined
      ? { host: '127.0.0.1', port: port ?? 0, path: '/callback' }
      : { host, port: port ?? 0, path: '/' };
  }
  const { hostname, port: registered, pathname } = new URL(redirectUri);
  const fixed = registered === '' ? 80 : Number(registered);
  if (port !== undefined && port !== fixed) {
    throw new OAuthProfileError('usage', `--port ${port} is not the port of ${login.name}.options.redirect_uri`, {
      hint: 'leave one of the two out',
    });
  }
  return { host: hostname, port: fixed, path: pathname };
}

/** Exactly as it is registered: a slash more is another address. */
function redirectUriOf({ options }: LoginProfile, { host, path }: RedirectTarget, port: number): string {
  return options.redirectUri ?? `http://${host}:${port}${path === '/' ? '' : path}`;
}

/** A redirect that the person copied from a browser that could not come back, until one is right. */
async function pasted(
  { readLine, showMistake }: BrowserPrompt,
  redirectUri: string,
  state: string,
  signal: AbortSignal,
): Promise<Redirect> {
  while (readLine !== undefined) {
    const line = (await readLine(signal)).trim();
    if (line === '') continue;
    const query = queryOf(line, redirectUri);
    if (query === undefined) showMistake(`that is not an address that begins with ${redirectUri}?`);
    else if (!matchesState(query, state)) showMistake('that is the address of another sign-in: its state is not ours');
    else return { query, show: () => {} };
  }
  return new Promise(() => {});
}

function queryOf(line: string, redirectUri: string): string | undefined {
  const wanted = new URL(redirectUri);
  if (line.length > 16_384 || !URL.canParse(line)) return undefined;
  const { origin, pathname, search, username, password } = new URL(line);
  const same = origin === wanted.origin && pathname === wanted.pathname && username === '' && password === '';
  return same && search !== '' ? search.slice(1) : undefined;
}

async function patience({ clock }: Ports, signal: AbortSignal): Promise<never> {
  await clock.sleep(PATIENCE_MS, signal);
  throw new OAuthProfileError('timeout', `nobody signed in within ${PATIENCE_MS / 60_000} minutes`, {
    hint: 'run the command again; if the window was closed, nothing was granted',
  });
}

function noBrowser({ command, endpoints }: LoginProfile, problem: string): OAuthProfileError {
  const device = endpoints.device.length > 0 ? `run: ${command} --device; or ` : '';
  return new OAuthProfileError(
    'login_required',
    `no browser can be opened: ${problem}; and there is no terminal to ask at`,
    {
      hint: `${device}run in a terminal: ${command}; or open the address yourself: ${command} --no-open`,
    },
  );
}

function unreadable({ command }: LoginProfile, message: string): OAuthProfileError {
  return new OAuthProfileError('response_unreadable', message, {
    hint: `nothing was sent on; to try again, run: ${command}`,
  });
}

/** RFC 6749 §4.1.2.1. */
function refused(login: LoginProfile, error: string, description: string | undefined): ProviderError {
  const provider = { status: 302, error, description };
  const said = description === undefined ? error : `${error}: ${description}`;
  const who = providerName({ provider: login.provider, url: login.endpoints.authorizationUrl ?? login.url });
  const request = buildCodeTokenRequest(login, { code: new Secret(''), redirectUri: '', verifier: new Secret('') });
  return new ProviderError('provider_rejected', `${who} refused profile ${login.name} (${said})`, {
    provider,
    hint: findHint(request, provider, 'provider_rejected'),
  });
}
