import { createHash } from 'node:crypto';
import { type EmulatorRequest, type EmulatorResponse, json } from '../messages.ts';
import {
  DEVICE_CODE_GRANT,
  type EmulatedProvider,
  type IssuedTokens,
  JWT_BEARER_GRANT,
  type TokenResponse,
  type TokenSubject,
} from '../provider.ts';
import { MAX_STORED_LENGTH, type RequestContext } from '../realm.ts';
import { reject } from '../rejection.ts';
import type { Client } from '../subjects.ts';
import {
  createIdToken,
  createRefreshToken,
  describeSubject,
  issueTokens,
  issueUserTokens,
} from '../tokens/issue-tokens.ts';
import { verifyProof } from '../tokens/verify-proof.ts';
import { authenticateClient, decodeAssertion, verifyAssertion } from './client-auth.ts';

/** A token request after client authentication. */
interface GrantContext extends RequestContext {
  readonly client: Client | undefined;
  readonly clientAuth: TokenSubject['clientAuth'];
}

const grants: Readonly<Record<string, (context: GrantContext) => Promise<IssuedTokens>>> = {
  client_credentials: (context) => {
    const { client, clientAuth, request } = context;
    const grant = 'client_credentials';
    const scope = request.form.get('scope') ?? '';
    const audience = requestedAudience(request.form);
    return issueTokens(context, { clientId: client?.id ?? '', clientAuth, user: undefined, scope, audience, grant });
  },
  password: passwordGrant,
  refresh_token: refreshGrant,
  authorization_code: codeGrant,
  [DEVICE_CODE_GRANT]: deviceGrant,
  [JWT_BEARER_GRANT]: jwtBearerGrant,
};

/** The token endpoint (RFC 6749 §3.2). */
export async function tokenEndpoint(context: RequestContext): Promise<EmulatorResponse> {
  const { request, realm } = context;
  const { provider } = realm;
  const { form } = request;
  const seen = new Set<string>();
  for (const name of form.keys()) {
    // RFC 8707 §2 allows several resources.
    if (seen.has(name) && name !== 'resource') reject('duplicate_field', name);
    seen.add(name);
  }
  const grant = form.get('grant_type') || reject('missing_grant_type', 'grant_type');
  const tenant = provider.tenantOf?.(request);
  const handleGrant = provider.grants.includes(grant) ? grants[provider.grantAliases?.[grant] ?? grant] : undefined;
  if (handleGrant === undefined) return reject('unsupported_grant', grant);
  if (grant === 'password' && provider.tenantsWithoutPasswordGrant?.includes(tenant?.toLowerCase() ?? ''))
    reject('tenant_without_password_grant');
  checkParameters(provider, form);
  // The assertion of a service account identifies the client.
  const client = grant === JWT_BEARER_GRANT ? undefined : await authenticateClient(context, grant);
  if (grant === 'password' && context.fault === 'no-password') reject('password_grant_disabled');
  checkScope(context, grant, client, form.get('scope') ?? '');
  const hasSecret = request.headers['authorization'] !== undefined || form.has('client_secret');
  const clientAuth = form.has('client_assertion') ? 'assertion' : hasSecret ? 'secret' : 'none';
  const hasProof = provider.dpop === true && request.headers['dpop'] !== undefined;
  const keyThumbprint = hasProof ? ((await verifyProof(request, context.now)) ?? reject('invalid_proof')) : undefined;
  const issued = await handleGrant({ ...context, keyThumbprint, client, clientAuth });
  const standard = { ...standardResponse(issued), ...(hasProof && { token_type: 'DPoP' }) };
  return json(200, provider.response?.(standard, issued) ?? standard);
}

/** Rejects parameters that the provider does not support. */
export function checkParameters({ rejectedParameters = [] }: EmulatedProvider, parameters: URLSearchParams): void {
  for (const name of rejectedParameters) if (parameters.has(name)) reject('unsupported_parameter', name);
}

