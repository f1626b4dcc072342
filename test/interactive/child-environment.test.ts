import { expect, it } from 'vitest';
import { childEnvironment } from '../../src/interactive/child-environment.ts';

it('childEnvironment removes OAUTH_PROFILE_* in any case and nothing else', () => {
  const env = {
    OAUTH_PROFILE_KEY: 'a',
    oauth_profile_store: 'b',
    OAUTH_ACCESS_TOKEN: 'c',
    MY_OAUTH_PROFILE_X: 'd',
    PATH: 'e',
  };
  expect(childEnvironment(env)).toEqual({ OAUTH_ACCESS_TOKEN: 'c', MY_OAUTH_PROFILE_X: 'd', PATH: 'e' });
});
