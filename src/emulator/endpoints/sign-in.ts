import { consentFields, escapeHtml, form, page, signInFields } from '../pages.ts';
import { BUILT_IN_USER, type Device, type RequestContext } from '../realm.ts';

/** The next page to show, or the user's decision. */
export type SignInStep = { readonly page: string; readonly status: number } | { readonly user: string } | 'denied';

const TICKET_MS = 600_000;

/**
 * Shows the sign-in page, then the consent page. A signed ticket in a hidden field identifies the user on the second
 * page, so that the emulator stores nothing between the two. `hidden` are further hidden fields.
 */
export function signInAndConsent(
  context: RequestContext,
  consent: Pick<Device, 'clientId' | 'scope'>,
  hidden: Readonly<Record<string, string>>,
): SignInStep {
  const { request, realm, states, now } = context;
  const { type } = realm.provider;
  const step = request.form.get('step');
  const ticket = states.decode<{ user: string; client: string; until: number }>(request.form.get('ticket') ?? '');
  const signedIn =
    ticket !== undefined && ticket.client === consent.clientId && ticket.until > now ? ticket.user : undefined;
  if (signedIn !== undefined && step === 'allow') return { user: signedIn };
  if (step === 'deny') return 'denied';
  const user = request.form.get('username') ?? '';
  const password = realm.findUser(user)?.password;
  const isValid = step === 'sign-in' && password !== undefined && password === request.form.get('password');
  if (isValid) {
    const signed = states.encode({ user, client: consent.clientId, until: now + TICKET_MS });
    return {
      status: 200,
      page: page(
        'Allow access?',
        type,
        form({ ...hidden, ticket: signed }, consentFields(consent.clientId, user, consent.scope)),
      ),
    };
  }
  const error = step === 'sign-in' ? 'Unknown user name or wrong password.' : undefined;
  return {
    status: error === undefined ? 200 : 401,
    page: page('Sign in', type, form(hidden, signInFields(user, error, hintFor(context)))),
  };
}

function hintFor({ realm }: RequestContext): string {
  const others = realm.userNames().filter((name) => name !== BUILT_IN_USER.login);
  const builtIn = `Sign in as <code>${BUILT_IN_USER.login}</code> with the password <code>${BUILT_IN_USER.password}</code>`;
  if (others.length === 0) return `${builtIn}.`;
  return `${builtIn}, or as a user of your profiles: ${others.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ')}.`;
}
