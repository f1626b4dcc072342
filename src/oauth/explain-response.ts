import { ProviderError } from '../errors.ts';
import { quoteShellArgument } from '../profile/login-command.ts';
import type { Profile } from '../profile/profile.ts';
import { type HttpResponse, isSuccess } from './http-response.ts';
import { toProviderError } from './provider-error.ts';
import { createRedactedQuote } from './redacted-quote.ts';
import { isErrorBody, parseBody } from './response-body.ts';
import { memberNames, secretMembers } from './secret-members.ts';
import type { TokenRequest } from './token-request.ts';
import { parseTokenMembers } from './token-response.ts';

/** The error for a reply that {@link parseResponse} finds no token in: a refusal, or something that is neither. */
export function toTokenResponseError(
  profile: Profile,
  request: TokenRequest,
  reply: HttpResponse,
  receivedAt: number,
): ProviderError {
  const body = parseBody(reply.body);
  if (!isSuccess(reply) || (body.kind === 'object' && isErrorBody(body.members))) {
    return toProviderError(profile, request, reply, body, receivedAt);
  }
  if (body.kind !== 'object') {
    const what = {
      html: 'an HTML page',
      text: 'text that is neither a JSON object nor form-encoded',
      empty: 'nothing',
    }[body.kind];
    return unreadable(profile, reply, `answered with ${what}`);
  }
  if (parseTokenMembers(profile, body.members, receivedAt) !== undefined) {
    return unreadable(profile, reply, 'answered with a reply that is nested too deeply');
  }
  const { found } = secretMembers(body.members, []);
  const quote = createRedactedQuote(profile, request, reply, found);
  const names = quote(memberNames(body.members).join(', '), 200) || 'no member at all';
  return unreadable(profile, reply, `answered without a token (it sent ${names})`);
}

function unreadable(profile: Profile, reply: HttpResponse, what: string): ProviderError {
  const { url, name } = profile;
  return new ProviderError('response_unreadable', `${url.host} ${what} (HTTP ${reply.status})`, {
    provider: { status: reply.status },
    hint: isDefaultUrl(profile)
      ? `see what is sent with: oauth-profile explain ${quoteShellArgument(name)}`
      : `check that ${name}.url is a token endpoint; where the token has another name, set ${name}.options.token_path`,
  });
}

function isDefaultUrl({ provider: { tokenUrl }, url: { href } }: Profile): boolean {
  const [start, end = ''] = tokenUrl?.split('{tenant_id}') ?? [];
  return start !== undefined && href.startsWith(start) && href.endsWith(end);
}
