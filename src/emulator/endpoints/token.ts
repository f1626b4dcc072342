import { createHash } from 'node:crypto';
import { authenticateClient } from '../client-auth.ts';
import { createRefreshToken, issueTokens, issueUserTokens } from '../issue-tokens.ts';
import { type EmulatorRequest, type EmulatorResponse, json } from '../messages.ts';
import { DEVICE_CODE_GRANT, type IssuedTokens, type TokenResponse } from '../provider.ts';
import { type Client, MAX_STORED_LENGTH, type RequestContext } from '../realm.ts';
import { reject } from '../rejection.ts';

/** Handles a token request after client authentication. */
type GrantHandler = (context: RequestContext, request: EmulatorRequest, client: Client | undefined) => IssuedTokens;

const grants: Readonly<Record<string, GrantHandler>> = {
  client_credentials: (context, { form }, client) => {
    const scope = form.get('scope') ?? '';
    return issueTokens(context, { clientId: client?.id ?? '', user: undefined, scope, grant: 'client_credentials' });
  },
  password: passwordGrant,
  refresh_token: refreshGrant,
  authorization_code: codeGrant,
  [DEVICE_CODE_GRANT]: deviceGrant,
};

/** The token endpoint (RFC 6749 §3.2). `passwordGrantDisabled` emulates gitlab.com, which no longer supports that grant. */
export async function tokenEndpoint(
  context: RequestContext,
  request: EmulatorRequest,
  passwordGrantDisabled: boolean,
): Promise<EmulatorResponse> {
  const { provider, tenants } = context.realm;
  const { form } = request;
  const seen = new Set<string>();
  for (const name of form.keys()) {
    if (seen.has(name)) reject('duplicate_field', name);
    seen.add(name);
  }
  const grant = requireField(request, 'grant_type');
  const tenant = provider.tenantOf?.(request);
  if (tenant !== undefined && !tenants.has(tenant.toLowerCase())) reject('unknown_tenant', tenant);
  const handleGrant = provider.grants.includes(grant) ? grants[grant] : undefined;
  if (handleGrant === undefined) return reject('unsupported_grant', grant);
  if (grant === 'password' && provider.tenantsWithoutPasswordGrant?.includes(tenant?.toLowerCase() ?? ''))
    reject('tenant_without_password_grant');
  const client = await authenticateClient(context, request, grant);
  if (grant === 'password' && passwordGrantDisabled) reject('password_grant_disabled');
  checkScope(context, grant, form.get('scope') ?? '');
  const issued = handleGrant(context, request, client);
  const standard = standardResponse(issued);
  return json(200, provider.response?.(standard, issued) ?? standard);
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

function checkScope({ realm: { provider } }: RequestContext, grant: string, scope: string): void {
  if (scope.length > MAX_STORED_LENGTH) reject('invalid_scope', `${scope.slice(0, 40)}…`);
  if (!provider.scopeRequiredFor?.includes(grant)) return;
  if (scope === '') reject('missing_field', 'scope');
  if (grant === 'client_credentials' && provider.allowsClientScope?.(scope) === false) reject('invalid_scope', scope);
}

function requireField({ form }: EmulatorRequest, field: string): string {
  return form.get(field) || reject('missing_field', field);
}

function passwordGrant(context: RequestContext, request: EmulatorRequest, client: Client | undefined): IssuedTokens {
  const user = requireField(request, 'username');
  const password = requireField(request, 'password');
  const { users } = context.realm;
  if (!users.has(user) || users.get(user) !== password) reject('invalid_password');
  const scope = request.form.get('scope') ?? '';
  return issueUserTokens(context, { clientId: client?.id ?? '', user, scope, grant: 'password' });
}

function refreshGrant(context: RequestContext, request: EmulatorRequest, client: Client | undefined): IssuedTokens {
  const { realm, now } = context;
  const { policy, graceSeconds = 0, allowsNewScopes } = realm.provider.refresh;
  const token = requireField(request, 'refresh_token');
  const record = realm.refreshTokens.get(token) ?? reject('invalid_refresh_token');
  const { family } = record;
  if (family.revoked || family.clientId !== (client?.id ?? '')) reject('invalid_refresh_token');
  if (record.expiresAt <= now) reject('expired_refresh_token');
  const scope = request.form.get('scope') || family.scope;
  if (!allowsNewScopes && !isGranted(scope, family.scope)) reject('invalid_scope', scope);
  const isReused = record.usedAt !== undefined;
  const graceEnded = graceSeconds === 0 || now - (record.usedAt ?? now) > graceSeconds * 1000;
  if (policy === 'single_use' && isReused) reject('invalid_refresh_token');
  if (policy === 'rotating' && isReused && graceEnded) {
    family.revoked = true;
    reject('invalid_refresh_token');
  }
  record.usedAt ??= now;
  family.generation++;
  const grant = { clientId: family.clientId, user: family.user, scope, grant: 'refresh_token' };
  const next = policy === 'static' ? undefined : createRefreshToken(context, family);
  return issueTokens(context, grant, family, next);
}

/** Whether all scopes were granted before (RFC 6749 §6). The scope of a profile's refresh token may be unknown. */
function isGranted(scope: string, granted: string): boolean {
  const allowed = granted.split(' ');
  return granted === '' || scope.split(' ').every((one) => allowed.includes(one));
}

function codeGrant(context: RequestContext, request: EmulatorRequest, client: Client | undefined): IssuedTokens {
  const { realm, now } = context;
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
  const { clientId, user, scope, offline } = record;
  const issued = issueUserTokens(context, { clientId, user, scope, grant: 'authorization_code' }, offline);
  record.family = realm.refreshTokens.get(issued.refreshToken ?? '')?.family;
  return issued;
}

function deviceGrant(context: RequestContext, request: EmulatorRequest, client: Client | undefined): IssuedTokens {
  const { realm, now } = context;
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
    user: device.decision?.user ?? '',
    scope: device.scope,
    grant: DEVICE_CODE_GRANT,
  });
}
