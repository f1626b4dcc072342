import type { AssertionSource, InstallationRequest, Profile } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';

/** Everything that determines a profile's token, except the refresh token: its token family identifies it. */
export function cacheKey(profile: Profile): Secret {
  const { url, provider, grant, clientAuth, basic, fields, options } = profile;
  const isRefresh = grant === 'refresh_token';
  return encodeTuple([
    url.href,
    provider.type,
    clientAuth,
    options.audience ?? '',
    options.cert?.path ?? '',
    ...(basic === undefined ? ['', ''] : [basic.user.value, basic.password.value]),
    ...fields
      .filter(({ name }) => !(isRefresh && name === 'refresh_token'))
      .flatMap(({ name, value }) => [name, value]),
    ...(options.assertionSource === undefined ? [] : [describeSource(options.assertionSource)]),
    ...(options.impersonation === undefined ? [] : [JSON.stringify(options.impersonation)]),
    ...(options.dpop ? ['dpop'] : []),
    ...(options.installation === undefined ? [] : installationKey(options.installation)),
    ...options.assertion.claims.flatMap(({ name, value }) => [`assertion.${name}`, value]),
  ]);
}

function installationKey({ issuer, lookupUrl, body }: InstallationRequest): (string | Secret)[] {
  return ['installation', issuer, lookupUrl?.href ?? '', body];
}

function describeSource({ kind, value, member = '' }: AssertionSource): string {
  return `assertion_source ${kind}:${value}#${member}`;
}

/** The refresh token that a profile sends. */
export function getRefreshToken({ fields }: Profile): string | Secret | undefined {
  return fields.find(({ name }) => name === 'refresh_token')?.value;
}

/** Returns the profile with another refresh token. */
export function withRefreshToken(profile: Profile, token: Secret): Profile {
  const fields = profile.fields.map((field) => (field.name === 'refresh_token' ? { ...field, value: token } : field));
  return { ...profile, fields };
}

/** Joins strings unambiguously: different lists give different results. */
export function encodeTuple(parts: readonly (string | Secret)[]): Secret {
  return Secret.untracked(JSON.stringify(parts.map((part) => (typeof part === 'string' ? part : part.reveal()))));
}
