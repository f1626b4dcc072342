import { readFileSync, writeFileSync } from 'node:fs';
import { createApplication, silently } from './msal-application.js';

const scopes = ['api://benchmark/.default'];

/** @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const application = createApplication(url);
  return async () => (await application.acquireTokenByClientCredential({ scopes, skipCache: true }))?.accessToken;
}

/** @type {import('../candidates.js').Candidate['keep']} */
export function keep(url) {
  const application = createApplication(url);
  return () => application.acquireTokenByClientCredential({ scopes });
}

/** The plugin is that of its documentation. @type {import('../candidates.js').Candidate['share']} */
export function share(url, file) {
  const application = createApplication(url, {
    async beforeCacheAccess(context) {
      context.tokenCache.deserialize(readFileSync(file, 'utf8'));
    },
    async afterCacheAccess(context) {
      if (context.cacheHasChanged) writeFileSync(file, context.tokenCache.serialize());
    },
  });
  const acquire = silently(application);
  return async () => (await acquire()).accessToken;
}
