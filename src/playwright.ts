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

/** As Playwright's `test.extend<object, OAuthFixtures>` takes them. */
export interface OAuthFixtureSet {
  oauthOptions: [OAuthOptions, { option: true; scope: 'worker' }];
  oauth: [
    (args: { oauthOptions: OAuthOptions }, use: (oauth: OAuth) => Promise<void>) => Promise<void>,
    { scope: 'worker' },
  ];
}

/**
 * Fixtures for `test.extend`: `oauth('graph').get()` gives a token in any test. They live as long as a worker, and workers share tokens through
 * the vault, so that a whole run asks once.
 */
export const oauthFixtures: OAuthFixtureSet = {
  oauthOptions: [{}, { option: true, scope: 'worker' }],
  oauth: [
    async ({ oauthOptions }, use) => {
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
};
