import { type ExternalSources, Resolver } from '../config/resolver.ts';
import { closestMatch } from '../config/suggestions.ts';
import { locationOf, profileNameOf, type Variables } from '../config/variables.ts';
import type { Provider } from '../providers/provider.ts';
import { coreTypes, findProvider, providerTypes } from '../providers/registry.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';
import { type ChosenClientAuth, chooseClientAuth } from './client-auth.ts';
import { collectFields } from './collect-fields.ts';
import { selectTokenUrl } from './endpoints.ts';
import { selectGrant } from './grant.ts';
import { applyKeyFile } from './options/key-file.ts';
import { parseOptions } from './options/options.ts';
import { getClientId, isPublicField, type ProfileOptions } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** Origin and client that a stored refresh token is bound to: it is never sent to other ones. */
export interface Binding {
  /** Origin of the token URL. */
  readonly origin: string;
  /** Client id as it is sent; empty if the profile has none. */
  readonly clientId: string | Secret;
}

/** A profile with resolved references and sorted fields, before its grant is selected. */
export interface ParsedProfile {
  readonly name: string;
  /** `undefined` if a stored login is not used: another grant is configured, or the provider or URL is unknown. */
  readonly binding: Binding | undefined;
  /** The refresh token set in the profile itself; `undefined` if missing or empty. */
  readonly configuredRefreshToken: string | Secret | undefined;
  /** Fields, options and issues found so far. Copy it before completing the profile. */
  readonly draft: ProfileDraft;
  readonly provider: Provider | undefined;
  readonly options: ProfileOptions;
  readonly auth: ChosenClientAuth;
  /** Warning that secrets given with `--set` are sent to the `url` of the working directory's file. */
  readonly disclosure: string | undefined;
}

/**
 * Resolves the references of a profile and collects its fields, options, provider and client authentication.
 * Throws only if the profile does not exist (`profile_not_found`) or is defined in two files.
 */
export function parseProfile(name: string, variables: Variables, sources: ExternalSources): ParsedProfile {
  const draft = collectFields(name, variables, new Resolver(variables, sources));
  const provider = chooseProvider(draft);
  const options = applyKeyFile(draft, parseOptions(draft, provider, sources));
  const auth = chooseClientAuth(draft, provider, options.clientAuth);
  return {
    name,
    binding: findBinding(draft, provider, auth),
    configuredRefreshToken: draft.has('refresh_token') ? draft.fields.get('refresh_token')?.value : undefined,
    draft,
    provider,
    options,
    auth,
    disclosure: describeDisclosure(draft),
  };
}

/** The binding of a stored login, if the profile would use one. */
export function findBinding(
  draft: ProfileDraft,
  provider: Provider | undefined,
  { basic }: ChosenClientAuth,
): Binding | undefined {
  if (provider === undefined || draft.hasIssue('refresh_token')) return undefined;
  const withLogin = draft.copy('refresh_token');
  if (selectGrant(withLogin, provider, true)?.grant !== 'refresh_token') return undefined;
  // Whether http: is allowed is checked when the profile is completed.
  const url = selectTokenUrl(withLogin, provider, true);
  return url && { origin: url.origin, clientId: getClientId({ basic, fields: [...draft.fields.values()] }) };
}

function describeDisclosure(draft: ProfileDraft): string | undefined {
  const { name, variables, fields, basic } = draft;
  const field = ['url', 'issuer', 'options.issuer'].find((one) => draft.has(one) || draft.hasOption(one.slice(8)));
  const url = variables.get(`${name}.${field}`);
  if (url?.source.trust !== 'directory') return undefined;
  const secrets = [...fields.values(), ...basic.values()].filter((field) => {
    const isSecret = field.value instanceof Secret || (field.external && !isPublicField(field.name));
    return isSecret && variables.get(`${name}.${field.name}`)?.source.label === '--set';
  });
  if (secrets.length === 0) return undefined;
  const names = secrets.map((field) => `${name}.${field.name}`).join(', ');
  const target = draft.getText('url') ?? draft.getText('issuer') ?? String(draft.options.get('issuer')?.value);
  return escapeControls(`${names} from --set is sent to ${target} (${locationOf(url)})`);
}

const someTypes = `one of ${coreTypes.join(', ')}, or another type that oauth-profile providers lists`;

/** Finds the provider of `<profile>.type`, which is case-sensitive. Adds an issue if there is none. */
function chooseProvider(draft: ProfileDraft): Provider | undefined {
  const type = draft.getText('type');
  if (type === undefined) {
    if (!draft.hasIssue('type')) draft.addIssue('type', 'is missing', missingTypeHint(draft));
    return undefined;
  }
  const provider = findProvider(type);
  if (provider !== undefined) return provider;
  const match = closestMatch(type, providerTypes);
  const isCertain = match !== undefined && type.trim().toLowerCase() === match;
  const suggestion = match === undefined ? `use ${someTypes}` : `did you mean ${match}?`;
  draft.addIssue(
    'type',
    `is "${escapeControls(type)}", which is not a known type`,
    isCertain && type.trim() === type ? `types are case-sensitive: ${suggestion}` : suggestion,
  );
  // Issues that depend on the provider are reported too, but not for a guess.
  return isCertain ? findProvider(match) : undefined;
}

function missingTypeHint({ name, variables }: ProfileDraft): string {
  const match = variables.get(`${name}.type`) === undefined ? findMisspelledType(name, variables) : undefined;
  if (match?.startsWith(`${name}.type:`)) return `write a space after the colon of type in ${escapeControls(match)}`;
  if (match === undefined) return `set ${name}.type to ${someTypes}`;
  return `${escapeControls(match)} is set: did you mean ${name}.type?`;
}

/** Finds a variable that may be this profile's type: its own, or the type of a profile without other fields. */
function findMisspelledType(name: string, variables: Variables): string | undefined {
  const own = variables.below(name).flatMap((variable) => (profileNameOf(variable.name) === name ? variable.name : []));
  const match = own.find((one) => one.startsWith(`${name}.type:`)) ?? closestMatch(`${name}.type`, own);
  if (match !== undefined) return match;
  const other = variables.suggest(name, variables.profileNames());
  return other !== undefined && variables.below(other).length === 1 ? `${other}.type` : undefined;
}
