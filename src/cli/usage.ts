import { OAuthProfileError } from '../errors.ts';

/** An error of the command line. */
export function usage(faults: readonly string[], advice: string | undefined): OAuthProfileError {
  return new OAuthProfileError('usage', faults.join('; '), { advice: advice ?? 'see oauth-profile --help' });
}
