import { isCollection, type Value } from '../../../config/value.ts';
import { type Entry, Variables } from '../../../config/variables.ts';
import { OAuthProfileError } from '../../../errors.ts';
import type { ParsedToken } from '../../../oauth/token-response.ts';
import type { Profile } from '../../../profile/profile.ts';
import { type Command, defineCommand } from '../../command.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';
import { headersOf } from './headers.ts';

/** Asks for a token; `reused` where a fresh one was at hand. */
type Acquire = (profile: Profile, signal: AbortSignal) => Promise<{ reply: ParsedToken; reused: boolean }>;

/** What asking for a token needs of the world. */
export interface OAuthPorts {
  /** A profile of these variables, or one error with every fault. */
  readonly readProfile: (name: string, variables: Variables) => Promise<Profile>;
  readonly acquire: Acquire;
}

/** The name under which the parameters of `ws.oauth` are read as a profile; no login keeps anything for it. */
const OWN_PROFILE = 'ws.oauth';

/** The commands that obtain tokens. */
export function oauthCommands({ acquire, readProfile }: OAuthPorts): Command[] {
  return [
    defineCommand({
      group: 'ws',
      name: 'oauthProfile',
      summary: "Obtains a token with a profile and keeps the provider's response",
      parameters: [
        { name: 'var', kind: 'variable', help: "Variable that receives the provider's response" },
        { name: 'profile', kind: 'text', help: 'Prefix of the variables that define the profile' },
      ],
      example: 'ws.oauthProfile: [token, graph]',
      async run(args, context) {
        if (typeof args.profile !== 'string' || args.profile === '') {
          throw new StepFailure('profile must be the name of a profile, and not made from a secret');
        }
        await keepResponse(await readProfile(args.profile, context.variables), args.var, context, acquire);
      },
    }),
    defineCommand({
      group: 'ws',
      name: 'oauth',
      summary: "Obtains a token from an address with the fields that are given, and keeps the provider's response",
      parameters: [
        { name: 'var', kind: 'variable', help: "Variable that receives the provider's response" },
        { name: 'url', kind: 'text', help: 'Address of the token endpoint' },
        {
          name: 'auth',
          kind: 'map',
          help: 'Fields to send, all of them as they are given; options.… and basic.… as in a profile',
          secret: true,
        },
      ],
      example:
        'ws.oauth: [token, "https://id.example.com/token", {grant_type: client_credentials, client_id: ci, client_secret: "${env:CI_SECRET}"}]',
      async run(args, context) {
        const given = [...entriesOf(args.auth, '')];
        const taken = given.find(({ name }) => name === 'url' || name === 'type');
        if (taken !== undefined) {
          throw new StepFailure(`auth must not have ${taken.name}: it says where a profile sends, and is not a field`);
        }
        const entries = [{ name: 'type', value: 'custom' }, { name: 'url', value: args.url }, ...given].map(
          ({ name, value }): Entry => ({ name: `${OWN_PROFILE}.${name}`, value, literal: true }),
        );
        const variables = new Variables().add(entries, context.source);
        await keepResponse(await readProfile(OWN_PROFILE, variables), args.var, context, acquire);
      },
    }),
  ];
}

/** Nested maps are dotted names. */
function* entriesOf(map: Readonly<Record<string, Value>>, prefix: string): Iterable<{ name: string; value: Value }> {
  for (const [name, value] of Object.entries(map)) {
    if (isCollection(value) && !Array.isArray(value)) {
      yield* entriesOf(value as Readonly<Record<string, Value>>, `${prefix}${name}.`);
    } else yield { name: prefix + name, value };
  }
}

/** Nothing is kept before the token is there (D2). */
async function keepResponse(profile: Profile, name: string, context: StepContext, acquire: Acquire): Promise<void> {
  const { reply, reused } = await asked(profile, context, acquire);
  context.set(name, reply.response as Readonly<Record<string, Value>>);
  const { authorizeOrigin: setHeader } = profile.options;
  if (setHeader === undefined) return;
  const value = reply.accessToken.map((token) => `Bearer ${token}`);
  if (value.test((clear) => /[^\t\x20-\x7e]/.test(clear))) {
    throw new StepFailure('the token has characters in it that cannot stand in a header');
  }
  headersOf(context).bind('Authorization', value, setHeader);
  context.say(`Authorization is set for ${setHeader}${reused ? ', with a token that was still fresh' : ''}`);
}

/** Asks, and tells of it. */
async function asked(profile: Profile, context: StepContext, acquire: Acquire): ReturnType<Acquire> {
  const { clock, source, signal } = context;
  const startedAt = clock.now();
  const common = { file: source.label, profile: profile.name };
  context.emit({
    type: 'token-request',
    at: startedAt,
    ...common,
    provider: profile.provider.type,
    grant: profile.grant,
    url: profile.url.href,
  });
  const answered = (more: { outcome: 'issued' | 'reused' | 'failed'; code?: string; members?: string[] }): void => {
    const at = clock.now();
    context.emit({ type: 'token-response', at, ...common, elapsedMs: at - startedAt, ...more });
  };
  try {
    const found = await acquire(profile, signal);
    answered({ outcome: found.reused ? 'reused' : 'issued', members: Object.keys(found.reply.response) });
    return found;
  } catch (error) {
    answered({ outcome: 'failed', ...(error instanceof OAuthProfileError && { code: error.code }) });
    throw error;
  }
}
