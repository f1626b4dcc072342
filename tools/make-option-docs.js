// Generates docs/reference/cli.md (commands, flags, environment variables) and docs/reference/profiles.md (fields, providers, options) from the
// code that reads them.
import { commands, globalFlags } from '../src/cli/command-definitions.ts';
import { Variables } from '../src/config/variables.ts';
import { optionNames, parseOptions } from '../src/profile/options/options.ts';
import { KNOWN_FIELDS, ProfileDraft } from '../src/profile/profile-draft.ts';
import { findProvider, loadCatalogue, providerTypes } from '../src/providers/registry.ts';

/** @typedef {import('../src/cli/command-definitions.ts').Flag} Flag */
/** @typedef {import('../src/providers/provider.ts').Provider} Provider */

const SOURCE = { label: '', directory: '', trust: /** @type {const} */ ('given') };
const NO_FILES = { readFileInside: () => undefined };
await loadCatalogue();
const providers = [...new Set(providerTypes.map((type) => findProvider(type)))].filter((one) => one !== undefined);

/** The meaning of each field. A test compares the names with those in the code. @type {Record<string, string>} */
export const fieldMeanings = {
  type: 'the provider: [the types](#types)',
  url: 'the token endpoint, instead of the one of the provider; required for `custom`',
  tenant_id: 'part of the URL of the token endpoint; never sent',
  issuer: 'the issuer of `oidc`, whose metadata names the endpoints; never sent',
  grant_type: 'the grant; by default chosen by the fields that are set',
  client_id: 'the client ID of the application',
  client_secret: 'its client secret',
  username: 'the user of a password grant',
  password: 'the password of the user',
  refresh_token: 'set once; when the provider rotates it, the new one is stored. Not needed after `login`',
  scope: 'the requested scopes: separated by spaces, or a list',
  audience: 'the API that the token is for, if the provider requires it (Auth0); a list for several',
  resource:
    'the API that the token is for, as in RFC 8707, or a list of APIs; rejected by the v2.0 endpoint of Microsoft',
  redirect_uri: 'the redirect URI of the authorization code',
  code: 'an authorization code, with `grant_type: authorization_code`',
};

/** Every environment variable that is read. @type {Record<string, string>} */
export const environment = {
  OAUTH_PROFILE_HOME:
    'directory of the vault. Default: `$XDG_DATA_HOME/oauth-profile`, or `~/.local/share/oauth-profile`',
  OAUTH_PROFILE_KEY:
    'key of the vault or Redis: 32 bytes in base64; several keys are separated by commas ([how](../explanation/store.md#the-key))',
  OAUTH_PROFILE_STORE:
    'URL of a Redis to use instead of the vault; unlike `--store`, other users of the machine cannot see it ([how](../how-to/redis.md))',
  OAUTH_PROFILE_EMULATOR_KEY:
    'private RSA key (PEM or JWK) that emulators sign tokens with; they start faster, and the key stays the same. Default: a new key for each process',
  OAUTH_PROFILE_EMULATOR:
    'URL of a running emulator to use instead of the real providers, as `--emulate=URL`; set by `emulate -- command` ([how](../how-to/emulator.md))',
  'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY':
    'proxy for `https:` and `http:` URLs: `http://user:password@host:port`. Lower-case names have precedence',
  NO_PROXY:
    'hosts, subdomains, `host:port`, IP addresses and networks (`10.0.0.0/8`) without a proxy, separated by commas; `*` for all',
  NODE_EXTRA_CA_CERTS:
    'file with additional trusted certificates, for all profiles; for one profile use `options.ca_file`',
  BROWSER: 'the program that `login` opens URLs with',
  'XDG_CONFIG_HOME, XDG_DATA_HOME': 'instead of `~/.config` and `~/.local/share`; absolute paths only',
  'HOME, USERPROFILE': 'home directory, for the profiles of the user and the vault',
  XDG_RUNTIME_DIR: 'directory for the files of `exec --token-file`. Default: the directory for temporary files',
  NO_COLOR: 'no colors, if set',
  TERM: '`dumb`: no colors and no live display',
  CI: 'no live display, if set',
  GITHUB_ACTIONS: '`true`: annotations, masks and a summary ([how](../how-to/ci.md#github-actions))',
  'ACTIONS_ID_TOKEN_REQUEST_URL, ACTIONS_ID_TOKEN_REQUEST_TOKEN':
    'set by GitHub Actions, for `assertion_source: github-actions` ([how](../how-to/secretless-ci.md))',
  'IDENTITY_ENDPOINT, IDENTITY_HEADER': 'set by Azure App Service, for `assertion_source: azure-imds`',
  'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_DEFAULT_REGION':
    'credentials and region, for a Google credential file with an AWS source; the region also for `credential aws`. Default: those of the machine',
  GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: '`1`: the executable of a credential file of Google may run',
  GITLAB_CI: 'if set, a hint names the `id_tokens` of GitLab',
  'TF_BUILD, TEAMCITY_VERSION': 'if set, commands of Azure Pipelines and TeamCity in the output are escaped',
  'GITHUB_STEP_SUMMARY, GITHUB_WORKSPACE': 'file of the summary; base directory of paths in annotations',
  'DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION, SSH_CLIENT, SSH_TTY, WSL_DISTRO_NAME, container, PATH':
    'whether `login` can open a browser here, and which',
  KUBERNETES_EXEC_INFO: 'set by kubectl, for `credential kubernetes`',
  'AWS_ROLE_SESSION_NAME, AWS_ENDPOINT_URL_STS':
    'region, name of the session and endpoint of the Security Token Service, for `credential aws`',
  'KUBECONFIG, DOCKER_CONFIG, CARGO_HOME, NPM_CONFIG_USERCONFIG': 'files that `configure` changes',
  NODE_DEBUG: 'debug output of Node; secrets in it are masked',
};

