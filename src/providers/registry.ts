import { custom } from './custom.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { microsoft } from './microsoft.ts';
import { okta } from './okta.ts';
import type { Provider } from './provider.ts';
import { twitter } from './twitter.ts';

/** All providers. To add one, add its file and a line here. */
const providers: readonly Provider[] = [microsoft, google, okta, gitlab, twitter, custom];

const providersByType = new Map<string, Provider>();
for (const provider of providers) {
  providersByType.set(provider.type, provider);
  for (const alias of Object.keys(provider.aliases ?? {})) providersByType.set(alias, provider);
}

/** Finds the provider of a `<profile>.type`, aliases included; the comparison is case-sensitive. */
export function findProvider(type: string): Provider | undefined {
  return providersByType.get(type);
}

/** Every valid value of `<profile>.type`, aliases included. */
export const providerTypes: readonly string[] = [...providersByType.keys()];
