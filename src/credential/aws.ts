import { OAuthProfileError } from '../errors.ts';
import type { ApiRequest, ApiResponse } from '../ports.ts';
import { excerpt } from '../redaction/sanitize.ts';
import type { Secret } from '../redaction/secret.ts';

/** The parameters of `AssumeRoleWithWebIdentity`. */
export interface AwsRole {
  readonly arn: string;
  readonly sessionName: string;
  /** Endpoint of the Security Token Service. */
  readonly endpoint: URL;
}

/** The endpoint of a region, or the global one. */
export function stsEndpoint(region: string | undefined): URL {
  if (!region) return new URL('https://sts.amazonaws.com/');
  return new URL(`https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`);
}

/**
 * Builds the request that exchanges a token for credentials. It is not signed: the token authenticates it.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
export function buildAwsRequest({ arn, sessionName, endpoint }: AwsRole, token: Secret): ApiRequest {
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: arn,
    RoleSessionName: sessionName,
  });
  return {
    method: 'POST',
    url: endpoint,
    headers: [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Accept', 'text/xml'],
    ],
    body: [token.map((text) => `${form}&WebIdentityToken=${encodeURIComponent(text)}`)],
  };
}

/** Formats the response of the service as the output of a `credential_process`. */
export function formatAwsResponse({ status, body }: Pick<ApiResponse, 'status' | 'body'>): string {
  const xml = new TextDecoder().decode(body);
  // The values are base64, names and times, which XML does not escape.
  const element = (name: string): string | undefined => new RegExp(`<${name}>([^<&]+)</${name}>`).exec(xml)?.[1];
  const [AccessKeyId, SecretAccessKey, SessionToken, Expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map(element);
  if (status === 200 && AccessKeyId && SecretAccessKey && SessionToken && Expiration)
    return JSON.stringify({ Version: 1, AccessKeyId, SecretAccessKey, SessionToken, Expiration });
  const code = element('Code');
  if (status < 400 || code === undefined)
    throw new OAuthProfileError('response_unreadable', `AWS STS returned no credentials (HTTP ${status})`, {
      hint: 'check the proxy and the region',
    });
  const reason = `${excerpt(code, 60)}: ${excerpt(element('Message') ?? '', 200)}`;
  throw new OAuthProfileError(
    status < 500 ? 'provider_rejected' : 'provider_unavailable',
    `AWS STS rejected the token: ${reason}`,
    { hint: 'check the trust policy of the role: its identity provider, audience and subject' },
  );
}
