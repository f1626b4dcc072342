import {
  composeOutside,
  composePorts,
  composeStore,
  type PortOptions,
  type ProcessEnvironment,
  type StoreOptions,
} from './compose.ts';
import type { Variables } from './config/variables.ts';
import { findLogin } from './flows/find-family.ts';
import { type Keeping, obtainToken } from './flows/obtain-token.ts';
import { Flights } from './flows/single-flight.ts';
import type { Obtained, Wish } from './flows/wish.ts';
import type { Ports, TokenStore } from './ports.ts';
import { completeProfile } from './profile/complete-profile.ts';
import { type ProfileSources, parseProfile } from './profile/parse-profile.ts';
import type { Profile } from './profile/profile.ts';

/** What a session can be told. */
export interface SessionOptions extends PortOptions, StoreOptions {}

/** From a profile's name to its token, with everything that several calls share: connections, the store, requests under way. */
export class Session {
  readonly ports: Ports;
  readonly outside: ProfileSources;
  readonly #keeping: Keeping;
  #store: Promise<TokenStore> | undefined;

  constructor(surroundings: ProcessEnvironment, options: SessionOptions = {}) {
    this.ports = composePorts(surroundings, options);
    this.outside = composeOutside(surroundings);
    this.#keeping = {
      openStore: () => {
        this.#store ??= composeStore(surroundings, this.ports, options).catch((error) => {
          // A Redis that was away may be back at the next call.
          this.#store = undefined;
          throw error;
        });
        return this.#store;
      },
      flights: new Flights(this.ports.clock),
      warn: options.warn ?? (() => {}),
    };
  }

  /** The store of kept tokens, opened when it is first asked for. */
  openStore(): Promise<TokenStore> {
    return this.#keeping.openStore();
  }

  /** Reads a profile; a refresh token that a login left belongs to it. `onReach` hears of each look beyond the variables. */
  async readProfile(name: string, variables: Variables, onReach?: () => void): Promise<Profile> {
    const outside = onReach === undefined ? this.outside : watched(this.outside, onReach);
    const parsed = parseProfile(name, variables, outside);
    if (parsed.binding === undefined) return completeProfile(parsed);
    onReach?.();
    return completeProfile(parsed, await findLogin(parsed, parsed.binding, await this.openStore()));
  }

  /** Gets a token; by default as the profile says: anew, or one that is kept and fresh. */
  obtain(profile: Profile, wish: Partial<Wish> = {}): Promise<Obtained> {
    return obtainToken(profile, new FullWish(wish, profile), this.ports, this.#keeping);
  }

  /** Waits for refreshes under way, and lets go of the store. */
  async close(): Promise<void> {
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }
}

/** A wish with what the profile says where the caller says nothing. */
class FullWish implements Wish {
  readonly minTtlMs: number;
  readonly anew: boolean;
  readonly keep: boolean;
  readonly forgetRefusal: boolean;
  readonly rejected: Wish['rejected'];
  readonly #given: Partial<Wish>;

  constructor(given: Partial<Wish>, profile: Profile) {
    const reused = reuses(profile);
    this.minTtlMs = given.minTtlMs ?? profile.options.minTtlMs;
    this.anew = given.anew ?? !reused;
    this.keep = given.keep ?? reused;
    this.forgetRefusal = given.forgetRefusal ?? false;
    this.rejected = given.rejected;
    this.#given = given;
  }

  /** Asked for only when there is something to wait for: listening for Ctrl-C has its price. */
  get signal(): AbortSignal | undefined {
    return this.#given.signal;
  }
}

/** Where a refresh ends the tokens issued before, callers that refresh side by side would end each other's. */
function reuses({ options, grant, provider }: Profile): boolean {
  return options.reuse ?? (grant === 'refresh_token' && provider.refreshRevokesAccessTokens === true);
}

function watched(outside: ProfileSources, onReach: () => void): ProfileSources {
  const telling =
    <Args extends unknown[], Result>(ask: (...args: Args) => Result) =>
    (...args: Args): Result => {
      onReach();
      return ask(...args);
    };
  return {
    env: telling(outside.env),
    readFileInside: telling(outside.readFileInside),
    readOptionFile: telling(outside.readOptionFile),
  };
}
