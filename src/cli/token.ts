import { OAuthProfileError } from '../errors.ts';
import { acquireToken } from '../flows/acquire-token.ts';
import { readProfile } from '../profile/read-profile.ts';
import { printable } from '../secret/printable.ts';
import { MASK } from '../secret/secret.ts';
import { isSecretName } from '../secret/secret-names.ts';
import type { TokenReply } from '../token/parse-response.ts';
import { type Context, outsideOf, portsOf, variablesOf, warn } from './context.ts';
import { emulationOf } from './emulation.ts';
import { usage } from './usage.ts';

/** `token <profile>`: the token on stdout, in the form that was asked for. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  const modes = ['json', 'header', 'field'].filter((mode) => call.switches.has(mode) || call.values.has(mode));
  if (modes.length > 1) throw usage([`--${modes.join(' and --')} exclude each other`], 'choose one');
  const variables = await variablesOf(context);
  const profile = readProfile(call.positionals[0] ?? '', variables, outsideOf(context));
  if (call.switches.has('verbose')) for (const note of profile.notes) warn(context, note);
  const emulation = await emulationOf(context, variables);
  const ports = portsOf(context, emulation?.address);
  const reply = await acquireToken(profile, ports, context.signal).finally(() => emulation?.close());
  if (emulation !== undefined) warn(context, 'emulated: this token is of use to the emulator alone');
  if (reply.refreshToken !== undefined && profile.grant === 'refresh_token' && profile.options.replay !== 'safe') {
    warn(
      context,
      `the provider replaced the refresh token: the one in ${profile.name}.refresh_token dies; --json --reveal shows the new one`,
    );
  }
  const field = call.values.get('field')?.[0];
  if (field !== undefined) terminal.printClear(`${fieldOf(reply, field)}\n`);
  else if (call.switches.has('header')) terminal.printClear(`${headerOf(reply)}\n`);
  else if (call.switches.has('json')) printJson(context, reply);
  else terminal.printClear(`${reply.accessToken.reveal()}\n`);
  return 0;
}

/** `Bearer` in the spelling of RFC 6750 §2.1, which picky servers insist on, whatever the provider's. */
function headerOf({ tokenType, accessToken }: TokenReply): string {
  const type = tokenType ?? 'Bearer';
  const token = accessToken.reveal();
  if (/[\r\n\0]/.test(type + token)) {
    throw new OAuthProfileError('reply_unreadable', 'the token has a line end in it and cannot stand in a header');
  }
  return `Authorization: ${/^bearer$/i.test(type) ? 'Bearer' : type} ${token}`;
}

function fieldOf({ response }: TokenReply, name: string): string {
  if (!Object.hasOwn(response, name)) {
    throw new OAuthProfileError(
      'reply_unreadable',
      `a token was issued, but the response has no member ${printable(name)}`,
      {
        advice: `it has ${printable(Object.keys(response).join(', '))}`,
      },
    );
  }
  const value = response[name];
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The response with its access token; every other secret only for who asked to see it. */
function printJson({ terminal, call }: Context, { response, accessToken }: TokenReply): void {
  if (call.switches.has('reveal')) {
    terminal.printClear(`${JSON.stringify(response, null, 2)}\n`);
    return;
  }
  const token = accessToken.reveal();
  // The token goes past the sink's search, which could find another secret in it by chance; all around it is searched.
  const placeholder = `@${crypto.randomUUID()}@`;
  const masked = JSON.stringify(withoutSecrets(response, false, token, placeholder), null, 2);
  const [head = '', ...tails] = masked.split(`"${placeholder}"`);
  terminal.print(head);
  for (const tail of tails) {
    terminal.printClear(JSON.stringify(token));
    terminal.print(tail);
  }
  terminal.print('\n');
}

/** A copy in which every text below a secret's name is masked, and the token stands as its placeholder. */
function withoutSecrets(value: unknown, secret: boolean, token: string, placeholder: string): unknown {
  if (value === token) return placeholder;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secret, token, placeholder));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => [
      name,
      withoutSecrets(member, secret || isSecretName(name), token, placeholder),
    ]);
    return Object.fromEntries(members);
  }
  return typeof value === 'string' && secret ? MASK : value;
}
