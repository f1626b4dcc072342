import type { Provider } from '../provider.ts';
import { hubspot, quickbooks, salesforce, shopify, xero } from './business.ts';
import { atlassian, discord, linear, notion, slack, zoom } from './collaboration.ts';
import { box, dropbox, spotify, x } from './consumer.ts';
import { auth0, cognito, github, keycloak } from './identity.ts';

/** The providers that are loaded only if a profile uses one of them. Their types are also listed in the registry. */
export const catalogue: readonly Provider[] = [
  atlassian,
  auth0,
  box,
  cognito,
  discord,
  dropbox,
  github,
  hubspot,
  keycloak,
  linear,
  notion,
  quickbooks,
  salesforce,
  shopify,
  slack,
  spotify,
  x,
  xero,
  zoom,
];
