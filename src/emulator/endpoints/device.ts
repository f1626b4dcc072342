import { randomInt } from 'node:crypto';
import { type EmulatorResponse, json } from '../messages.ts';
import { MAX_STORED_LENGTH, type RequestContext } from '../realm.ts';
import { reject } from '../rejection.ts';
import { authenticateClient } from './client-auth.ts';
import { checkParameters, hasScopes } from './token.ts';

/** Consonants only: no similar characters and no words (RFC 8628 §6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const INTERVAL_SECONDS = 5;

/** The device authorization endpoint (RFC 8628 §3.1). */
export async function deviceEndpoint(context: RequestContext): Promise<EmulatorResponse> {
  const { request, realm, states, now } = context;
  const settings = realm.provider.device;
  if (settings === undefined) return { status: 404, body: '' };
  checkParameters(realm.provider, request.form);
  const id = request.form.get('client_id') || undefined;
  const client =
    request.headers['authorization'] || request.form.has('client_secret')
      ? await authenticateClient(context, 'device_code')
      : realm.clients.get(id ?? '');
  if (client === undefined)
    return id === undefined ? reject('missing_field', 'client_id') : reject('unknown_client', id);
  const scope = request.form.get('scope') ?? '';
  if (scope.length > MAX_STORED_LENGTH || !hasScopes(realm.provider, client, scope))
    reject('invalid_scope', scope.slice(0, 40));
  const letters = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const userCode = settings.hasDash ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters;
  const deviceCode = states.random('dc-');
  realm.devices.set(deviceCode, {
    clientId: client.id,
    scope,
    userCode,
    expiresAt: now + settings.expiresIn * 1000,
    intervalMs: INTERVAL_SECONDS * 1000,
    polledAt: undefined,
    decision: undefined,
  });
  const uri = `${request.origin}/${request.host}${settings.verificationPath}`;
  return json(200, {
    device_code: deviceCode,
    user_code: userCode,
    [settings.uriMember ?? 'verification_uri']: uri,
    ...(settings.hasCompleteUri && { verification_uri_complete: `${uri}?user_code=${userCode}` }),
    expires_in: settings.expiresIn,
    interval: INTERVAL_SECONDS,
    ...(settings.hasMessage && {
      message: `To sign in, use a web browser to open the page ${uri} and enter the code ${userCode} to authenticate.`,
    }),
  });
}
