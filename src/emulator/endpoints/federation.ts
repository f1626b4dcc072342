import { type EmulatorResponse, json, jsonMembers } from '../messages.ts';
import type { RequestContext } from '../realm.ts';
import { issueTokens } from '../tokens/issue-tokens.ts';
import { findToken } from '../tokens/verify-token.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ISSUED_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
/** https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token */
const POOL =
  /^\/\/iam\.googleapis\.com\/projects\/\d+\/locations\/global\/workloadIdentityPools\/[^/]+\/providers\/[^/]+$/;

/**
 * Workload identity federation of Google: the STS exchanges a token of another issuer, which is not verified, and with the result a service account is
 * impersonated.
 */
export async function federationEndpoint(context: RequestContext): Promise<EmulatorResponse> {
  const [, email] = /\/serviceAccounts\/([^/:]+):/.exec(context.request.path) ?? [];
  return email === undefined ? exchangeToken(context) : impersonate(context, email);
}

async function exchangeToken(context: RequestContext): Promise<EmulatorResponse> {
  const { form } = context.request;
  const fail = (error: string, error_description: string) => json(400, { error, error_description });
  if (form.get('grant_type') !== TOKEN_EXCHANGE) return fail('invalid_request', 'Invalid grant type.');
  const audience = form.get('audience') ?? '';
  if (!POOL.test(audience)) return fail('invalid_target', 'Invalid value for "audience".');
  if (!form.get('subject_token')) return fail('invalid_request', 'Missing subject token.');
  const grant = { clientId: audience, clientAuth: 'none', user: undefined, grant: TOKEN_EXCHANGE } as const;
  const issued = await issueTokens(context, { ...grant, scope: form.get('scope') ?? '' });
  const { accessToken: access_token, lifetime: expires_in } = issued;
  return json(200, { access_token, issued_token_type: ISSUED_TYPE, token_type: 'Bearer', expires_in });
}

/** https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
async function impersonate(context: RequestContext, email: string) {
  const { request } = context;
  const [, bearer = ''] = /^Bearer (.+)$/i.exec(String(request.headers['authorization'] ?? '')) ?? [];
  const known = await findToken(context, bearer);
  if (known === undefined || known.invalid !== undefined) return context.realm.provider.unauthorizedResponse();
  const { scope, lifetime = '3600s' } = jsonMembers(request);
  const seconds = Number(/^(\d+)s$/.exec(String(lifetime))?.[1]);
  const message = Array.isArray(scope) && seconds > 0 ? undefined : 'Request contains an invalid argument.';
  if (message !== undefined) return json(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
  const grant = { clientId: email, clientAuth: 'assertion', user: undefined, grant: 'impersonation' } as const;
  const { accessToken, issuedAt } = await issueTokens(context, {
    ...grant,
    scope: [scope].flat().join(' '),
    overrides: { lifetime: seconds },
  });
  return json(200, { accessToken, expireTime: new Date((issuedAt + seconds) * 1000).toISOString() });
}
