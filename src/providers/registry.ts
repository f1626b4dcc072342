import { custom } from './custom.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { microsoft } from './microsoft.ts';
import { oidc } from './oidc.ts';
import { okta } from './okta.ts';
import type { Provider } from './provider.ts';
import { twitter } from './twitter.ts';

/** The providers that are always loaded. */
const providers: readonly Provider[] = [microsoft, google, okta, gitlab, twitter, oidc, custom];

/** The types of the catalogue, which {@link loadCatalogue} loads. */
export const catalogueTypes: readonly string[] =
  'atlassian auth0 box cognito discord dropbox github hubspot keycloak linear notion quickbooks salesforce shopify slack spotify x xero zoom'.split(
    ' ',
  );

const providersByType = new Map<string, Provider>();
for (const provider of providers) {
  providersByType.set(provider.type, provider);
  for (const alias of Object.keys(provider.aliases ?? {})) providersByType.set(alias, provider);
}

/** The types that are always loaded, aliases included. */
export const coreTypes: readonly string[] = [...providersByType.keys()];

/** Every valid value of `<profile>.type`, aliases included. */
export const providerTypes: readonly string[] = [...coreTypes, ...catalogueTypes];

/** Loads the providers of the catalogue, so that {@link findProvider} finds them. */
export async function loadCatalogue(): Promise<void> {
  const { catalogue } = await import('./catalogue/catalogue.ts');
  for (const provider of catalogue) providersByType.set(provider.type, provider);
}

/** Finds the provider of a `<profile>.type`, aliases included; the comparison is case-sensitive. */
export function findProvider(type: string): Provider | undefined {
  return providersByType.get(type);
}