/** The API that a token is requested for (RFC 8707 §2; Auth0 and others call it `audience`). */
export function requestedAudience(parameters: URLSearchParams): string | undefined {
  return parameters.get('resource') || parameters.get('audience') || undefined;
}

function standardResponse({ accessToken, refreshToken, idToken, scope, lifetime }: IssuedTokens): TokenResponse {
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetime,
    refresh_token: refreshToken,
    scope: scope || undefined,
    id_token: idToken,
  };
}

function checkScope({ realm: { provider } }: RequestContext, grant: string, client: Client | undefined, scope: string) {
  if (scope.length > MAX_STORED_LENGTH) reject('invalid_scope', `${scope.slice(0, 40)}…`);
  if (scope === '') {
    if (provider.scopeRequiredFor?.includes(grant)) reject('missing_scope', 'scope');
    return;
  }
  if (!hasScopes(provider, client, scope)) reject('invalid_scope', scope);
  if (grant === 'client_credentials' && provider.allowsClientScope?.(scope) === false) reject('invalid_scope', scope);
}

/** Whether the provider has these scopes and the client may request them. */
export function hasScopes({ isScope }: EmulatedProvider, client: Client | undefined, scope: string): boolean {
  return scope
    .split(' ')
    .filter((one) => one !== '')
    .every((one) => isScope?.(one) !== false && client?.scopes?.includes(one) !== false);
}

function requireField({ form }: EmulatorRequest, field: string): string {
  return form.get(field) || reject('missing_field', field);
}

async function passwordGrant(context: GrantContext): Promise<IssuedTokens> {
  const { request, realm, now, client, clientAuth } = context;
  const name = requireField(request, 'username');
  const password = requireField(request, 'password');
  const user = realm.findUser(name);
  if (user === undefined || user.password !== password) reject('invalid_password');
  return issueUserTokens(context, {
    clientId: client?.id ?? '',
    clientAuth,
    user: name,
    scope: request.form.get('scope') ?? '',
    audience: requestedAudience(request.form),
    authTime: Math.floor(now / 1000),
    grant: 'password',
  });
}

async function refreshGrant(context: GrantContext): Promise<IssuedTokens> {
  const { request, realm, now, client, clientAuth } = context;
  const { provider, settings } = realm;
  const { refreshPolicy: policy, graceSeconds } = settings;
  const token = requireField(request, 'refresh_token');
  const record = realm.refreshTokens.get(token) ?? reject('invalid_refresh_token');
  const { family } = record;
  if (family.revoked || family.clientId !== (client?.id ?? '')) reject('invalid_refresh_token');
  if (record.expiresAt <= now) reject('expired_refresh_token');
  const scope = request.form.get('scope') || family.scope;
  if (!provider.refresh.allowsNewScopes && !isGranted(scope, family.scope)) reject('invalid_scope', scope);
  const isReused = record.usedAt !== undefined;
  const graceEnded = graceSeconds === 0 || now - (record.usedAt ?? now) > graceSeconds * 1000;
  if (policy === 'single_use' && isReused) reject('invalid_refresh_token');
  if (policy === 'rotating' && isReused && graceEnded) {
    family.revoked = true;
    reject('invalid_refresh_token');
  }
  record.usedAt ??= now;
  family.generation++;
  const { clientId, user, authTime } = family;
  const audience = requestedAudience(request.form) ?? family.audience;
  const grant = { clientId, clientAuth, user, scope, audience, authTime, grant: 'refresh_token' };
  const next = policy === 'static' ? undefined : createRefreshToken(context, family);
  return issueTokens(context, grant, family, next);
}

/** Whether all scopes were granted before (RFC 6749 §6). The scope of a profile's refresh token may be unknown. */
function isGranted(scope: string, granted: string): boolean {
  const allowed = granted.split(' ');
  return granted === '' || scope.split(' ').every((one) => allowed.includes(one));
}

