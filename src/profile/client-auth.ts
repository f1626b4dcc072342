import type { ClientAuth, Provider } from '../providers/provider.ts';
import { sourceField } from './options/assertion-source.ts';
import { type BasicPair, type Profile, testValue } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** How the client authenticates: always with one method (RFC 6749 §2.3). */
export type ChosenClientAuth = Pick<Profile, 'clientAuth' | 'basic'>;

const ONE_METHOD = 'remove one of them: a client authenticates with one method (RFC 6749 §2.3)';

/** Chooses `options.client_auth` (`configured`) or the provider's default; `basic.user` forces a Basic header (D12). */
export function chooseClientAuth(
  draft: ProfileDraft,
  provider: Provider | undefined,
  configured: ClientAuth | undefined,
): ChosenClientAuth {
  const basic = draft.usesBasic ? parseBasicPair(draft, configured) : undefined;
  const suppliesAssertion =
    draft.hasOption('assertion_source') && sourceField(draft.getText('grant_type')) === 'client_assertion';
  if (!draft.usesBasic && configured === 'private_key_jwt' && !draft.hasOption('key_file') && !suppliesAssertion) {
    draft.addIssue(
      'options.key_file',
      'is missing (required by private_key_jwt)',
      `set ${draft.name}.options.key_file to a private key file (PEM, JWK or PKCS #12)`,
    );
  }
  if (configured?.endsWith('tls_client_auth') && !draft.hasOption('cert_file')) {
    draft.addIssue(
      'options.cert_file',
      `is missing (required by ${configured})`,
      `set ${draft.name}.options.cert_file to the client certificate (PEM)`,
    );
  }
  const clientAuth = chooseMethod(draft, provider, configured ?? (suppliesAssertion ? 'private_key_jwt' : undefined));
  if (clientAuth.startsWith('client_secret_')) rejectAssertion(draft);
  if (clientAuth === 'client_secret_basic_raw') rejectColon(draft, basic);
  return { clientAuth, basic };
}

function chooseMethod(draft: ProfileDraft, provider: Provider | undefined, configured?: ClientAuth): ClientAuth {
  if (draft.usesBasic && configured !== 'client_secret_basic_raw') return 'client_secret_basic';
  const withoutSecret = draft.has('client_secret') ? undefined : provider?.clientAuthWithoutSecret;
  return configured ?? withoutSecret ?? provider?.clientAuth ?? 'passthrough';
}

/** A configured `client_assertion` is client authentication too. */
function rejectAssertion(draft: ProfileDraft): void {
  const first = draft.usesBasic ? 'basic.user' : draft.has('client_secret') ? 'client_secret' : undefined;
  if (first === undefined || !draft.has('client_assertion')) return;
  draft.addIssue('client_assertion', `is a second client authentication in addition to ${first}`, ONE_METHOD);
}

/** Without encoding, the first colon ends the username (RFC 7617 §2). */
function rejectColon(draft: ProfileDraft, basic: BasicPair | undefined): void {
  const user = basic?.user ?? draft.fields.get('client_id');
  if (user === undefined || !testValue(user.value, (text) => text.includes(':'))) return;
  draft.addIssue(
    user.name,
    'contains a colon, which is not possible with client_secret_basic_raw',
    `set ${draft.name}.options.client_auth: client_secret_basic, which encodes it`,
  );
}

function parseBasicPair(draft: ProfileDraft, configured: ClientAuth | undefined): BasicPair | undefined {
  const { name, basic } = draft;
  const user = basic.get('basic.user');
  const password = basic.get('basic.password');
  for (const field of basic.keys()) {
    if (field === 'basic.user' || field === 'basic.password') continue;
    draft.addIssue(field, 'is unknown', 'a Basic header has basic.user and basic.password');
  }
  if (user === undefined && !draft.hasIssue('basic.user')) {
    draft.addIssue('basic.user', 'is missing, but basic.password is set', `set ${name}.basic.user`);
  }
  if (password === undefined && !draft.hasIssue('basic.password')) {
    const hint = `set ${name}.basic.password; it may be empty`;
    draft.addIssue('basic.password', 'is missing, but basic.user is set', hint);
  }
  if (configured !== undefined && !configured.startsWith('client_secret_basic')) {
    draft.addIssue('options.client_auth', `is ${configured}, but basic.user requires a Basic header`, ONE_METHOD);
  }
  return user && password && { user, password };
}
