import type { Provider } from '../provider.ts';
import * as business from './business.ts';
import * as collaboration from './collaboration.ts';
import * as consumer from './consumer.ts';
import * as identity from './identity.ts';

/** The providers that are loaded only if a profile uses one of them. Their types are also listed in the registry. */
export const catalogue: readonly Provider[] = [business, collaboration, consumer, identity]
  .flatMap((group): Provider[] => Object.values(group))
  .sort((one, other) => (one.type < other.type ? -1 : 1));
