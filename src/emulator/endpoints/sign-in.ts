import type { RequestContext } from '../issue.ts';
import type { EmulatorRequest } from '../message.ts';
import { consentFields, escapeHtml, form, page, signInFields } from '../pages.ts';
import { BUILT_IN_USER } from '../realm.ts';

/** What a person is asked to agree to. */
export interface Asked {
  readonly clientId: string;
  readonly scope: string;
}

/** How far the person has come: still at a page, or decided. */
export type Step = { readonly page: string; readonly status: number } | { readonly user: string } | 'denied';

const TICKET_MS = 600_000;

/** Sign-in, then consent. What was entered before travels along in a signed ticket, so that nothing is kept between the pages. */
export function signInAndConsent(
  desk: RequestContext,
  request: EmulatorRequest,
  asked: Asked,
  carried: Readonly<Record<string, string>>,
): Step {
  const { realm, mint, now } = desk;
  const { type } = realm.dialect;
  const step = request.form.get('step');
  const ticket = mint.read<{ user: string; client: string; until: number }>(request.form.get('ticket') ?? '');
  const signedIn =
    ticket !== undefined && ticket.client === asked.clientId && ticket.until > now ? ticket.user : undefined;
  if (signedIn !== undefined && step === 'allow') return { user: signedIn };
  if (step === 'deny') return 'denied';
  const user = request.form.get('username') ?? '';
  const right = step === 'sign-in' && realm.users.has(user) && realm.users.get(user) === request.form.get('password');
  if (right) {
    const sealed = mint.sign({ user, client: asked.clientId, until: now + TICKET_MS });
    return {
      status: 200,
      page: page(
        'Allow access?',
        type,
        form({ ...carried, ticket: sealed }, consentFields(asked.clientId, user, asked.scope)),
      ),
    };
  }
  const error = step === 'sign-in' ? 'The user name or password is not known here.' : undefined;
  return {
    status: error === undefined ? 200 : 401,
    page: page('Sign in', type, form(carried, signInFields(user, error, hintFor(desk)))),
  };
}

function hintFor({ realm }: RequestContext): string {
  const others = [...realm.users.keys()].filter((name) => name !== BUILT_IN_USER.name);
  const own = `<code>${BUILT_IN_USER.name}</code> signs in with <code>${BUILT_IN_USER.password}</code>`;
  if (others.length === 0) return `${own}.`;
  return `${own}; users of your profiles with their own password: ${others.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ')}.`;
}
