import { OAuthProfileError } from '../../errors.ts';
import { buildAuthorizationUrl } from '../../oauth/authorization.ts';
import type { ServerMetadata } from '../../oauth/metadata.ts';
import {
  buildPushedRequest,
  parsePushedResponse,
  requestObjectSpec,
  toSignedParameters,
} from '../../oauth/pushed-request.ts';
import type { Ports } from '../../ports.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { post } from '../request-token.ts';

/**
 * Creates the URL that the browser opens. The parameters are signed (RFC 9101) if the profile or the server requires it, and sent to the server first
 * (RFC 9126) if it has an endpoint for this: the URL then contains a reference to them.
 */
export async function createAuthorizationUrl(
  login: LoginProfile,
  endpoint: URL,
  parameters: URLSearchParams,
  metadata: ServerMetadata | undefined,
  ports: Ports,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<URL> {
  let sent = parameters;
  if (login.options.signsRequest || metadata?.requiresSignedRequest) {
    const spec = requestObjectSpec(login, parameters, metadata?.issuer, timeoutMs);
    if (spec === undefined) throw missingKeyError(login);
    const limits = { timeoutMs: login.options.timeoutMs, signal };
    const request = await ports.sign(spec, login.name, limits);
    sent = toSignedParameters(parameters, request);
  }
  const pushUrl = metadata?.pushedRequestUrl;
  if (pushUrl === undefined) return buildAuthorizationUrl(endpoint, sent);
  try {
    // The request has no effect before the user logs in, so it may be repeated.
    const options = { parse: parsePushedResponse, mayRetry: () => true, signal };
    const requestUri = await post(buildPushedRequest(login, pushUrl, sent), ports, options);
    const reference = { client_id: parameters.get('client_id') ?? '', request_uri: requestUri };
    return buildAuthorizationUrl(endpoint, new URLSearchParams(reference));
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || metadata?.requiresPushedRequest || signal.aborted) throw error;
    ports.log(`${error.message}; the browser sends the authorization request itself`);
    return buildAuthorizationUrl(endpoint, sent);
  }
}

function missingKeyError({ name, options }: LoginProfile): OAuthProfileError {
  const cause = options.signsRequest
    ? `${name}.options.signed_request is true`
    : 'the server requires signed authorization requests';
  return new OAuthProfileError('profile_invalid', `${cause}, but there is no key to sign with`, {
    hint: `set ${name}.options.key_file to the private key that is registered for the client`,
  });
}
