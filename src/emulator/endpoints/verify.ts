import type { RequestContext } from '../issue.ts';
import { type EmulatorRequest, type EmulatorResponse, html } from '../message.ts';
import { escapeHtml, form, page } from '../pages.ts';
import { signInAndConsent } from './sign-in.ts';

/** Where a person enters the code that a device shows (RFC 8628 §3.3). */
export function verifyEndpoint(desk: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { realm, now } = desk;
  const { type } = realm.dialect;
  const entered = (request.form.get('user_code') ?? request.query.get('user_code') ?? '').trim();
  const wanted = normalise(entered);
  const device = [...realm.devices.values()].find(
    (one) => normalise(one.userCode) === wanted && one.expiresAt > now && one.decision === undefined,
  );
  if (request.method !== 'POST' || device === undefined) {
    const unknown = request.method === 'POST' ? 'That code is not known, was used, or has expired.' : undefined;
    return html(
      unknown === undefined ? 200 : 400,
      page('Enter the code', type, form({}, codeFields(entered, unknown))),
    );
  }
  const asked = { clientId: device.clientId, scope: device.scope };
  const step = signInAndConsent(desk, request, asked, { user_code: device.userCode });
  if (step !== 'denied' && 'page' in step) return html(step.status, step.page);
  device.decision = step === 'denied' ? 'declined' : { user: step.user };
  const said =
    step === 'denied' ? 'You said no. The device gets nothing.' : 'The device is signed in. You can close this window.';
  return html(200, page(step === 'denied' ? 'Denied' : 'Done', type, `<p>${said}</p>`));
}

function normalise(code: string): string {
  return code.toUpperCase().replace(/[^A-Z0-9]/g, '');
}

function codeFields(code: string, error: string | undefined): string {
  return `<label for="user_code">Code</label>
<input id="user_code" class="code" name="user_code" value="${escapeHtml(code)}" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus>
${error === undefined ? '' : `<p class="error" role="alert">${escapeHtml(error)}</p>`}
<button>Next</button>`;
}
