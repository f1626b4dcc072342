import { randomInt } from 'node:crypto';
import { authenticateClient } from '../client-auth.ts';
import type { RequestContext } from '../issue.ts';
import { type EmulatorRequest, type EmulatorResponse, json } from '../message.ts';
import { rejectWith } from '../problem.ts';
import { MAX_KEPT_LENGTH } from '../realm.ts';

/** Without letters that look or sound alike (RFC 8628 §6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const INTERVAL_SECONDS = 5;

/** The device authorization endpoint (RFC 8628 §3.1). */
export function deviceEndpoint(desk: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { realm, mint, now } = desk;
  const settings = realm.dialect.device;
  if (settings === undefined) return { status: 404, body: '' };
  const id = request.form.get('client_id') || undefined;
  const client =
    request.headers['authorization'] || request.form.has('client_secret')
      ? authenticateClient(desk, request, 'device_code')
      : realm.clients.get(id ?? '');
  if (client === undefined)
    return rejectWith(
      id === undefined ? { kind: 'missing_field', field: 'client_id' } : { kind: 'unknown_client', clientId: id },
    );
  const scope = request.form.get('scope') ?? '';
  if (scope.length > MAX_KEPT_LENGTH) rejectWith({ kind: 'wrong_scope', scope: `${scope.slice(0, 40)}…` });
  const letters = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const userCode = `${letters.slice(0, 4)}-${letters.slice(4)}`;
  const deviceCode = mint.opaque('dc-');
  realm.devices.set(deviceCode, {
    clientId: client.id,
    scope,
    userCode,
    expiresAt: now + settings.expiresIn * 1000,
    intervalMs: INTERVAL_SECONDS * 1000,
    polledAt: undefined,
    decision: undefined,
  });
  const uri = `${request.base}${settings.verifyPath}`;
  return json(200, {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: uri,
    ...(settings.complete && { verification_uri_complete: `${uri}?user_code=${userCode}` }),
    expires_in: settings.expiresIn,
    interval: INTERVAL_SECONDS,
    ...(settings.message && {
      message: `To sign in, use a web browser to open the page ${uri} and enter the code ${userCode} to authenticate.`,
    }),
  });
}
