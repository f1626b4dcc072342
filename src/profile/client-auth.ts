import type { ClientAuth, Provider } from '../providers/provider.ts';
import type { BasicPair } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** How the client authenticates: always with one method (RFC 6749 §2.3). */
export interface ChosenClientAuth {
  readonly clientAuth: ClientAuth;
  /** Set if `basic.user` and `basic.password` replace client id and secret. */
  readonly basic: BasicPair | undefined;
}

const ONE_METHOD = 'remove one of them: a client authenticates with one method (RFC 6749 §2.3)';

/**
 * Chooses between `options.client_auth` (`configured`) and the provider's default; `basic.user` forces a Basic header
 * (D12).
 */
export function chooseClientAuth(
  draft: ProfileDraft,
  provider: Provider | undefined,
  configured: ClientAuth | undefined,
): ChosenClientAuth {
  const chosen = chooseMethod(draft, provider, configured);
  rejectSecondMethod(draft, chosen);
  if (chosen.clientAuth === 'client_secret_basic_raw') rejectColon(draft, chosen.basic);
  return chosen;
}

function chooseMethod(
  draft: ProfileDraft,
  provider: Provider | undefined,
  configured: ClientAuth | undefined,
): ChosenClientAuth {
  if (draft.usesBasic) {
    return {
      clientAuth: configured === 'client_secret_basic_raw' ? 'client_secret_basic_raw' : 'client_secret_basic',
      basic: parseBasicPair(draft, configured),
    };
  }
  if (configured === 'private_key_jwt' && !draft.hasOption('key_file')) {
    draft.addIssue(
      'options.key_file',
      'is missing (required by private_key_jwt)',
      `set ${draft.name}.options.key_file to a private key file (PEM or JWK)`,
    );
  }
  return { clientAuth: configured ?? defaultMethod(draft, provider), basic: undefined };
}

/** A configured `client_assertion` is client authentication too. */
function rejectSecondMethod(draft: ProfileDraft, { clientAuth }: ChosenClientAuth): void {
  if (!draft.has('client_assertion') || !clientAuth.startsWith('client_secret_')) return;
  const first = draft.usesBasic ? 'basic.user' : draft.has('client_secret') ? 'client_secret' : undefined;
  if (first === undefined) return;
  draft.addIssue('client_assertion', `is a second client authentication in addition to ${first}`, ONE_METHOD);
}

/** Without encoding, the first colon ends the username (RFC 7617 §2). */
function rejectColon(draft: ProfileDraft, basic: BasicPair | undefined): void {
  const user = basic?.user ?? draft.fields.get('client_id');
  const hasColon = (text: string): boolean => text.includes(':');
  if (user === undefined || !(typeof user.value === 'string' ? hasColon(user.value) : user.value.test(hasColon))) {
    return;
  }
  draft.addIssue(
    user.name,
    'contains a colon, which is not possible with client_secret_basic_raw',
    `set ${draft.name}.options.client_auth: client_secret_basic, which encodes it`,
  );
}

function defaultMethod(draft: ProfileDraft, provider: Provider | undefined): ClientAuth {
  const withoutSecret = provider?.clientAuthWithoutSecret;
  if (withoutSecret !== undefined && !draft.has('client_secret')) return withoutSecret;
  return provider?.clientAuth ?? 'passthrough';
}

function parseBasicPair(draft: ProfileDraft, configured: ClientAuth | undefined): BasicPair | undefined {
  const user = draft.basic.get('basic.user');
  const password = draft.basic.get('basic.password');
  for (const name of draft.basic.keys()) {
    if (name !== 'basic.user' && name !== 'basic.password') {
      draft.addIssue(name, 'is unknown', 'a Basic header has basic.user and basic.password');
    }
  }
  if (user === undefined && !draft.hasIssue('basic.user')) {
    draft.addIssue('basic.user', 'is missing, but basic.password is set', `set ${draft.name}.basic.user`);
  }
  if (password === undefined && !draft.hasIssue('basic.password')) {
    draft.addIssue(
      'basic.password',
      'is missing, but basic.user is set',
      `set ${draft.name}.basic.password; it may be empty`,
    );
  }
  if (configured !== undefined && configured !== 'client_secret_basic' && configured !== 'client_secret_basic_raw') {
    draft.addIssue('options.client_auth', `is ${configured}, but basic.user requires a Basic header`, ONE_METHOD);
  }
  return user && password && { user, password };
}