/** The property of the parsed options that holds the default of an option. @type {Record<string, string>} */
const PARSED_AS = {
  timeout: 'timeoutMs',
  min_ttl: 'minTtlMs',
  default_ttl: 'defaultTtlMs',
  refresh_token_reuse: 'refreshTokenReuse',
  grace: 'graceMs',
};

/** Returns the reference of the command line. */
export function cliDocs() {
  const common = commonFlags();
  return [
    '<!-- Generated by npm run docs from src/. Do not edit. -->',
    '# Command line',
    '',
    'This page lists every command, flag, exit status and environment variable. The same text is in',
    '`oauth-profile <command> --help`.',
    '',
    ...table(
      ['command', 'description'],
      commands.map(({ name, summary }) => [`[\`${name}\`](#${name})`, cell(summary)]),
    ),
    '## Commands',
    '',
    ...commands.flatMap(({ name, usage, summary, flags, examples }) => [
      `### ${name}`,
      '',
      `${code(['oauth-profile', name, usage].filter((word) => word !== '').join(' '))}`,
      '',
      `${capitalize(cell(summary))}.`,
      '',
      ...table(['flag', 'description'], flags.filter((flag) => !common.has(flag)).map(flagRow)),
      ...(flags.some((flag) => common.has(flag)) ? ['Also accepts the [common flags](#common-flags).', ''] : []),
      '```sh',
      ...examples.map(([line, meaning]) => `${line}   # ${meaning}`),
      '```',
      '',
    ]),
    '## Common flags',
    '',
    'Commands that read a profile accept these flags:',
    '',
    ...table(['flag', 'description'], [...common].map(flagRow)),
    'Every command accepts these:',
    '',
    ...table(['flag', 'description'], globalFlags.map(flagRow)),
    '## Exit status',
    '',
    ...table(
      ['exit', 'meaning'],
      [
        ['0', 'success'],
        ['1', 'a step of a script failed'],
        ['2', 'the command line, a script, a data file or a profile is invalid; nothing was sent'],
        ['3', 'the provider rejected the request'],
        ['4', 'network error, HTTP 429 or 5xx, or an unreadable response'],
        ['5', 'a login is required; the message contains the command'],
        ['6', 'the token store is locked, unreadable or unwritable'],
        ['130', 'interrupted'],
      ],
    ),
    '`exec` exits with the status of its command, or with 125 if the command was not started.',
    '[Errors](errors.md) lists the error codes for each status.',
    '',
    '## Environment variables',
    '',
    'A profile can use any environment variable with `${env:NAME}` ([variables](variables.md#references)).',
    'These variables are read by oauth-profile itself:',
    '',
    ...table(
      ['variable', 'meaning'],
      Object.entries(environment).map(([names, meaning]) => [names.split(', ').map(code).join(', '), meaning]),
    ),
    '`exec` sets `OAUTH_ACCESS_TOKEN` for its command, or `OAUTH_ACCESS_TOKEN_FILE` with `--token-file`. With several profiles,',
    'the names end in that of the profile: `OAUTH_ACCESS_TOKEN_GRAPH`.',
    '',
  ].join('\n');
}

