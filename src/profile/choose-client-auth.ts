import type { ClientAuth, Provider } from '../providers/provider.ts';
import type { BasicPair } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** How the client authenticates, and with which pair if that is not client id and secret. Never two ways at once (RFC 6749 §2.3). */
export interface ChosenClientAuth {
  readonly clientAuth: ClientAuth;
  readonly basic: BasicPair | undefined;
}

/** Chooses between what the profile asks for and what the provider takes; `basic.user` forces a Basic header. */
export function chooseClientAuth(
  draft: ProfileDraft,
  provider: Provider | undefined,
  asked: ClientAuth | undefined,
): ChosenClientAuth {
  if (draft.basic.size > 0) {
    return { clientAuth: asked === 'basic_raw' ? 'basic_raw' : 'basic', basic: basicPair(draft, asked) };
  }
  if (asked === 'private_key_jwt' && !draft.options.has('key_file')) {
    draft.fault('options.key_file', 'is missing', 'set it to a private key file (PEM or JWK)');
  }
  return { clientAuth: asked ?? defaultAuth(draft, provider), basic: undefined };
}

function defaultAuth(draft: ProfileDraft, provider: Provider | undefined): ClientAuth {
  const withoutSecret = provider?.clientAuthWithoutSecret;
  if (withoutSecret !== undefined && !draft.has('client_secret')) return withoutSecret;
  return provider?.clientAuth ?? 'as_given';
}

function basicPair(draft: ProfileDraft, asked: ClientAuth | undefined): BasicPair | undefined {
  const user = draft.basic.get('basic.user');
  const password = draft.basic.get('basic.password');
  for (const name of draft.basic.keys()) {
    if (name !== 'basic.user' && name !== 'basic.password') {
      draft.fault(name, 'is not known', 'a Basic header takes basic.user and basic.password');
    }
  }
  if (user === undefined && !draft.isFaulty('basic.user')) {
    draft.fault('basic.user', 'is missing beside basic.password', `set ${draft.name}.basic.user`);
  }
  if (password === undefined && !draft.isFaulty('basic.password')) {
    draft.fault('basic.password', 'is missing beside basic.user', `set ${draft.name}.basic.password; it may be empty`);
  }
  if (asked !== undefined && asked !== 'basic' && asked !== 'basic_raw') {
    draft.fault(
      'options.client_auth',
      `is ${asked}, while basic.user asks for a Basic header`,
      'remove one of the two: a client authenticates in one way',
    );
  }
  return user && password && { user, password };
}
