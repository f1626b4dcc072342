import { type EmulatorResponse, html } from '../messages.ts';
import { escapeHtml, form, page } from '../pages.ts';
import type { RequestContext } from '../realm.ts';
import { signInAndConsent } from './sign-in.ts';

/** The page on which the user enters the code of a device (RFC 8628 §3.3). */
export function verifyEndpoint(context: RequestContext): EmulatorResponse {
  const { request, realm, now } = context;
  const { type } = realm.provider;
  const entered = (request.form.get('user_code') ?? request.query.get('user_code') ?? '').trim();
  const userCode = normalizeCode(entered);
  const device = [...realm.devices.values()].find(
    (one) => normalizeCode(one.userCode) === userCode && one.expiresAt > now && one.decision === undefined,
  );
  if (request.method !== 'POST' || device === undefined) {
    const unknown = request.method === 'POST' ? 'This code is unknown, already used or expired.' : undefined;
    return html(
      unknown === undefined ? 200 : 400,
      page('Enter the code', type, form({}, codeFields(entered, unknown))),
    );
  }
  const step = signInAndConsent(context, device, { user_code: device.userCode });
  if (step !== 'denied' && 'page' in step) return html(step.status, step.page);
  device.decision = step === 'denied' ? 'denied' : { user: step.user };
  const result =
    step === 'denied'
      ? 'Access was denied. The device is not signed in.'
      : 'The device is signed in. You can close this window.';
  return html(200, page(step === 'denied' ? 'Denied' : 'Done', type, `<p>${result}</p>`));
}

function normalizeCode(code: string): string {
  return code.toUpperCase().replace(/[^A-Z0-9]/g, '');
}

function codeFields(code: string, error: string | undefined): string {
  return `<label for="user_code">Code</label>
<input id="user_code" class="code" name="user_code" value="${escapeHtml(code)}" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus>
${error === undefined ? '' : `<p class="error" role="alert">${escapeHtml(error)}</p>`}
<button>Next</button>`;
}
