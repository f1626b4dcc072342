// docs/options.md: all that can be set, read from the code that reads it.
import { commands, globalFlags } from '../src/cli/command-definitions.ts';
import { Variables } from '../src/config/variables.ts';
import { optionNames, parseOptions } from '../src/profile/options.ts';
import { KNOWN_FIELDS, ProfileDraft } from '../src/profile/profile-draft.ts';
import { findProvider, providerTypes } from '../src/providers/registry.ts';

/** @typedef {import('../src/cli/command.ts').Flag} Flag */
/** @typedef {import('../src/providers/provider.ts').Provider} Provider */

const SOURCE = { label: '', directory: '', trust: /** @type {const} */ ('given') };
const NO_FILES = { readOptionFile: () => undefined, readFileInside: () => undefined };
const providers = [...new Set(providerTypes.map((type) => findProvider(type)))].filter((one) => one !== undefined);

/** What each field is for; a name that the code knows and this does not, or the other way round, fails a test. @type {Record<string, string>} */
export const fieldMeanings = {
  type: 'which provider: see below',
  url: 'the token endpoint, in place of the provider’s own; `custom` needs it',
  tenant_id: 'part of the token endpoint’s address; never sent',
  grant_type: 'how the token is asked for; else chosen by the fields that are there',
  client_id: 'the application',
  client_secret: 'its secret',
  username: 'the person of a password grant',
  password: 'and the password',
  refresh_token: 'pasted once; its rotations are followed. `login` makes it unnecessary',
  scope: 'what the token is for: words between blanks, or a list',
  audience: 'the API that the token is for, where the provider asks for it (Auth0)',
  resource: 'the same by RFC 8707; refused by Microsoft’s v2.0 endpoint',
  redirect_uri: 'of the authorization code that is exchanged',
  code: 'an authorization code, with `grant_type: authorization_code`',
};

/** Every variable of the environment that is looked at. @type {Record<string, string>} */
export const environment = {
  OAUTH_PROFILE_HOME: 'folder of the vault; else `$XDG_DATA_HOME/oauth-profile`, else `~/.local/share/oauth-profile`',
  OAUTH_PROFILE_KEY:
    'key of the vault or Redis: base64 of 32 bytes, several with commas ([how](fresh-tokens.md#its-key))',
  OAUTH_PROFILE_STORE: 'a Redis instead of the vault, like `--store` but not public to the machine ([how](fleet.md))',
  'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY':
    'proxy for `https:` and `http:` addresses: `http://user:password@host:port`; small letters win',
  NO_PROXY:
    'hosts, subdomains, `host:port`, addresses and networks (`10.0.0.0/8`) that need none, with commas; `*` for all',
  NODE_EXTRA_CA_CERTS:
    'file with certificates to trust besides, for all profiles; for one profile use `options.ca_file`',
  BROWSER: 'the program that `login` opens addresses with',
  'XDG_CONFIG_HOME, XDG_DATA_HOME': 'in place of `~/.config` and `~/.local/share`; absolute paths only',
  'HOME, USERPROFILE': 'where your own profiles and the vault are',
  XDG_RUNTIME_DIR: 'where `exec --token-file` puts the file; else the folder for temporary files',
  NO_COLOR: 'no colours, if set',
  TERM: '`dumb`: neither colours nor a display that is redrawn',
  CI: 'no display that is redrawn, if set',
  GITHUB_ACTIONS: '`true`: annotations, masks and a summary ([how](ci.md#github-actions))',
  'GITHUB_STEP_SUMMARY, GITHUB_WORKSPACE': 'where the summary goes; what paths in annotations begin at',
  'DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION, SSH_CLIENT, SSH_TTY, WSL_DISTRO_NAME, container, PATH':
    'whether `login` can open a browser here, and which',
  NODE_DISABLE_COMPILE_CACHE: 'no compiled code is kept beside the program and the library, if set',
  NODE_DEBUG: 'what it makes Node print is searched for secrets',
};

/** Which member of the options that were read tells what an option is unless it is set. @type {Record<string, string>} */
const READ_AS = {
  timeout: 'timeoutMs',
  min_ttl: 'minTtlMs',
  default_ttl: 'lifetimeMs',
  refresh_token_reuse: 'replay',
  grace: 'graceMs',
};

