import type { Provider } from '../providers/provider.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { isSecure, parseStrictUrl } from './url.ts';

/** The endpoints of an authorization server, from its metadata (RFC 8414 §2). All URLs are validated. */
export interface IssuerEndpoints {
  readonly tokenUrl: string;
  /** The endpoints for clients with a certificate (`mtls_endpoint_aliases`, RFC 8705 §5), where they differ. */
  readonly mtls?: Partial<Pick<IssuerEndpoints, 'tokenUrl' | 'deviceAuthorizationUrl' | 'revocationUrl'>> | undefined;
  readonly authorizationUrl?: string | undefined;
  readonly deviceAuthorizationUrl?: string | undefined;
  readonly revocationUrl?: string | undefined;
  /** `token_endpoint_auth_methods_supported`; `undefined` if the metadata has no list. */
  readonly authMethods?: readonly string[] | undefined;
}

/** Selects the issuer: the field of a type that discovers its endpoints, else `options.issuer`. Adds an issue if it is not a valid one. */
export function selectIssuer(
  draft: ProfileDraft,
  provider: Provider | undefined,
  option: string | undefined,
  allowHttp: boolean,
): string | undefined {
  const issuer = provider?.usesIssuer ? draft.getText('issuer') : option;
  const field = provider?.usesIssuer ? 'issuer' : 'options.issuer';
  if (issuer === undefined) {
    const isSecret = provider?.usesIssuer && draft.has('issuer');
    const hint = 'take it from a variable without secret, password or token in its name';
    if (isSecret) draft.addIssue('issuer', 'comes from a secret, but messages show this field', hint);
    return undefined;
  }
  const url = parseStrictUrl(issuer);
  // RFC 8414 §2: an issuer has no query and no fragment.
  const problem = typeof url === 'string' ? url : issuer.includes('?') ? 'must not have a query' : undefined;
  if (problem !== undefined) {
    draft.addIssue(field, problem, `set ${draft.name}.${field} to the issuer, such as https://login.example.com`);
  } else if (!allowHttp && !isSecure(new URL(issuer))) {
    const hint = `use https:, or set ${draft.name}.options.allow_http: true for a network you trust`;
    draft.addIssue(field, 'is an http: URL, so the endpoints would be read without encryption', hint);
  }
  return draft.hasIssue(field) ? undefined : issuer;
}
