import { createInterface } from 'node:readline';
import type { Client } from '../../client.ts';
import type { Variables } from '../../config/variables.ts';
import { buildAwsRequest, formatAwsResponse, stsEndpoint } from '../../credential/aws.ts';
import { formatBazelResponse, parseBazelRequest } from '../../credential/bazel.ts';
import { CARGO_HELLO, formatCargoError, formatCargoResponse, parseCargoRequest } from '../../credential/cargo.ts';
import { DOCKER_NOT_FOUND, formatDockerResponse, parseDockerRequest } from '../../credential/docker.ts';
import { findProfileFor } from '../../credential/find-profile.ts';
import { getToolToken, type TokenKind } from '../../credential/get-tool-token.ts';
import { formatGitResponse, GIT_QUIT, parseGitRequest } from '../../credential/git.ts';
import { formatGoogleError, formatGoogleResponse } from '../../credential/google.ts';
import { formatKubernetesResponse, parseKubernetesRequest } from '../../credential/kubernetes.ts';
import { errorCodes, InvalidProfileError, OAuthProfileError } from '../../errors.ts';
import { parseRegion } from '../../profile/options/options.ts';
import { isSecure, parseUrl } from '../../profile/url.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import { version } from '../../version.ts';
import { parseCommandLine, usageError } from '../args.ts';
import { type Context, tokenFlag } from '../context.ts';
import { addCallerFlags } from '../render-error.ts';
import { variableSources, withClient } from '../with-client.ts';

/** One call of a tool. */
interface Call {
  readonly context: Context;
  readonly client: Client;
  readonly variables: Variables;
  /** The arguments after the protocol. */
  readonly args: readonly string[];
}

/** Each protocol returns an exit status. An error is printed on stderr, unless the protocol has a message for it. */
const protocols: Readonly<Record<string, (call: Call) => Promise<number>>> = {
  git: runGit,
  kubernetes: runKubernetes,
  docker: runDocker,
  pnpm: runPnpm,
  google: runGoogle,
  aws: runAws,
  bazel: runBazel,
};

/** Longer requests are malformed, in characters. */
const MAX_REQUEST_LENGTH = 1_048_576;
/** For the request to AWS, in milliseconds. */
const STS_TIMEOUT_MS = 30_000;

/**
 * `credential <protocol>`: gives a token to another program. Tools run it in any directory, also in one that someone else wrote, so the profile file of
 * the directory is not read. It opens no browser and prompts for nothing.
 */
export async function runCredential(context: Context): Promise<number> {
  const [protocol = ''] = context.args.positionals;
  const names = [...Object.keys(protocols), 'cargo'];
  if (!names.includes(protocol))
    throw usageError(`unknown protocol "${escapeControls(protocol)}"`, `use one of ${names.join(', ')}`);
  // Reject an invalid --token before anything is read.
  tokenFlag(context);
  context.terminal.registersMasks = false;
  try {
    return await (protocol === 'cargo'
      ? runCargo(context)
      : withCall(context, (call) => protocols[protocol]?.(call) ?? Promise.resolve(0)));
  } catch (error) {
    if (!(error instanceof OAuthProfileError)) throw error;
    context.terminal.stderr(`oauth-profile: ${describeError(error, context)}\n`);
    return errorCodes[error.code];
  }
}

/** Opens a client as the flags say. */
function withCall<T>(context: Context, use: (call: Call) => Promise<T>): Promise<T> {
  const [, ...args] = context.args.positionals;
  return withClient(
    context,
    ({ client, variables }) => use({ context, client, variables, args }),
    async (client) => [await client.loadVariables({ ...variableSources(context), ignoreDirectory: true })],
  );
}

