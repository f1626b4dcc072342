import { isCollection, type Value } from '../../../config/value.ts';
import { type Entry, Variables, wrapSecretsByName } from '../../../config/variables.ts';
import { OAuthProfileError } from '../../../errors.ts';
import type { Secret } from '../../../redaction/secret.ts';
import { type Command, commandGroup, parameter } from '../../command.ts';
import { type StepContext, StepFailure } from '../../step-context.ts';
import { headersOf } from './headers.ts';

/** Gets tokens for scripts. It is all that the script engine knows of OAuth. */
export interface TokenService {
  /** Gets a token for the profile of this name in `variables`, from the cache or from the provider. */
  getToken(
    profile: string,
    variables: Variables,
    options: {
      readonly signal: AbortSignal;
      /** Called once when the profile is known to be valid, before a token is looked up or requested. */
      readonly onRequest: (request: { provider: string; grant: string | undefined; url: string }) => void;
    },
  ): Promise<ScriptToken>;
}

/** A token and how to use it. */
export interface ScriptToken {
  /** The provider's response; its secrets are wrapped. */
  readonly response: Readonly<Record<string, Value>>;
  readonly accessToken: Secret;
  readonly fromCache: boolean;
  /** Origin whose requests get the Authorization header (`options.authorize_origin` of the profile). */
  readonly authorizeOrigin: string | undefined;
}

/** Name of the profile that is built from the parameters of `ws.oauth`; no login is stored for it. */
const INLINE_PROFILE = 'ws.oauth';

const ws = commandGroup('ws');
const variable = parameter('var', 'variable', "Variable for the provider's response");

/** Creates the commands that get tokens. */
export function oauthCommands(tokens: TokenService): Command[] {
  return [
    ws('oauthProfile', "Gets a token for a profile and saves the provider's response", {
      parameters: [variable, parameter('profile', 'text', 'Name of the profile: the prefix of its variables')],
      example: 'ws.oauthProfile: [token, graph]',
      async run(args, context) {
        if (typeof args.profile !== 'string' || args.profile === '') {
          throw new StepFailure('profile must be the name of a profile and must not contain a secret');
        }
        await saveToken(args.profile, context.variables, args.var, context, tokens);
      },
    }),
    ws('oauth', "Requests a token from a URL with the given form fields and saves the provider's response", {
      parameters: [
        variable,
        parameter('url', 'text', 'URL of the token endpoint'),
        parameter('auth', 'map', 'Form fields, sent unchanged; options.… and basic.… as in a profile', {
          secret: true,
        }),
      ],
      example:
        'ws.oauth: [token, "https://id.example.com/token", {grant_type: client_credentials, client_id: ci, client_secret: "${env:CI_SECRET}"}]',
      async run(args, context) {
        const fields = [...flattenFields(args.auth, '')];
        const reserved = fields.find(({ name }) => name === 'url' || name === 'type');
        if (reserved !== undefined) {
          throw new StepFailure(`auth must not contain ${reserved.name}: the parameter url sets the token endpoint`);
        }
        const entries = [{ name: 'type', value: 'custom' }, { name: 'url', value: args.url }, ...fields].map(
          ({ name, value }): Entry => ({ name: `${INLINE_PROFILE}.${name}`, value, literal: true }),
        );
        const variables = new Variables().add(entries, context.source);
        await saveToken(INLINE_PROFILE, variables, args.var, context, tokens);
      },
    }),
  ];
}

/** Nested maps become dotted names. */
function* flattenFields(
  map: Readonly<Record<string, Value>>,
  prefix: string,
): Iterable<{ name: string; value: Value }> {
  for (const [name, value] of Object.entries(map)) {
    if (isCollection(value) && !Array.isArray(value)) {
      yield* flattenFields(value as Readonly<Record<string, Value>>, `${prefix}${name}.`);
    } else yield { name: prefix + name, value };
  }
}

/** Gets a token, emits the events of the request and saves the response. Nothing is saved before there is a token (D2). */
async function saveToken(
  profile: string,
  variables: Variables,
  name: string,
  context: StepContext,
  tokens: TokenService,
): Promise<void> {
  const { clock, source, signal } = context;
  const startedAt = clock.now();
  const common = { file: source.label, profile };
  let isRequested = false;
  const emitResponse = (more: { outcome: 'issued' | 'reused' | 'failed'; code?: string; members?: string[] }): void => {
    const at = clock.now();
    context.emit({ type: 'token-response', at, ...common, elapsedMs: at - startedAt, ...more });
  };
  const onRequest = (request: { provider: string; grant: string | undefined; url: string }): void => {
    isRequested = true;
    context.emit({ type: 'token-request', at: startedAt, ...common, ...request });
  };
  const token = await tokens.getToken(profile, variables, { signal, onRequest }).catch((error: unknown) => {
    const code = error instanceof OAuthProfileError ? { code: error.code } : {};
    if (isRequested) emitResponse({ outcome: 'failed', ...code });
    throw error;
  });
  const { response, accessToken, fromCache, authorizeOrigin } = token;
  emitResponse({ outcome: fromCache ? 'reused' : 'issued', members: Object.keys(response) });
  context.set(name, wrapSecretsByName('', response));
  if (authorizeOrigin === undefined) return;
  const value = accessToken.map((clear) => `Bearer ${clear}`);
  if (value.test((clear) => /[^\t\x20-\x7e]/.test(clear))) {
    throw new StepFailure('the access token contains characters that are not allowed in a header');
  }
  headersOf(context).bind('Authorization', value, authorizeOrigin);
  context.log(`Authorization is set for ${authorizeOrigin}${fromCache ? ' (cached token)' : ''}`);
}