/** The page. */
export function optionDocs() {
  const common = commonFlags();
  return [
    '<!-- Made by npm run docs from src/; not for editing. -->',
    '# Options: all that can be set',
    '',
    '[Commands](#commands) · [Environment](#environment) · [Fields of a profile](#fields-of-a-profile) · [Providers](#providers) · [Options of a profile](#options-of-a-profile)',
    '',
    'The commands of *scripts* have [a page of their own](commands.md).',
    '',
    '## Commands',
    '',
    ...commands.flatMap(({ name, usage, summary, flags }) => [
      `### ${name}`,
      '',
      `\`${['oauth-profile', name, usage].filter((word) => word !== '').join(' ')}\`: ${cell(summary)}.`,
      '',
      ...table(['flag', ''], flags.filter((flag) => !common.has(flag)).map(flagRow)),
      ...(flags.some((flag) => common.has(flag))
        ? ['Also takes the [flags that read profiles](#flags-that-read-profiles).', '']
        : []),
    ]),
    '### Flags that read profiles',
    '',
    ...table(['flag', ''], [...common].map(flagRow)),
    '### Flags of the program',
    '',
    ...table(['flag', ''], globalFlags.map(flagRow)),
    '## Environment',
    '',
    'Variables of the environment that you name yourself come in with `${env:NAME}` ([variables](variables.md#references)). These have a meaning of their own:',
    '',
    ...table(
      ['variable', 'means'],
      Object.entries(environment).map(([names, meaning]) => [names.split(', ').map(code).join(', '), meaning]),
    ),
    '`exec` gives its command `OAUTH_ACCESS_TOKEN`, or with `--token-file` `OAUTH_ACCESS_TOKEN_FILE`.',
    '',
    '## Fields of a profile',
    '',
    'A profile is variables with a common prefix: `graph.type`, `graph.client_id`. Any further field is sent as it is, so that a provider’s own parameters need no',
    'support here. For built-in types an empty field counts as absent, and fields of another grant are not sent. `custom` sends everything as given.',
    '',
    ...table(
      ['field', 'is'],
      KNOWN_FIELDS.map((name) => [code(name), fieldMeanings[name] ?? '']),
    ),
    '`basic.user` and `basic.password` become an HTTP Basic header, in place of client id and secret.',
    '',
    '## Providers',
    '',
    ...table(
      ['type', 'token endpoint', '`tenant_id` is'],
      providers.map(({ type, tokenUrl, tenant }) => [
        code(type),
        tokenUrl === undefined ? '`url`' : code(tokenUrl),
        tenant?.description ?? '–',
      ]),
    ),
    'Which grant a profile uses that names none, and what each grant cannot do without:',
    '',
    ...table(
      ['type', 'grant unless set', 'password', 'refresh_token', 'client_credentials'],
      providers.map((provider) => [
        code(provider.type),
        grantOf(provider),
        ...['password', 'refresh_token', 'client_credentials'].map(
          (grant) => (provider.required[grant] ?? []).map(code).join(', ') || '–',
        ),
      ]),
    ),
    'Microsoft and Okta also need `tenant_id` where no `url` is set. How each behaves:',
    '',
    ...table(
      ['type', 'client authentication', 'a refresh token used twice', '`login` with', 'scopes that `login` adds'],
      providers.map(({ type, clientAuth, clientAuthWithoutSecret, refreshTokenReuse, login: signIn }) => [
        code(type),
        `${code(clientAuth)}${clientAuthWithoutSecret === undefined ? '' : `; without a secret ${code(clientAuthWithoutSecret)}`}`,
        code(refreshTokenReuse),
        signIn === undefined ? (type === 'custom' ? 'what its options say' : '–') : waysOf(signIn),
        (signIn?.requiredScopes ?? []).map(code).join(', ') || '–',
      ]),
    ),
    `\`type\` may also be ${aliases()}. [What the four words mean](fresh-tokens.md#what-is-promised-and-what-cannot-be) for a refresh token used twice.`,
    '',
    '## Options of a profile',
    '',
    '`<profile>.options.<name>` steers the request and is never sent. An unknown one is a fault.',
    '',
    ...table(
      ['option', 'means', 'takes', 'unless set'],
      Object.entries(optionNames).map(([name, meaning]) => [
        code(name),
        cell(meaning.replace(/ \(default [^)]*\)$/, '')),
        cell(kindOf(name)),
        defaultOf(name),
      ]),
    ),
  ].join('\n');
}

/** Flags that most commands have. @returns {Set<Flag>} */
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

/** @param {NonNullable<Provider['login']>} signIn */
function waysOf({ preferredFlow, deviceAuthorizationUrl, authorizationUrl }) {
  const ways = [
    ...(deviceAuthorizationUrl === undefined ? [] : ['device']),
    ...(authorizationUrl === undefined ? [] : ['browser']),
  ];
  return ways
    .sort((one) => (one === preferredFlow ? -1 : 1))
    .map((way) => code(`--${way}`))
    .join(', ');
}

function aliases() {
  return providers
    .flatMap(({ type, aliases = {} }) =>
      Object.entries(aliases).map(([name, grant]) => `\`${name}\` (\`${type}\` with \`${grant}\`)`),
    )
    .join(', ');
}

/** What the reader of options asks for, when it is given something else. @param {string} name */
function kindOf(name) {
  const draft = new ProfileDraft('profile', new Variables());
  draft.options.set(name, { variable: { name, value: [], source: SOURCE }, value: ['neither'] });
  parseOptions(draft, undefined, NO_FILES);
  return draft.issues.map(({ message }) => /^is not (.*)/.exec(message)?.[1]).find((form) => form !== undefined) ?? '';
}

/** What is read where nothing is set, for each provider. @param {string} name */
function defaultOf(name) {
  if (name === 'client_auth') return '[by provider](#providers)';
  if (name === 'reuse') {
    const types = providers
      .filter(({ refreshRevokesAccessTokens: refreshEndsTokens }) => refreshEndsTokens)
      .map(({ type }) => code(type));
    return `\`false\`; \`true\` for refreshes of ${types.join(', ')}. \`token\`, \`exec\` and \`createTokenSource\` reuse unless it is \`false\``;
  }
  const member = READ_AS[name];
  if (member === undefined) return '–';
  /** @type {Map<string, string[]>} */
  const byValue = new Map();
  for (const provider of providers) {
    const { options } = parseOptions(new ProfileDraft('profile', new Variables()), provider, NO_FILES);
    const shown = show(/** @type {Record<string, unknown>} */ (/** @type {unknown} */ (options))[member]);
    byValue.set(shown, [...(byValue.get(shown) ?? []), code(provider.type)]);
  }
  if (byValue.size === 1) return [...byValue.keys()].join('');
  return [...byValue].map(([value, types]) => `${types.join(', ')}: ${value}`).join('; ');
}

/** @param {unknown} value */
function show(value) {
  if (value === undefined) return 'such a token is not reused';
  if (value === Number.POSITIVE_INFINITY) return 'for ever';
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
function code(text) {
  return `\`${text}\``;
}
