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
  const chosen = choose(draft, provider, asked);
  refuseSecond(draft, chosen);
  if (chosen.clientAuth === 'client_secret_basic_raw') refuseColon(draft, chosen.basic);
  return chosen;
}

function choose(draft: ProfileDraft, provider: Provider | undefined, asked: ClientAuth | undefined): ChosenClientAuth {
  if (draft.wantsBasic) {
    return {
      clientAuth: asked === 'client_secret_basic_raw' ? 'client_secret_basic_raw' : 'client_secret_basic',
      basic: basicPair(draft, asked),
    };
  }
  if (asked === 'private_key_jwt' && !draft.hasOption('key_file')) {
    draft.addIssue('options.key_file', 'is missing', 'set it to a private key file (PEM or JWK)');
  }
  return { clientAuth: asked ?? defaultAuth(draft, provider), basic: undefined };
}

/** An assertion that the profile brings along is a client authentication too. */
function refuseSecond(draft: ProfileDraft, { clientAuth }: ChosenClientAuth): void {
  if (
    !draft.has('client_assertion') ||
    !['client_secret_post', 'client_secret_basic', 'client_secret_basic_raw'].includes(clientAuth)
  )
    return;
  const first = draft.wantsBasic ? 'basic.user' : draft.has('client_secret') ? 'client_secret' : undefined;
  if (first === undefined) return;
  draft.addIssue(
    'client_assertion',
    `is a second client authentication beside ${first}`,
    'remove one of the two: a client authenticates in one way',
  );
}

/** Where nothing is encoded, the first colon ends the user name (RFC 7617 §2). */
function refuseColon(draft: ProfileDraft, basic: BasicPair | undefined): void {
  const user = basic?.user ?? draft.fields.get('client_id');
  const colon = (text: string): boolean => text.includes(':');
  if (user === undefined || !(typeof user.value === 'string' ? colon(user.value) : user.value.test(colon))) return;
  draft.addIssue(
    user.name,
    'has a colon in it, which a Basic header cannot carry as it is',
    `set ${draft.name}.options.client_auth: client_secret_basic, which encodes it`,
  );
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
      draft.addIssue(name, 'is not known', 'a Basic header takes basic.user and basic.password');
    }
  }
  if (user === undefined && !draft.hasIssue('basic.user')) {
    draft.addIssue('basic.user', 'is missing beside basic.password', `set ${draft.name}.basic.user`);
  }
  if (password === undefined && !draft.hasIssue('basic.password')) {
    draft.addIssue(
      'basic.password',
      'is missing beside basic.user',
      `set ${draft.name}.basic.password; it may be empty`,
    );
  }
  if (asked !== undefined && asked !== 'client_secret_basic' && asked !== 'client_secret_basic_raw') {
    draft.addIssue(
      'options.client_auth',
      `is ${asked}, while basic.user asks for a Basic header`,
      'remove one of the two: a client authenticates in one way',
    );
  }
  return user && password && { user, password };
}
