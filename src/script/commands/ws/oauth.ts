import { parseJson } from '../../../config/json.ts';
import { isCollection, type Value } from '../../../config/value.ts';
import { type Entry, Variables, wrapSecretsByName } from '../../../config/variables.ts';
import { OAuthProfileError, ProviderError } from '../../../errors.ts';
import type { Send, WireRequest } from '../../../ports.ts';
import { MASK, type Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import { attempt } from '../../attempt.ts';
import { type Command, commandGroup, parameter } from '../../command.ts';
import { displayText, displayValue } from '../../compare.ts';
import type { Exchange } from '../../result.ts';
import { assertStep, type StepContext, StepFailure } from '../../step-context.ts';
import { headersOf, type ProofSource } from './headers.ts';
import { MAX_SHOWN, showHeaders } from './response.ts';
import { showUrl } from './url.ts';

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
      /** Called after each request that was sent, also if it failed. */
      readonly onExchange: (exchange: TokenExchange) => void;
    },
  ): Promise<ScriptToken>;
}

/** A request to a token endpoint and its response, with their secrets. */
interface TokenExchange {
  readonly request: Pick<WireRequest, 'url' | 'headers' | 'body'>;
  readonly response: Awaited<ReturnType<Send>> | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly elapsedMs: number;
}

/** A token and how to use it. */
export interface ScriptToken {
  /** The provider's response; its secrets are wrapped. */
  readonly response: Readonly<Record<string, Value>>;
  readonly fromCache: boolean;
  /** The header with the token, and the origin whose requests get it (`options.authorize_origin` of the profile). */
  readonly header: { readonly name: string; readonly value: Secret; readonly origin: string } | undefined;
  /** Set if the token is bound to a key (RFC 9449). */
  readonly proofs?: ProofSource | undefined;
}

/** Name of the profile that is built from the parameters of `ws.oauth`; no login is stored for it. */
const INLINE_PROFILE = 'ws.oauth';

const ws = commandGroup('ws');
const variable = parameter('var', 'variable', "Variable for the provider's response");

/** Creates the commands that get tokens. */
export function oauthCommands(tokens: TokenService): Command[] {
  return [
    ws('oauthProfile', "Gets a token for a profile and saves the provider's response", {
      parameters: [
        variable,
        parameter('profile', 'text', 'Name of the profile: the prefix of its variables'),
        parameter(
          'expectError',
          'text',
          'Passes only if the provider rejects the request with this error; the variable gets error, error_description and status',
          { optional: true },
        ),
      ],
      example: 'ws.oauthProfile: [token, graph]',
      async run(args, context) {
        if (typeof args.profile !== 'string' || args.profile === '')
          throw new StepFailure('profile must be the name of a profile and must not contain a secret');
        const saving = saveToken(args.profile, context.variables, args.var, context, tokens);
        await (args.expectError === undefined
          ? saving
          : expectError(saving, String(args.expectError), args.var, context));
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
        if (reserved !== undefined)
          throw new StepFailure(`auth must not contain ${reserved.name}: the parameter url sets the token endpoint`);
        const entries = [{ name: 'type', value: 'custom' }, { name: 'url', value: args.url }, ...fields].map(
          ({ name, value }): Entry => ({ name: `${INLINE_PROFILE}.${name}`, value, literal: true }),
        );
        const variables = new Variables().add(entries, context.source);
        await saveToken(INLINE_PROFILE, variables, args.var, context, tokens);
      },
    }),
  ];
}

/** Waits for a token request that the provider must reject with an error, and saves the error. */
async function expectError(saving: Promise<void>, expected: string, name: string, context: StepContext): Promise<void> {
  const error: unknown = await saving.catch((reason) => reason);
  if (error === undefined) {
    context.remove(name);
    throw new StepFailure('the provider issued a token', { expected: `the error ${expected}`, actual: 'a token' });
  }
  if (!(error instanceof ProviderError)) throw error;
  const { error: actual = '', description, status } = error.provider;
  assertStep(actual === expected, `the provider returned another error: ${error.message}`, { expected, actual });
  context.set(name, { error: actual, ...(description !== undefined && { error_description: description }), status });
}

/** Describes a token request and its response for reports; names decide what is a secret. */
function toTokenReport({ request, response, startedAt, elapsedMs }: TokenExchange, context: StepContext): Exchange {
  const { redact } = context;
  const form = request.body.split('&').map((field) => {
    const [name = '', value = ''] = [...new URLSearchParams(field)][0] ?? [];
    return isSensitiveName(name) && value !== '' ? `${field.split('=')[0]}=${MASK}` : redact(field);
  });
  const sent = {
    method: 'POST',
    url: redact(showUrl(request.url, context)),
    headers: showHeaders(Object.entries(request.headers), context),
    body: form.join('&'),
  };
  if (response === undefined) return { request: sent, startedAt, elapsedMs };
  const { status, body } = response;
  const parsed = attempt(() => parseJson(body, 'body'));
  const shown = parsed === undefined ? body : displayValue(wrapSecretsByName('', parsed));
  const shownBody = body === '' ? {} : { body: displayText(shown, MAX_SHOWN, redact) };
  const headers = showHeaders(Object.entries(response.headers), context);
  return { request: sent, response: { status, headers, ...shownBody }, startedAt, elapsedMs };
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

/** Tokens that steps got with a refresh token, for the next attempt of the same step. */
const refreshed = new WeakMap<object, Promise<ScriptToken>>();

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
  let grant: string | undefined;
  const emitResponse = (more: { outcome: 'issued' | 'reused' | 'failed'; code?: string; members?: string[] }): void => {
    const at = clock.now();
    context.emit({ type: 'token-response', at, ...common, elapsedMs: at - startedAt, ...more });
  };
  const onRequest = (request: { provider: string; grant: string | undefined; url: string }): void => {
    isRequested = true;
    grant = request.grant;
    context.emit({ type: 'token-request', at: startedAt, ...common, ...request });
  };
  const onExchange = (exchange: TokenExchange): void => context.record(toTokenReport(exchange, context));
  // A retry must not repeat a refresh: its token was used, and the provider may revoke the whole family.
  const earlier = context.attempt > 1 ? refreshed.get(context.step) : undefined;
  const requesting = earlier ?? tokens.getToken(profile, variables, { signal, onRequest, onExchange });
  const token = await requesting.catch((error: unknown) => {
    if (grant === 'refresh_token') context.forbidRetry();
    const code = error instanceof OAuthProfileError ? { code: error.code } : {};
    if (isRequested) emitResponse({ outcome: 'failed', ...code });
    throw error;
  });
  if (grant === 'refresh_token') refreshed.set(context.step, Promise.resolve(token));
  const { response, fromCache, header, proofs } = token;
  emitResponse({ outcome: fromCache ? 'reused' : 'issued', members: Object.keys(response) });
  context.set(name, wrapSecretsByName('', response));
  if (header === undefined) return;
  headersOf(context).bind(header.name, header.value, header.origin, proofs);
  context.log(`${header.name} is set for ${header.origin}${fromCache ? ' (cached token)' : ''}`);
}
