import { custom } from './custom.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { microsoft } from './microsoft.ts';
import { okta } from './okta.ts';
import type { Provider } from './provider.ts';
import { twitter } from './twitter.ts';

/** All providers; a new one is a new file and a line here. */
const providers: readonly Provider[] = [microsoft, google, okta, gitlab, twitter, custom];

const byType = new Map<string, Provider>();
for (const provider of providers) {
  byType.set(provider.type, provider);
  for (const alias of Object.keys(provider.aliases ?? {})) byType.set(alias, provider);
}

/** The provider of a `<profile>.type`; the comparison is case-sensitive. */
export function findProvider(type: string): Provider | undefined {
  return byType.get(type);
}

/** Every value that `<profile>.type` can have. */
export const providerTypes: readonly string[] = [...byType.keys()];
