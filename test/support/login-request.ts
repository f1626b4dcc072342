import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';

/** A request of a login as a server receives it, with its form as an object. */
export function toWire(profile: Profile) {
  const request = buildTokenRequest(profile, '1');
  const { Authorization: header } = request.headers;
  return {
    url: request.url.href,
    form: Object.fromEntries(new URLSearchParams(encodeForm(request))),
    authorization: header instanceof Secret ? header.reveal() : header,
  };
}

/** Profiles that users can log in to. */
export const loginProfiles = {
  microsoft: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read' },
  google: { type: 'google', client_id: 'desktop', client_secret: 'GOCSPX-secret', scope: 'email' },
  okta: { type: 'okta', tenant_id: 'acme', client_id: '0oa1', client_secret: 'okta-secret', scope: 'openid' },
} as const;