/** Returns the reference of profiles. */
export function profileDocs() {
  return [
    '<!-- Generated by npm run docs from src/. Do not edit. -->',
    '# Profiles',
    '',
    'This page lists every type, field and option of a profile.',
    '',
    'A profile is a set of variables with a common prefix: `graph.type`, `graph.client_id`. Define profiles',
    'in `oauth-profiles.yaml`; [variables](variables.md) describes the other sources.',
    '',
    '## Types',
    '',
    ...table(
      ['type', 'token endpoint', 'fields of the URL'],
      providers.map(({ type, tokenUrl, usesIssuer, variables = {} }) => [
        code(type),
        tokenUrl === undefined ? (usesIssuer ? 'from the metadata of `issuer`' : '`url`') : code(tokenUrl),
        Object.entries(variables)
          .map(([name, { description }]) => `${code(name)}: ${description}`)
          .join('; ') || '–',
      ]),
    ),
    'To use another endpoint, set `url`: GitLab self-managed, custom domains and authorization servers of',
    'Okta, national clouds of Microsoft. `tenant_id` is then not required.',
    '',
    `\`type\` is case-sensitive. It may also be ${aliases()}.`,
    '',
    '## Grants',
    '',
    'If a profile sets no `grant_type`, its fields decide. Each grant requires these fields:',
    '',
    ...table(
      ['type', 'default grant', 'client_credentials', 'refresh_token', 'password'],
      providers.map((provider) => [
        code(provider.type),
        grantOf(provider),
        ...['client_credentials', 'refresh_token', 'password'].map(
          (grant) => (provider.required[grant] ?? []).map(code).join(', ') || '–',
        ),
      ]),
    ),
    'Microsoft and Okta also require `tenant_id` if `url` is not set. Any other `grant_type` is sent with all',
    'fields of the profile: `authorization_code`, `urn:ietf:params:oauth:grant-type:jwt-bearer`, token exchange.',
    'The assertion or subject token can be signed or read for each request: `options.key_file`, `options.assertion_source`.',
    '',
    '## Fields',
    '',
    'Fields that are not in this table are sent unchanged, so you can use any parameter of a provider.',
    'Built-in types ignore empty fields and fields of other grants. `custom` sends every field as given.',
    '',
    ...table(
      ['field', 'meaning'],
      KNOWN_FIELDS.map((name) => [code(name), fieldMeanings[name] ?? '']),
    ),
    '`basic.user` and `basic.password` are sent as an HTTP Basic header instead of the client ID and secret.',
    '',
    '## Provider behaviour',
    '',
    ...table(
      ['type', 'client authentication', 'second use of a refresh token', '`login` with', 'scopes that `login` adds'],
      providers.map(({ type, clientAuth, clientAuthWithoutSecret, refreshTokenReuse, login: signIn }) => [
        code(type),
        clientAuth === 'passthrough'
          ? 'the fields as given'
          : `${code(clientAuth)}${clientAuthWithoutSecret === undefined ? '' : `; without a secret ${code(clientAuthWithoutSecret)}`}`,
        code(refreshTokenReuse),
        signIn === undefined ? (type === 'custom' ? 'the endpoints in its options' : '–') : loginFlags(signIn),
        (signIn?.requiredScopes ?? []).map(code).join(', ') || '–',
      ]),
    ),
    'Refresh tokens: [the values for a second use](../explanation/refresh-tokens.md#refresh-token-reuse).',
    '',
    '## Options',
    '',
    '`<profile>.options.<name>` controls the request and is never sent. An unknown option is an error.',
    'Durations are written `500ms`, `30s`, `10m` or `1h`.',
    '',
    ...table(
      ['option', 'meaning', 'value', 'default'],
      Object.entries(optionNames).map(([name, meaning]) => [
        code(name),
        cell(meaning.replace(/ \(default [^)]*\)$/, '')),
        cell(expectedValue(name)),
        defaultOf(name),
      ]),
    ),
  ].join('\n');
}

/** Returns the flags that most commands have. @returns {Set<Flag>} */
function commonFlags() {
  /** @type {Map<Flag, number>} */
  const uses = new Map();
  for (const flag of commands.flatMap(({ flags }) => flags)) uses.set(flag, (uses.get(flag) ?? 0) + 1);
  return new Set([...uses].filter(([, count]) => count > commands.length / 2).map(([flag]) => flag));
}

