import type { ExternalSources } from '../../config/resolver.ts';
import type { Source, Variables } from '../../config/variables.ts';
import { type AssertionSource, JWT_BEARER, TOKEN_EXCHANGE } from '../profile.ts';
import type { ProfileDraft } from '../profile-draft.ts';

/** Sources that a profile can name. */
const kinds = [
  'github-actions',
  'google-metadata',
  'azure-imds',
  'env',
  'file',
  'profile',
] as const satisfies AssertionSource['kind'][];
/** Kinds that need a value after a colon. */
const WITH_VALUE: readonly string[] = ['env', 'file', 'profile'];

/** Completes "is not …". */
export const SOURCE_FORMAT = 'one of github-actions, google-metadata, azure-imds, env:NAME, file:PATH and profile:NAME';

/** Parses `options.assertion_source`; `undefined` if it has another form. */
export function parseAssertionSource(
  text: string,
  location: Source,
  variables: Variables,
): AssertionSource | undefined {
  const [, name, value = ''] = /^([a-z-]+)(?::(.+))?$/s.exec(text) ?? [];
  const kind = kinds.find((one) => one === name);
  if (kind === undefined || (WITH_VALUE.includes(kind) && value === '')) return undefined;
  if (kind !== 'profile') return { kind, value, location };
  const [profile = '', member] = value.split('#', 2);
  return { kind, value: profile, location, member, variables };
}

/** Adds an issue for a source that the file in which it is set must not read. The rules are those of references. */
export function checkAssertionSource(draft: ProfileDraft, source: AssertionSource | undefined): void {
  if (source === undefined) return;
  const { kind, value, location } = source;
  if (kind === 'env' && /^OAUTH_PROFILE_/i.test(value)) {
    const hint = 'OAUTH_PROFILE_* variables configure oauth-profile itself: use a variable with another name';
    draft.addIssue('options.assertion_source', `names the environment variable ${value}`, hint);
  }
  if (kind !== 'profile') return;
  const target = draft.variables.get(`${value}.type`)?.source.trust;
  const [from, to] = [location.trust, target];
  if (target === undefined) {
    draft.addIssue('options.assertion_source', `names profile ${value}, which is not defined`, `define ${value}.type`);
  } else if ((from === 'directory' && to === 'user') || (from === 'user' && (to === 'directory' || to === 'script'))) {
    const hint = 'define both profiles in the same file, or pass a file with --data';
    draft.addIssue('options.assertion_source', `names profile ${value}, which is defined in another file`, hint);
  }
}

/** The form field that `options.assertion_source` supplies: the grant itself, or else the client authentication. */
export function sourceField(grant: string | undefined): 'assertion' | 'subject_token' | 'client_assertion' {
  if (grant === JWT_BEARER) return 'assertion';
  return grant === TOKEN_EXCHANGE ? 'subject_token' : 'client_assertion';
}

/** Reads the environment variable or file of a source; `undefined` if it does not exist. */
export function readLocalSource(
  { kind, value, location }: AssertionSource,
  sources: ExternalSources,
): string | undefined {
  return kind === 'env' ? sources.env(value) : sources.readFileInside(value, location);
}
