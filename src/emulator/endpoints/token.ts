import { createHash } from 'node:crypto';
import { authenticateClient } from '../client-auth.ts';
import type { Issued } from '../dialect.ts';
import { issue, issueToUser, newRefreshToken, type RequestContext } from '../issue.ts';
import { type EmulatorRequest, type EmulatorResponse, json } from '../message.ts';
import { rejectWith } from '../problem.ts';
import { type Client, MAX_KEPT_LENGTH } from '../realm.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

/** A grant: makes tokens of a request whose client is known. */
type Grant = (desk: RequestContext, request: EmulatorRequest, client: Client | undefined) => Issued;

const grants: Readonly<Record<string, Grant>> = {
  client_credentials: (desk, { form }, client) => {
    const scope = form.get('scope') ?? '';
    return issue(
      desk,
      { clientId: client?.id ?? '', user: undefined, scope, grant: 'client_credentials' },
      undefined,
      undefined,
    );
  },
  password: passwordGrant,
  refresh_token: refreshGrant,
  authorization_code: codeGrant,
  device_code: deviceGrant,
};

/** The token endpoint (RFC 6749 §3.2). `passwordOff` is how GitLab.com is today. */
export function tokenEndpoint(desk: RequestContext, request: EmulatorRequest, passwordOff: boolean): EmulatorResponse {
  const { dialect, tenants } = desk.realm;
  const { form } = request;
  const seen = new Set<string>();
  for (const name of form.keys()) {
    if (seen.has(name)) rejectWith({ kind: 'duplicate_field', field: name });
    seen.add(name);
  }
  const named = form.get('grant_type') ?? '';
  if (named === '') rejectWith({ kind: 'missing_field', field: 'grant_type' });
  const grant = named === DEVICE ? 'device_code' : named;
  const tenant = dialect.tenantOf(request);
  if (tenant !== undefined && !tenants.has(tenant.toLowerCase())) rejectWith({ kind: 'unknown_tenant', tenant });
  const perform = dialect.grants.includes(grant) ? grants[grant] : undefined;
  if (perform === undefined) return rejectWith({ kind: 'unsupported_grant', grant: named });
  if (grant === 'password' && dialect.tenantsWithoutPassword.includes(tenant?.toLowerCase() ?? ''))
    rejectWith({ kind: 'tenant_without_password' });
  const client = authenticateClient(desk, request, grant);
  if (grant === 'password' && passwordOff) rejectWith({ kind: 'password_off' });
  checkScope(desk, grant, form.get('scope') ?? '');
  return json(200, dialect.response(perform(desk, request, client)));
}

function checkScope({ realm: { dialect } }: RequestContext, grant: string, scope: string): void {
  if (scope.length > MAX_KEPT_LENGTH) rejectWith({ kind: 'wrong_scope', scope: `${scope.slice(0, 40)}…` });
  if (!dialect.scopeRequiredFor.includes(grant)) return;
  if (scope === '') rejectWith({ kind: 'missing_field', field: 'scope' });
  if (grant === 'client_credentials' && !dialect.allowsOwnScope(scope)) rejectWith({ kind: 'wrong_scope', scope });
}

function required({ form }: EmulatorRequest, field: string): string {
  return form.get(field) || rejectWith({ kind: 'missing_field', field });
}

function passwordGrant(desk: RequestContext, request: EmulatorRequest, client: Client | undefined): Issued {
  const user = required(request, 'username');
  const password = required(request, 'password');
  const { users } = desk.realm;
  if (!users.has(user) || users.get(user) !== password) rejectWith({ kind: 'wrong_password' });
  const scope = request.form.get('scope') ?? '';
  return issueToUser(desk, { clientId: client?.id ?? '', user, scope, grant: 'password' });
}