async function codeGrant(context: GrantContext): Promise<IssuedTokens> {
  const { request, realm, now, client, clientAuth } = context;
  const code = requireField(request, 'code');
  const record = realm.codes.get(code) ?? reject('invalid_code');
  if (record.used) {
    if (record.family !== undefined && realm.provider.codeReuseRevokesTokens) record.family.revoked = true;
    reject('invalid_code');
  }
  record.used = true;
  if (record.expiresAt <= now || record.clientId !== client?.id) return reject('invalid_code');
  if (request.form.get('redirect_uri') !== record.redirectUri) reject('redirect_uri_mismatch');
  const verifier = request.form.get('code_verifier') ?? '';
  // A verifier without a challenge means that the challenge was removed from the authorization request (RFC 9700 §2.1.1).
  if (record.challenge === undefined && verifier !== '') reject('invalid_code_verifier');
  if (record.challenge !== undefined) {
    const hashed =
      record.challengeMethod === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
    if (hashed !== record.challenge) reject('invalid_code_verifier');
  }
  const { clientId, user, scope, nonce, authTime, offline } = record;
  const audience = requestedAudience(request.form) ?? record.audience;
  const grant = { clientId, clientAuth, user, scope, audience, nonce, authTime, grant: 'authorization_code' };
  const issued = await issueUserTokens(context, grant, offline);
  record.family = realm.refreshTokens.get(issued.refreshToken ?? '')?.family;
  return issued;
}

async function deviceGrant(context: GrantContext): Promise<IssuedTokens> {
  const { request, realm, now, client, clientAuth } = context;
  // Microsoft also accepts `code`; RFC 8628 §3.4 calls the field device_code.
  const code = request.form.get('device_code') || request.form.get('code') || reject('missing_field', 'device_code');
  const device = realm.devices.get(code);
  if (device === undefined || device.clientId !== client?.id) return reject('invalid_device_code');
  if (device.expiresAt <= now) reject('expired_device_code');
  const tooEarly = device.polledAt !== undefined && now - device.polledAt < device.intervalMs;
  device.polledAt = now;
  if (device.decision === undefined) {
    if (!tooEarly) reject('authorization_pending');
    // RFC 8628 §3.5: this and all later intervals are 5 seconds longer.
    device.intervalMs += 5_000;
    reject('slow_down');
  }
  if (device.decision === 'denied') return reject('access_denied');
  realm.devices.delete(code);
  return issueUserTokens(context, {
    clientId: device.clientId,
    clientAuth,
    user: device.decision?.user ?? '',
    scope: device.scope,
    authTime: Math.floor(now / 1000),
    grant: DEVICE_CODE_GRANT,
  });
}

/**
 * The grant of service accounts (RFC 7523 §2.1): the assertion names the client (`iss`), the scope, and optionally a
 * user to act for (`sub`). With the claim `target_audience`, Google returns an id token for that audience.
 */
async function jwtBearerGrant(context: GrantContext): Promise<IssuedTokens> {
  const { request, realm } = context;
  const assertion = requireField(request, 'assertion');
  const { iss, sub, scope, target_audience: targetAudience } = await decodeAssertion(assertion);
  const client = realm.clients.get(String(iss)) ?? reject('invalid_grant_assertion');
  if (!(await verifyAssertion(context, client, assertion, { issuer: client.id }))) reject('invalid_grant_assertion');
  const delegated = typeof sub === 'string' && sub !== client.id ? sub : undefined;
  if (delegated !== undefined && realm.findUser(delegated) === undefined) reject('invalid_grant_assertion');
  const grant = {
    clientId: client.id,
    clientAuth: 'assertion' as const,
    user: delegated,
    scope: typeof scope === 'string' ? scope : '',
    grant: JWT_BEARER_GRANT,
  };
  const issued = await issueTokens(context, grant);
  if (typeof targetAudience !== 'string') return issued;
  const subject = describeSubject(context, grant);
  const claims = { aud: targetAudience, azp: client.id, email: client.id, email_verified: true, sub: client.id };
  return { ...issued, accessToken: '', idToken: await createIdToken(context, subject, undefined, claims) };
}
