import { ProviderError } from '../errors.ts';
import { asArgument } from '../profile/login-command.ts';
import type { Profile } from '../profile/profile.ts';
import { type Reply, succeeds } from './http-response.ts';
import { explainRefusal } from './provider-error.ts';
import { quoteWithout } from './redacted-quote.ts';
import { isRefusal, parseBody } from './response-body.ts';
import { memberNames, secretMembers } from './secret-members.ts';
import type { TokenRequest } from './token-request.ts';
import { replyFrom } from './token-response.ts';

/** The error for a reply that {@link parseResponse} finds no token in: a refusal, or something that is neither. */
export function explainReply(profile: Profile, request: TokenRequest, reply: Reply, receivedAt: number): ProviderError {
  const body = parseBody(reply.body);
  if (!succeeds(reply) || (body.kind === 'object' && isRefusal(body.members))) {
    return explainRefusal(profile, request, reply, body, receivedAt);
  }
  if (body.kind !== 'object') {
    const what = {
      html: 'an HTML page',
      text: 'text that is neither a JSON object nor form-encoded',
      empty: 'nothing',
    }[body.kind];
    return unreadable(profile, reply, `answered with ${what}`);
  }
  if (replyFrom(profile, body.members, receivedAt) !== undefined) {
    return unreadable(profile, reply, 'answered with a reply that is nested too deeply');
  }
  const { found } = secretMembers(body.members, []);
  const quote = quoteWithout(profile, request, reply, found);
  const names = quote(memberNames(body.members).join(', '), 200) || 'no member at all';
  return unreadable(profile, reply, `answered without a token (it sent ${names})`);
}

function unreadable(profile: Profile, reply: Reply, what: string): ProviderError {
  const { url, name } = profile;
  return new ProviderError('reply_unreadable', `${url.host} ${what} (HTTP ${reply.status})`, {
    provider: { status: reply.status },
    advice: isDefaultUrl(profile)
      ? `see what is sent with: oauth-profile explain ${asArgument(name)}`
      : `check that ${name}.url is a token endpoint; where the token has another name, set ${name}.options.token_path`,
  });
}

function isDefaultUrl({ provider: { tokenUrl }, url: { href } }: Profile): boolean {
  const [start, end = ''] = tokenUrl?.split('{tenant_id}') ?? [];
  return start !== undefined && href.startsWith(start) && href.endsWith(end);
}