function refreshGrant(desk: RequestContext, request: EmulatorRequest, client: Client | undefined): Issued {
  const { realm, now } = desk;
  const { policy, graceSeconds, widens } = realm.dialect.refresh;
  const token = required(request, 'refresh_token');
  const record = realm.refreshTokens.get(token) ?? rejectWith({ kind: 'dead_refresh_token' });
  const { family } = record;
  if (family.revoked || family.clientId !== (client?.id ?? '')) rejectWith({ kind: 'dead_refresh_token' });
  if (record.expiresAt <= now) rejectWith({ kind: 'expired_refresh_token' });
  const scope = request.form.get('scope') || family.scope;
  if (!widens && !isWithin(scope, family.scope)) rejectWith({ kind: 'wrong_scope', scope });
  const late = record.usedAt !== undefined && now - record.usedAt > graceSeconds * 1000;
  if (policy === 'once' && record.usedAt !== undefined) rejectWith({ kind: 'dead_refresh_token' });
  if (policy === 'rotates' && record.usedAt !== undefined && (late || graceSeconds === 0)) {
    family.revoked = true;
    rejectWith({ kind: 'dead_refresh_token' });
  }
  record.usedAt ??= now;
  family.generation++;
  const grantee = { clientId: family.clientId, user: family.user, scope, grant: 'refresh_token' };
  const next = policy === 'kept' ? undefined : newRefreshToken(desk, family);
  return issue(desk, grantee, family, next);
}

/** RFC 6749 §6; what is unknown of a token that came with a profile is not held against it. */
function isWithin(scope: string, granted: string): boolean {
  const allowed = granted.split(' ');
  return granted === '' || scope.split(' ').every((one) => allowed.includes(one));
}

function codeGrant(desk: RequestContext, request: EmulatorRequest, client: Client | undefined): Issued {
  const { realm, now } = desk;
  const code = required(request, 'code');
  const record = realm.codes.get(code) ?? rejectWith({ kind: 'dead_code' });
  if (record.used) {
    if (record.family !== undefined && realm.dialect.codeReuseRevokes) record.family.revoked = true;
    rejectWith({ kind: 'dead_code' });
  }
  record.used = true;
  if (record.expiresAt <= now || record.clientId !== client?.id) return rejectWith({ kind: 'dead_code' });
  if (request.form.get('redirect_uri') !== record.redirectUri) rejectWith({ kind: 'wrong_redirect' });
  const verifier = request.form.get('code_verifier') ?? '';
  // A verifier for a code without a challenge: somebody took the challenge out (RFC 9700 §2.1.1).
  if (record.challenge === undefined && verifier !== '') rejectWith({ kind: 'wrong_verifier' });
  if (record.challenge !== undefined) {
    const hashed =
      record.challengeMethod === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
    if (hashed !== record.challenge) rejectWith({ kind: 'wrong_verifier' });
  }
  const { clientId, user, scope, offline } = record;
  const issued = issueToUser(desk, { clientId, user, scope, grant: 'authorization_code' }, offline);
  record.family = realm.refreshTokens.get(issued.refreshToken ?? '')?.family;
  return issued;
}

function deviceGrant(desk: RequestContext, request: EmulatorRequest, client: Client | undefined): Issued {
  const { realm, now } = desk;
  // Microsoft's own steps name the field `code`; RFC 8628 §3.4 says device_code.
  const code =
    request.form.get('device_code') ||
    request.form.get('code') ||
    rejectWith({ kind: 'missing_field', field: 'device_code' });
  const device = realm.devices.get(code);
  if (device === undefined || device.clientId !== client?.id) return rejectWith({ kind: 'dead_device_code' });
  if (device.expiresAt <= now) rejectWith({ kind: 'expired_device_code' });
  const early = device.polledAt !== undefined && now - device.polledAt < device.intervalMs;
  device.polledAt = now;
  if (device.decision === undefined) {
    if (!early) rejectWith({ kind: 'pending' });
    // RFC 8628 §3.5: the interval grows for good.
    device.intervalMs += 5_000;
    rejectWith({ kind: 'slow_down' });
  }
  if (device.decision === 'declined') return rejectWith({ kind: 'declined' });
  realm.devices.delete(code);
  return issueToUser(desk, {
    clientId: device.clientId,
    user: device.decision?.user ?? '',
    scope: device.scope,
    grant: 'device_code',
  });
}
