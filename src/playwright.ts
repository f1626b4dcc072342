import type { CallOptions } from './oauth-profile.ts';
import { createTokenSource, type TokenSource, type TokenSourceOptions } from './token-source.ts';

export type { TokenSource } from './token-source.ts';

/** Options of the fixtures, for `use` in a Playwright configuration. */
export type OAuthOptions = Omit<CallOptions, 'signal'>;

/** Returns the token source of a profile. The same arguments return the same source. */
export type OAuth = (profile: string, options?: Pick<TokenSourceOptions, 'origins' | 'minTtlMs'>) => TokenSource;

/** The fixtures that tests receive. */
export interface OAuthFixtures {
  readonly oauth: OAuth;
  readonly oauthOptions: OAuthOptions;
}

/** The argument of Playwright's `test.extend<object, OAuthFixtures>`. */
export interface OAuthFixtureSet {
  oauthOptions: [OAuthOptions, { option: true; scope: 'worker' }];
  oauth: [
    (args: { oauthOptions: OAuthOptions }, use: (oauth: OAuth) => Promise<void>) => Promise<void>,
    { scope: 'worker' },
  ];
}

/**
 * Fixtures for `test.extend`: `oauth('graph').get()` returns a token in any test. They are worker-scoped, and workers share tokens through the
 * vault, so that a whole run sends one request.
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