/** @param {Flag} flag @returns {string[]} */
function flagRow({ name, value, optional, repeatable, help }) {
  const shown = value === undefined ? `--${name}` : optional ? `--${name}[=${value}]` : `--${name} ${value}`;
  return [code(shown), `${cell(help)}${repeatable ? '; may be repeated' : ''}`];
}

/** @param {Provider} provider */
function grantOf({ grantsByFields, defaultGrant }) {
  const chosen = grantsByFields.map(({ grant, fields }) => `${code(grant)} with ${fields.map(code).join(' and ')}`);
  return [...chosen, ...(defaultGrant === undefined ? ['none'] : [code(defaultGrant)])].join(', else ');
}

/** @param {NonNullable<Provider['login']>} login */
function loginFlags({ preferredFlow, deviceAuthorizationUrl, authorizationUrl }) {
  const methods = [
    ...(deviceAuthorizationUrl === undefined ? [] : ['device']),
    ...(authorizationUrl === undefined ? [] : ['browser']),
  ];
  return methods
    .sort((one) => (one === preferredFlow ? -1 : 1))
    .map((method) => code(`--${method}`))
    .join(', ');
}

function aliases() {
  return providers
    .flatMap(({ type, aliases = {} }) =>
      Object.entries(aliases).map(([name, grant]) => `\`${name}\` (\`${type}\` with \`${grant}\`)`),
    )
    .join(', ');
}

/** Returns the expected value of an option, from the message for an invalid one. @param {string} name */
export function expectedValue(name) {
  const draft = new ProfileDraft('profile', new Variables());
  draft.options.set(name, { variable: { name, value: [], source: SOURCE }, value: ['invalid'] });
  parseOptions(draft, undefined, NO_FILES);
  return draft.issues.map(({ message }) => /^is not (.*)/.exec(message)?.[1]).find((form) => form !== undefined) ?? '';
}

/** Returns the default of an option for each provider. @param {string} name */
function defaultOf(name) {
  if (name === 'client_auth') return '[by type](#provider-behaviour)';
  if (name === 'reuse') {
    const types = providers
      .filter(({ refreshRevokesAccessTokens }) => refreshRevokesAccessTokens)
      .map(({ type }) => code(type));
    return `\`false\`; \`true\` for refreshes of ${types.join(', ')}. \`token\`, \`exec\` and \`createTokenSource\` reuse unless it is \`false\``;
  }
  if (name === 'api_header') {
    const types = providers.flatMap(({ type, apiHeader }) =>
      apiHeader === undefined ? [] : `; ${code(type)}: ${code(apiHeader)}`,
    );
    return `${code('Authorization')}${types.join('')}`;
  }
  if (name === 'origins') {
    const types = providers.flatMap(({ type, apiOrigins = [] }) => {
      if (apiOrigins === 'token_url') return `${code(type)}: the origin of the token endpoint`;
      return apiOrigins.length > 0 ? `${code(type)}: ${apiOrigins.map(code).join(', ')}` : [];
    });
    return `${types.join('; ')}. Other types, and types with another \`url\`: none`;
  }
  const member = PARSED_AS[name];
  if (member === undefined) return '–';
  /** @type {Map<string, string[]>} */
  const byValue = new Map();
  for (const provider of providers) {
    const options = parseOptions(new ProfileDraft('profile', new Variables()), provider, NO_FILES);
    const shown = show(/** @type {Record<string, unknown>} */ (/** @type {unknown} */ (options))[member]);
    byValue.set(shown, [...(byValue.get(shown) ?? []), code(provider.type)]);
  }
  if (byValue.size === 1) return [...byValue.keys()].join('');
  return [...byValue].map(([value, types]) => `${types.join(', ')}: ${value}`).join('; ');
}

/** @param {unknown} value */
function show(value) {
  if (value === undefined) return 'the token is not reused';
  if (value === Number.POSITIVE_INFINITY) return 'unlimited';
  return code(typeof value === 'number' ? `${value / 1000}s` : String(value));
}

/** @param {string[]} head @param {string[][]} rows */
function table(head, rows) {
  if (rows.length === 0) return [];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).concat('');
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<');
}

/** @param {string} text */
function capitalize(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {string} text */
function code(text) {
  return `\`${text}\``;
}
