import { catalogueTypes } from '../../src/providers/registry.ts';

/** The fields of the token URL, and others that a login needs. */
const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  auth0: { domain: 'acme.eu.auth0.com' },
  cognito: { prefix: 'acme', region: 'eu-central-1' },
  keycloak: { host: 'sso.example.com', realm: 'demo' },
  shopify: { shop: 'acme' },
};

/** A profile for a login of each type of the catalogue. */
export const catalogueProfiles: readonly (readonly [string, Readonly<Record<string, string>>])[] = catalogueTypes.map(
  (type) => [type, { type, client_id: 'app', client_secret: 'app-secret-1', scope: 'read write', ...fields[type] }],
);
