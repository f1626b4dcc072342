import type { ExternalSources } from '../config/resolver.ts';
import type { Variables } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import { matchesOrigin } from '../profile/origins.ts';
import { parseProfile } from '../profile/parse-profile.ts';
import { escapeControls } from '../redaction/sanitize.ts';

/**
 * Finds the profile whose `options.origins` contain one of the URLs, or checks that those of the profile `name` do; `undefined` if no token may be sent
 * there. Two matching profiles are an error.
 */
export function findProfileFor(
  urls: readonly URL[],
  variables: Variables,
  sources: ExternalSources,
  name?: string,
): string | undefined {
  const isMatch = (one: string): boolean => {
    const { origins } = parseProfile(one, variables, sources).options;
    return urls.some((url) => matchesOrigin(origins, url));
  };
  if (name !== undefined) return isMatch(name) ? name : undefined;
  const [match, ...others] = variables.profileNames().filter(isMatch);
  if (others.length === 0) return match;
  const names = escapeControls([match, ...others].join(' and '));
  throw new OAuthProfileError('usage', `${names} have ${urls[0]?.origin} in their origins`, {
    hint: 'name the profile with --profile in the configuration of the tool, or change options.origins of one of them',
  });
}