async function runGit(call: Call): Promise<number> {
  const { context, client, variables, args } = call;
  const [action = ''] = args;
  const request = parseGitRequest(await readInput());
  if (action === 'erase') {
    const name = request.credential && findProfile(call, request.urls);
    if (!name) return 0;
    const { discardCachedToken } = await import('../../flows/discard-token.ts');
    const profile = await client.loadProfile(name, variables);
    await discardCachedToken(await client.openStore(), profile, request.credential);
    return 0;
  }
  // Git has more actions in later versions; a helper ignores those it does not know.
  if (action !== 'get') return 0;
  try {
    const issued = await issueFor(call, request.urls);
    if (issued !== undefined)
      context.terminal.stdoutRaw(formatGitResponse(request, issued.token, issued.profile.options.gitUsername));
    return 0;
  } catch (error) {
    context.terminal.stdout(GIT_QUIT);
    throw error;
  }
}

async function runDocker(call: Call): Promise<number> {
  const { terminal } = call.context;
  const [action = ''] = call.args;
  const { server, urls } = parseDockerRequest(await readInput());
  if (action === 'list') terminal.stdout('{}\n');
  if (action === 'version') terminal.stdout(`oauth-profile ${version}\n`);
  if (action !== 'get') return 0;
  try {
    const issued = await issueFor(call, urls);
    if (issued !== undefined) {
      terminal.stdoutRaw(`${formatDockerResponse(server, issued.token, issued.profile.options.dockerUsername)}\n`);
      return 0;
    }
    terminal.stdout(`${DOCKER_NOT_FOUND}\n`);
  } catch (error) {
    // Docker shows stdout of a helper that fails.
    if (!(error instanceof OAuthProfileError)) throw error;
    terminal.stdout(`${describeError(error, call.context)}\n`);
  }
  return 1;
}

/** Cargo keeps the process running and may send several requests. The flags of its configuration come with each of them. */
async function runCargo(context: Context): Promise<number> {
  const { terminal } = context;
  const respond = (line: string): void => {
    terminal.stdoutRaw(`${line}\n`);
    terminal.flush();
  };
  respond(CARGO_HELLO);
  for await (const line of createInterface({ input: process.stdin, terminal: false })) {
    const request = line.length > MAX_REQUEST_LENGTH ? formatCargoError('other') : parseCargoRequest(line);
    if (typeof request === 'string') {
      respond(request);
      continue;
    }
    try {
      const own = parseCommandLine(['credential', 'cargo', ...request.args]);
      const args = own.kind === 'run' && request.args.length > 0 ? own.args : context.args;
      const issued = await withCall({ ...context, args }, (call) => issueFor(call, request.urls));
      respond(issued === undefined ? formatCargoError('url-not-supported') : formatCargoResponse(issued.token));
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      respond(formatCargoError('other', describeError(error, context)));
    }
  }
  return 0;
}

async function runBazel(call: Call): Promise<number> {
  const { urls } = parseBazelRequest(await readInput());
  if (call.args[0] !== 'get') throw usageError('missing argument: get', 'write oauth-profile credential bazel get');
  call.context.terminal.stdoutRaw(`${formatBazelResponse((await issueFor(call, urls))?.token)}\n`);
  return 0;
}

/** The whole value of the Authorization header: pnpm 10 adds no scheme, and pnpm 12 accepts one. */
async function runPnpm(call: Call): Promise<number> {
  const { token } = await issueNamed(call, call.context.args.values.get('profile')?.[0] ?? call.args[0]);
  call.context.terminal.stdoutRaw(`${token.header.value}\n`);
  return 0;
}

async function runKubernetes(call: Call): Promise<number> {
  const { context, variables, client, args } = call;
  const request = parseKubernetesRequest(context.environment.env['KUBERNETES_EXEC_INFO']);
  const { token, profile } = await issueNamed(call, args[0]);
  const isKnown = request.urls.length > 0 && profile.options.origins.length > 0;
  if (isKnown && findProfileFor(request.urls, variables, client.sources, profile.name) === undefined)
    throw usageError(
      `the token of ${profile.name} may not be sent to ${request.urls[0]?.origin}`,
      `add it to ${profile.name}.options.origins`,
    );
  context.terminal.stdoutRaw(`${formatKubernetesResponse(request, token)}\n`);
  return 0;
}

