import { OAuthProfileError } from '../errors.ts';

/** An error of the command line. */
export function usage(issues: readonly string[], hint: string | undefined): OAuthProfileError {
  return new OAuthProfileError('usage', issues.join('; '), { hint: hint ?? 'see oauth-profile --help' });
}
