import { Resolver } from '../config/resolver.ts';
import type { Variables } from '../config/variables.ts';
import type { Secret } from '../redaction/secret.ts';
import { chooseProvider } from './choose-provider.ts';
import { collectFields } from './collect-fields.ts';
import { selectGrant } from './grant.ts';
import type { ProfileSources } from './parse-profile.ts';
import { selectTokenUrl } from './token-url.ts';

/** What a kept refresh token is bound to: it is sent nowhere else, and for nobody else. */
export interface Binding {
  readonly origin: string;
  readonly clientId: string | Secret;
}

/** A profile that a login could serve. */
export interface ConfiguredGrant extends Binding {
  /** The refresh token that the profile itself holds. */
  readonly configuredRefreshToken: string | Secret | undefined;
}

/** What a login of this profile is bound to; `undefined` where the profile has issues, or asks with another grant whatever the vault holds. */
export function findConfiguredGrant(
  name: string,
  variables: Variables,
  outside: ProfileSources,
): ConfiguredGrant | undefined {
  const named = variables.get(`${name}.grant_type`)?.value;
  // The usual case where no login can serve, found out without reading the profile twice.
  if (typeof named === 'string' && /^(?!refresh_token$)\w/.test(named)) return undefined;
  const draft = collectFields(name, variables, new Resolver(variables, outside));
  const provider = chooseProvider(draft);
  if (provider === undefined || draft.hasIssue('refresh_token')) return undefined;
  const pasted = draft.has('refresh_token') ? draft.fields.get('refresh_token') : undefined;
  if (pasted === undefined) draft.fields.set('refresh_token', { name: 'refresh_token', value: '?', source: '' });
  if (selectGrant(draft, provider, true)?.grant !== 'refresh_token') return undefined;
  // Whether plain http is allowed was or will be judged where the request is made.
  const url = selectTokenUrl(draft, provider, 'refresh_token', true);
  if (url === undefined) return undefined;
  return { origin: url.origin, clientId: clientIdIn(draft.fields, draft.basic), configuredRefreshToken: pasted?.value };
}

/** The client id as it is sent, in whichever place. */
export function clientIdIn(
  fields: ReadonlyMap<string, { readonly value: string | Secret }>,
  basic: ReadonlyMap<string, { readonly value: string | Secret }>,
): string | Secret {
  return basic.get('basic.user')?.value ?? fields.get('client_id')?.value ?? '';
}
