import { cacheWith } from './msal-account.js';
import { createApplication, silently } from './msal-application.js';

/** The token of a person who is signed in; MSAL's other cache is that of client credentials. @type {import('../candidates.js').Candidate['keep']} */
export function keep(url) {
  const application = createApplication(new URL('/openid', url).href);
  application.getTokenCache().deserialize(cacheWith('refresh-token.0'));
  return silently(application);
}
