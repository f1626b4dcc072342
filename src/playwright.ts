import type { CallOptions } from './library-session.ts';
import { createTokenSource, type TokenSource, type TokenSourceOptions } from './token-source.ts';

export type { TokenSource } from './token-source.ts';

/** Options of the fixtures, for `use` in a Playwright configuration. */
export type OAuthOptions = Omit<CallOptions, 'signal'>;

/** The source of a profile's tokens; for one profile and the same origins always the same. */
export type OAuth = (profile: string, options?: Pick<TokenSourceOptions, 'origins' | 'minTtlMs'>) => TokenSource;

/** What the fixtures add to a test's arguments. */
export interface OAuthFixtures {
  readonly oauth: OAuth;
  readonly oauthOptions: OAuthOptions;
}

type Use<T> = (value: T) => Promise<void>;

/**
 * Fixtures for `test.extend`: `oauth('graph').get()` gives a token in any test. They live as long as a worker, and workers share tokens through
 * the vault, so that a whole run asks once.
 */
export const oauthFixtures = {
  oauthOptions: [{} as OAuthOptions, { option: true, scope: 'worker' }],
  oauth: [
    async ({ oauthOptions }: { oauthOptions: OAuthOptions }, use: Use<OAuth>): Promise<void> => {
      const sources = new Map<string, TokenSource>();
      await use((profile, options = {}) => {
        const key = JSON.stringify([profile, options.origins, options.minTtlMs]);
        const source = sources.get(key) ?? createTokenSource(profile, { ...oauthOptions, ...options });
        sources.set(key, source);
        return source;
      });
    },
    { scope: 'worker' },
  ],
} as const satisfies Record<string, readonly [unknown, { readonly scope: 'worker'; readonly option?: boolean }]>;
