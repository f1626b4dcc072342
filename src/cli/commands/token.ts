import { OAuthProfileError } from '../../errors.ts';
import type { Obtained } from '../../flows/wish.ts';
import { memberNames } from '../../oauth/secret-members.ts';
import type { ParsedToken } from '../../oauth/token-response.ts';
import type { Profile } from '../../profile/profile.ts';
import { escapeControls, escapeControlsInJson, hasControls } from '../../redaction/sanitize.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import { type Context, logTo, sessionOf, variablesOf, warn, wishOf } from '../context.ts';
import { emulationOf } from '../emulation.ts';
import { usage } from '../usage.ts';

/** `token <profile>`: the token on stdout, in the form that was asked for. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  const modes = ['json', 'header', 'field'].filter((mode) => call.switches.has(mode) || call.values.has(mode));
  if (modes.length > 1) throw usage([`--${modes.join(' and --')} exclude each other`], 'choose one');
  const { reply } = await obtain(context);
  const field = call.values.get('field')?.[0];
  if (field !== undefined) terminal.printClear(`${fieldOf(reply, field)}\n`);
  else if (call.switches.has('header')) terminal.printClear(`${headerOf(reply)}\n`);
  else if (call.switches.has('json')) printJson(context, reply);
  else terminal.printClear(`${tokenOf(reply)}\n`);
  return 0;
}

/** A token for the profile that the command line names, from wherever it says. */
export async function obtain(context: Context): Promise<Obtained> {
  const { call } = context;
  const variables = await variablesOf(context);
  const emulation = await emulationOf(context, variables);
  const session = sessionOf(context, emulation?.address);
  try {
    const profile = await session.readProfile(call.positionals[0] ?? '', variables);
    const verbose = call.switches.has('verbose');
    if (verbose) tellWay(profile, context);
    const obtained = await session.obtain(profile, wishOf(context, profile));
    if (verbose) {
      const origin = obtained.reused ? `kept in ${(await session.openStore()).place}` : 'new';
      logTo(context, `the token is ${origin}${lifetimeOf(obtained.reply)}`);
    }
    if (emulation !== undefined) warn(context, 'emulated: this token is of use to the emulator alone');
    return obtained;
  } finally {
    await session.close();
    await emulation?.close();
  }
}

/** Tells what is about to be asked for. */
function tellWay({ name, provider, grant, url, notes }: Profile, context: Context): void {
  for (const note of notes) warn(context, note);
  const way = [provider.type, grant].filter((part) => part !== undefined).join(', ');
  logTo(context, escapeControls(`${name}: ${way}, ${url.href}`));
}

function lifetimeOf({ expiresAt }: ParsedToken): string {
  return expiresAt === undefined ? '' : `; it lasts for another ${Math.floor((expiresAt - Date.now()) / 1000)} s`;
}

/** The token alone; what is no token by RFC 6749 §A.12 could steer a terminal, or end a header. */
function tokenOf({ accessToken }: ParsedToken): string {
  const token = accessToken.reveal();
  if (/^[ -~]+$/.test(token)) return token;
  throw new OAuthProfileError('response_unreadable', 'the access token has characters in it that no token may have', {
    hint: 'see the response with --json, where they are escaped; RFC 6749 allows printable ASCII alone',
  });
}

/** `Bearer` in the spelling of RFC 6750 §2.1, which picky servers insist on, whatever the provider's. */
function headerOf(reply: ParsedToken): string {
  const type = reply.tokenType ?? 'Bearer';
  const token = tokenOf(reply);
  if (!/^[ -~]+$/.test(type)) {
    throw new OAuthProfileError('response_unreadable', 'the token_type of the response cannot stand in a header', {
      hint: 'see the response with --json',
    });
  }
  return `Authorization: ${/^bearer$/i.test(type) ? 'Bearer' : type} ${token}`;
}

function fieldOf({ response }: ParsedToken, name: string): string {
  if (!Object.hasOwn(response, name)) {
    throw new OAuthProfileError('usage', `a token was issued, but the response has no member ${escapeControls(name)}`, {
      hint: `it has ${escapeControls(memberNames(response).join(', '))}`,
    });
  }
  const value = response[name];
  if (typeof value !== 'string') return escapeControlsInJson(value);
  if (!hasControls(value)) return value;
  throw new OAuthProfileError('response_unreadable', `${escapeControls(name)} has control characters in it`, {
    hint: 'see the response with --json, where they are escaped',
  });
}

/** The response with its access token; every other secret only for who asked to see it. */
function printJson({ terminal, call }: Context, { response, accessToken }: ParsedToken): void {
  if (call.switches.has('reveal')) {
    terminal.printClear(`${escapeControlsInJson(response, 2)}\n`);
    return;
  }
  const token = accessToken.reveal();
  // The token goes past the sink's search, which could find another secret in it by chance; all around it is searched.
  const placeholder = `@${crypto.randomUUID()}@`;
  const masked = escapeControlsInJson(withoutSecrets(response, false, token, placeholder), 2);
  const [head = '', ...tails] = masked.split(`"${placeholder}"`);
  terminal.print(head);
  for (const tail of tails) {
    terminal.printClear(escapeControlsInJson(token));
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
      withoutSecrets(member, secret || isSensitiveName(name), token, placeholder),
    ]);
    return Object.fromEntries(members);
  }
  return typeof value === 'string' && secret ? MASK : value;
}
