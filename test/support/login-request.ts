import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { type LoginProfile, toLoginProfile } from '../../src/profile/login-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { createSources } from './read-sample.ts';

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

/** The variables of one profile. */
export function variablesWith(name: string, fields: Readonly<Record<string, unknown>>): Variables {
  return new Variables().add(flatten({ [name]: fields }, 'data'), { label: 'data', directory: '', trust: 'given' });
}

/** The profile `svc` with these fields, completed for a login. */
export function loginProfileOf(fields: Readonly<Record<string, unknown>>): LoginProfile {
  return toLoginProfile(parseProfile('svc', variablesWith('svc', fields), createSources()));
}
