import { OAuthProfileError } from '../errors.ts';
import type { Connector } from '../http/connector.ts';
import { matchesOrigin } from '../profile/origins.ts';
import { Target } from './target.ts';
import type { TokenHeaders } from './token-headers.ts';

const MAX_TARGETS = 1_000;

/** The origins that requests are sent to, with the profile of each. */
export class Targets {
  readonly #profiles: readonly TokenHeaders[];
  readonly #connector: Connector;
  readonly #known = new Map<string, Target>();

  constructor(profiles: readonly TokenHeaders[], connector: Connector) {
    this.#profiles = profiles;
    this.#connector = connector;
    const origins = profiles.flatMap(({ profile }) => profile.options.origins);
    for (const origin of origins) if (!origin.includes('*')) this.find(new URL(origin));
  }

  /** The target with the origin of a URL. Throws if two profiles have a token for it. */
  find(url: URL): Target {
    const known = this.#known.get(url.origin);
    if (known !== undefined) return known;
    const [profile, other] = this.#profiles.filter((one) => matchesOrigin(one.profile.options.origins, url));
    if (profile !== undefined && other !== undefined) {
      const names = [profile, other].map((one) => one.profile.name);
      throw new OAuthProfileError('usage', `${names.join(' and ')} both have the origin ${url.origin}`, {
        hint: `give one of them, or remove the origin from ${names[1]}.options.origins`,
      });
    }
    const target = new Target(new URL(url.origin), profile, this.#connector);
    if (this.#known.size >= MAX_TARGETS) this.#known.clear();
    this.#known.set(url.origin, target);
    return target;
  }
}
