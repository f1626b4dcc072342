import { InvalidProfileError, type OAuthProfileError, TransportError } from '../errors.ts';
import { parseBody } from '../oauth/http-response.ts';
import type { CallApi, Environment, Limits, ReadAssertion } from '../ports.ts';
import { type AssertionSource, METADATA_HOST } from '../profile/profile.ts';
import { isSecure, parseUrl } from '../profile/url.ts';
import { Secret } from '../redaction/secret.ts';

const METADATA = `http://${METADATA_HOST}`;
const MAX_BYTES = 65_536;

/** Environment, files and network of {@link createReadAssertion}. */
interface Sources {
  readonly env: Environment;
  /** Content of an `env` or `file` source. */
  readonly readLocal: (source: AssertionSource) => string | undefined;
  readonly callApi: CallApi;
}

/** A request for an assertion, and where the assertion is in its response. */
interface AssertionRequest {
  /** Default: GET. */
  readonly method?: 'GET' | 'PUT' | undefined;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly member?: string | undefined;
  /** A header that proves that the response comes from the metadata service. */
  readonly expectedHeader?: readonly [name: string, value: string];
}

/** Creates the {@link ReadAssertion} port for all sources but other profiles. */
export function createReadAssertion({ env, readLocal, callApi }: Sources): ReadAssertion {
  return async ({ source, audience }, profile, limits) => {
    const invalid = (message: string, hint: string): OAuthProfileError =>
      new InvalidProfileError(profile, [{ variable: `${profile}.options.assertion_source`, message, hint }]);
    let content: string | undefined;
    let { member } = source;
    if (source.kind === 'env' || source.kind === 'file') content = readLocal(source);
    else if (source.kind === 'executable') {
      const { runExecutable } = await import('./grants/external-account.ts');
      content = await runExecutable(source, env, limits, invalid);
    } else if (source.kind === 'aws') {
      const { signCallerIdentity } = await import('./grants/external-account.ts');
      const getMetadata: Parameters<typeof signCallerIdentity>[2] = (url, headers, method) =>
        get({ url: new URL(url), headers, method }, callApi, limits, invalid);
      content = await signCallerIdentity(source, env, getMetadata, invalid);
    } else if (source.kind === 'profile')
      throw invalid('names a profile, which cannot be used here', 'use another source');
    else {
      const request = createRequest(source, audience, env, invalid);
      member = request.member;
      content = await get(request, callApi, limits, invalid);
    }
    const assertion = member === undefined ? content?.trim() : readMember(content ?? '', member);
    if (assertion) return new Secret(assertion);
    throw invalid(`supplies no assertion: ${describeMissing(source, member)}`, missingHint(source, audience, env));
  };
}

function createRequest(
  { kind, value, headers = {}, member }: AssertionSource,
  audience: string,
  env: Environment,
  invalid: (message: string, hint: string) => OAuthProfileError,
): AssertionRequest {
  const query = (parameters: Record<string, string>): string => new URLSearchParams(parameters).toString();
  switch (kind) {
    case 'github-actions': {
      // https://docs.github.com/en/actions/reference/security/oidc
      const [base, token] = [env['ACTIONS_ID_TOKEN_REQUEST_URL'], env['ACTIONS_ID_TOKEN_REQUEST_TOKEN']];
      const url = parseUrl(`${base}&${query({ audience })}`);
      if (!base || !token || url === undefined || !isSecure(url)) {
        const hint = 'in the workflow, add to the job: permissions: id-token: write; it needs GitHub Actions';
        throw invalid('is github-actions, but ACTIONS_ID_TOKEN_REQUEST_URL or …_TOKEN is not set', hint);
      }
      const authorization = new Secret(`Bearer ${token}`);
      return { url, headers: { Authorization: authorization, Accept: 'application/json' }, member: 'value' };
    }
    case 'google-metadata': {
      // https://cloud.google.com/compute/docs/instances/verifying-instance-identity
      const path = '/computeMetadata/v1/instance/service-accounts/default/identity';
      return {
        url: new URL(`${METADATA}${path}?${query({ audience, format: 'full' })}`),
        headers: { 'Metadata-Flavor': 'Google' },
        expectedHeader: ['metadata-flavor', 'Google'],
      };
    }
    case 'azure-imds': {
      const identity = { resource: audience, ...(value !== '' && { client_id: value }) };
      // https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
      const secret = env['IDENTITY_HEADER'];
      const url = parseUrl(`${env['IDENTITY_ENDPOINT']}?${query({ 'api-version': '2019-08-01', ...identity })}`);
      if (secret && url !== undefined && (isSecure(url) || /^169\.254\./.test(url.hostname)))
        return { url, headers: { 'X-IDENTITY-HEADER': new Secret(secret) }, member: 'access_token' };
      // https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
      const parameters = { 'api-version': '2018-02-01', ...identity };
      return {
        url: new URL(`${METADATA}/metadata/identity/oauth2/token?${query(parameters)}`),
        headers: { Metadata: 'true' },
        member: 'access_token',
      };
    }
    default:
      return { url: new URL(value), headers, member };
  }
}

async function get(
  { url, headers, method = 'GET', expectedHeader: [name, value] = ['', ''] }: AssertionRequest,
  callApi: CallApi,
  limits: Limits,
  invalid: (message: string, hint: string) => OAuthProfileError,
): Promise<string> {
  const request = { method, url, headers: Object.entries(headers), body: undefined };
  const response = await callApi(request, { ...limits, maxBytes: MAX_BYTES });
  const { status } = response;
  if (status === 429 || status >= 500) {
    const hint = 'try again later';
    throw new TransportError('connection_failed', `${url.host} returned HTTP ${status}`, { sent: false, hint });
  }
  // The body may contain a token.
  if (status !== 200)
    throw invalid(`was rejected: ${url.host} returned HTTP ${status}`, 'check the permissions of the job or machine');
  if (name !== '' && response.headers[name] !== value)
    throw invalid(
      `was rejected: ${url.host} is not the metadata service`,
      'use this source on a machine of the cloud only',
    );
  return new TextDecoder().decode(response.body);
}

function readMember(content: string, member: string): string | undefined {
  const body = parseBody(content);
  const value = body.kind === 'object' && Object.hasOwn(body.members, member) ? body.members[member] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function describeMissing({ kind, value }: AssertionSource, member: string | undefined): string {
  if (kind === 'env') return `environment variable ${value} is not set`;
  if (member !== undefined) return `there is no member ${member}`;
  return kind === 'file' ? `${value} is missing or empty` : 'the response is empty';
}

function missingHint({ kind, value }: AssertionSource, audience: string, env: Environment): string {
  if (kind !== 'env') return 'check the source';
  if (env['GITLAB_CI'] === undefined) return `set ${value}`;
  return `in .gitlab-ci.yml, add to the job: id_tokens: ${value}: aud: ${audience}`;
}