async function runGoogle(call: Call): Promise<number> {
  const { terminal } = call.context;
  try {
    const { token } = await issueNamed(call, call.args[0], 'id_token');
    terminal.stdoutRaw(`${formatGoogleResponse(token, tokenFlag(call.context) ?? 'id_token')}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof OAuthProfileError)) throw error;
    terminal.stdout(`${formatGoogleError(error.code, describeError(error, call.context))}\n`);
    return errorCodes[error.code];
  }
}

async function runAws(call: Call): Promise<number> {
  const { context, client } = call;
  const { env } = context.environment;
  const [name = ''] = call.args;
  const { token, options } = await getWebIdentity(call, name);
  const { awsRoleArn: arn, awsRegion } = options;
  if (arn === undefined)
    throw usageError(`${name} has no role`, `set ${name}.options.aws_role_arn to the ARN of the role`);
  const sessionName = (env['AWS_ROLE_SESSION_NAME'] ?? '').replace(/[^\w+=,.@-]/g, '').slice(0, 64) || 'oauth-profile';
  const region = awsRegion ?? parseRegion(env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || '');
  const custom = env['AWS_ENDPOINT_URL_STS'];
  const endpoint = custom ? parseUrl(custom) : stsEndpoint(region);
  if (endpoint === undefined || !isSecure(endpoint))
    throw usageError('AWS_ENDPOINT_URL_STS is not an https: URL', 'correct it, or remove it');
  const request = buildAwsRequest({ arn, sessionName, endpoint }, token);
  const limits = { timeoutMs: STS_TIMEOUT_MS, maxBytes: MAX_REQUEST_LENGTH, signal: context.signal };
  context.terminal.stdoutRaw(`${formatAwsResponse(await client.callApi(request, limits))}\n`);
  return 0;
}

/** The token that AWS exchanges: the assertion of a profile with `options.assertion_source`, such as the OIDC token of a CI job, or the ID token of any other. */
async function getWebIdentity(call: Call, name: string) {
  const { client, variables, context } = call;
  const { options, draft } = await client.parseProfile(name, variables);
  const { assertionSource: source, audience = 'sts.amazonaws.com', timeoutMs } = options;
  if (source === undefined || source.kind === 'profile') {
    const { token } = await issueNamed(call, name, 'id_token');
    return { token: new Secret(token.token), options };
  }
  if (draft.issues.length > 0) throw new InvalidProfileError(name, draft.issues, draft);
  const limits = { timeoutMs, signal: context.signal };
  return { token: await client.ports.readAssertion({ source, audience }, name, limits), options };
}

/** Gets a token for one of the URLs; `undefined` if no profile has its origin. */
async function issueFor(call: Call, urls: readonly URL[]) {
  const name = findProfile(call, urls);
  return name === undefined ? undefined : issueNamed(call, name);
}

function findProfile({ context, client, variables }: Call, urls: readonly URL[]): string | undefined {
  const name = context.args.values.get('profile')?.[0];
  return urls.length === 0 ? undefined : findProfileFor(urls, variables, client.sources, name);
}

async function issueNamed({ context, client, variables }: Call, name: string | undefined, byDefault?: TokenKind) {
  if (!name) throw usageError('missing argument: <profile>', 'see oauth-profile credential --help');
  const kind = tokenFlag(context) ?? byDefault ?? 'access_token';
  return getToolToken(client, name, { variables, kind, signal: context.signal });
}

/** One line, with the hint. */
function describeError(error: OAuthProfileError, { args }: Context): string {
  const issues = error instanceof InvalidProfileError ? error.issues : [{ hint: error.hint }];
  const hints = issues.flatMap(({ hint }) => (hint === undefined ? [] : addCallerFlags(hint, args)));
  return escapeControls([error.message, ...hints].join(' → '));
}

/** Reads stdin up to its end. A request that is too long is treated as an empty one. */
async function readInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    if (text.length <= MAX_REQUEST_LENGTH) text += chunk;
  }
  return text.length > MAX_REQUEST_LENGTH ? '' : text;
}
