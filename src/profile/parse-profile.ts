import { type ExternalSources, Resolver } from '../config/resolver.ts';
import type { Source, Variables } from '../config/variables.ts';
import type { Provider } from '../providers/provider.ts';
import type { Secret } from '../redaction/secret.ts';
import { chooseProvider } from './choose-provider.ts';
import { type ChosenClientAuth, chooseClientAuth } from './client-auth.ts';
import { collectFields } from './collect-fields.ts';
import { selectGrant } from './grant.ts';
import { parseOptions } from './options.ts';
import { getClientId, type ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { selectTokenUrl } from './token-url.ts';

/** What parsing a profile reads besides its variables: the environment and files. */
export interface ProfileSources extends ExternalSources {
  /** The content of a file named by an option; `undefined` if it cannot be read. */
  readOptionFile(path: string, source: Source): string | undefined;
}

/** What a stored refresh token is bound to: it is never sent to another origin or for another client. */
export interface Binding {
  /** Origin of the token URL. */
  readonly origin: string;
  /** Client id as it is sent; empty if the profile has none. */
  readonly clientId: string | Secret;
}

/** A profile whose references are resolved and whose fields are sorted, before a grant is selected; `issues` are collected, not thrown. */
export interface ParsedProfile {
  readonly name: string;
  /** `undefined` if no stored login could be used: another grant is configured, or the provider or token URL is unknown. */
  readonly binding: Binding | undefined;
  /** The refresh token set in the profile itself; `undefined` if missing or empty. */
  readonly configuredRefreshToken: string | Secret | undefined;
  /** Fields, options and issues found so far. Copy it before completing the profile. */
  readonly draft: ProfileDraft;
  readonly provider: Provider | undefined;
  readonly options: ProfileOptions;
  readonly auth: ChosenClientAuth;
  /** `options.allow_http`. */
  readonly allowHttp: boolean;
}

/**
 * Resolves the references of a profile and collects its fields, options, provider and client authentication.
 * Throws only if the profile does not exist (`profile_not_found`) or is defined in two files.
 */
export function parseProfile(name: string, variables: Variables, sources: ProfileSources): ParsedProfile {
  const draft = collectFields(name, variables, new Resolver(variables, sources));
  const provider = chooseProvider(draft);
  const { options, clientAuth, allowHttp } = parseOptions(draft, provider, sources);
  const auth = chooseClientAuth(draft, provider, clientAuth);
  return {
    name,
    binding: findBinding(draft, provider, auth),
    configuredRefreshToken: draft.has('refresh_token') ? draft.fields.get('refresh_token')?.value : undefined,
    draft,
    provider,
    options,
    auth,
    allowHttp,
  };
}

function findBinding(
  draft: ProfileDraft,
  provider: Provider | undefined,
  { basic }: ChosenClientAuth,
): Binding | undefined {
  if (provider === undefined || draft.hasIssue('refresh_token')) return undefined;
  const withLogin = draft.copy('refresh_token');
  if (selectGrant(withLogin, provider, true)?.grant !== 'refresh_token') return undefined;
  // Whether http: is allowed is checked when the profile is completed.
  const url = selectTokenUrl(withLogin, provider, 'refresh_token', true);
  return url && { origin: url.origin, clientId: getClientId({ basic, fields: [...draft.fields.values()] }) };
}
