import type { Provider, UrlVariable } from '../provider.ts';

/** A provider of the catalogue. By default, users log in with a browser, and nothing is known about a second use of a refresh token. */
type CatalogueEntry = Partial<Omit<Provider, 'about' | 'login'>> &
  Required<Pick<Provider, 'type' | 'tokenUrl' | 'clientAuth'>> &
  NonNullable<Provider['about']> & { readonly login: Partial<NonNullable<Provider['login']>> };

/** Completes an entry: a login is the default, a client without a secret has its own authentication, and the strictest behaviour is assumed (RFC 9700 §4.14.2). */
export function define({ name, documentation, notes, login, required, ...entry }: CatalogueEntry): Provider {
  const isConfidential = entry.clientAuthWithoutSecret === undefined;
  return {
    grantsByFields: [],
    defaultGrant: 'refresh_token',
    refreshTokenReuse: 'revokes_family',
    hints: {},
    ...entry,
    about: { name, documentation, notes },
    required: {
      refresh_token: ['client_id', ...(isConfidential ? ['client_secret'] : []), 'refresh_token'],
      ...required,
    },
    login: { preferredFlow: 'browser', ...login },
  };
}

/** Fields that the client_credentials grant requires, for providers that support it. */
export const machine = { client_credentials: ['client_id', 'client_secret'] } as const;

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

/** One DNS label. Labels with xn-- are non-ASCII names, which no account has. */
export function labelVariable(description: string): UrlVariable {
  return { pattern: new RegExp(`^(?!xn--)${label}$`, 'i'), example: 'acme', description };
}

/** A host name with at least two labels, and optionally a port. The last label has no digits, so it is not an IP address. */
export function hostVariable(example: string, description: string, byDefault?: string): UrlVariable {
  const pattern = new RegExp(`^(?=.{1,253}$)(?:${label}\\.)+[a-z]{2,63}(?::\\d{1,5})?$`, 'i');
  return { pattern, example, description, ...(byDefault !== undefined && { default: byDefault }) };
}
