import type { IssuerEndpoints } from './issuer.ts';
import { findBinding, type ParsedProfile } from './parse-profile.ts';

/** Returns a profile with the endpoints of its issuer. A URL that the profile sets itself has precedence. */
export function withIssuerEndpoints(parsed: ParsedProfile, published: IssuerEndpoints): ParsedProfile {
  const { provider, options, auth } = parsed;
  const endpoints = options.cert === undefined ? published : { ...published, ...published.mtls };
  const draft = parsed.draft.copy();
  if (!draft.has('url') && !draft.hasIssue('url')) {
    draft.fields.set('url', { name: 'url', value: endpoints.tokenUrl, source: `metadata of ${options.issuer}` });
  }
  const parse = (url: string | undefined): URL | undefined => (url === undefined ? undefined : new URL(url));
  const { authMethods = [] } = endpoints;
  const needsPost = authMethods.includes('client_secret_post') && !authMethods.includes('client_secret_basic');
  const isDefault = options.clientAuth === undefined && auth.basic === undefined && provider?.usesIssuer === true;
  const usesPost = isDefault && needsPost && auth.clientAuth === 'client_secret_basic';
  return {
    ...parsed,
    draft,
    binding: findBinding(draft, provider, auth),
    auth: usesPost ? { ...auth, clientAuth: 'client_secret_post' } : auth,
    options: {
      ...options,
      authorizationUrl: options.authorizationUrl ?? parse(endpoints.authorizationUrl),
      deviceAuthorizationUrl: options.deviceAuthorizationUrl ?? parse(endpoints.deviceAuthorizationUrl),
      revocationUrl: options.revocationUrl ?? parse(endpoints.revocationUrl),
    },
  };
}

/** Replaces the endpoints of an issuer whose metadata must not be read by the issuer itself, so that the rest of the profile can be validated. */
export function withoutIssuerEndpoints(parsed: ParsedProfile): ParsedProfile {
  const { issuer = '' } = parsed.options;
  const completed = withIssuerEndpoints(parsed, { tokenUrl: issuer, authorizationUrl: issuer });
  completed.draft.addNote(`the endpoints are those of the metadata of ${issuer}, which is read with --online`);
  return completed;
}
