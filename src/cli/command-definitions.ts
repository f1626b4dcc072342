/** A flag of a command. `value` names its argument; a flag without one is a switch. */
export interface Flag {
  readonly name: string;
  readonly value: string | undefined;
  /** The value may be omitted: `--emulate` or `--emulate=URL`. */
  readonly optional: boolean;
  readonly repeatable: boolean;
  readonly help: string;
  /** Description of the previous flag and this one, which the help of a command then shows in one row. */
  readonly helpWithPrevious: string | undefined;
}

/** Definition of a command for parsing, help and completion. Its code is loaded when it runs. */
export interface Command {
  readonly name: string;
  /** Positional arguments: `<required>`, `[optional]`, `…` for any number. */
  readonly usage: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  readonly examples: readonly (readonly [command: string, description: string])[];
}

/** Defines a flag: `name`, `name VALUE`, `name[=VALUE]` if the value may be omitted, or `name VALUE…` if the flag may be repeated. */
function defineFlag(syntax: string, help: string, helpWithPrevious?: string): Flag {
  const [name = '', value] = syntax
    .replace(/\[=(\w+)\]$/, ' $1')
    .replace(/…$/, '')
    .split(' ');
  return { name, value, optional: syntax.includes('[='), repeatable: syntax.endsWith('…'), help, helpWithPrevious };
}

/** Flags that most commands have. The help of the program describes them, and that of a command lists their names. */
export const commonFlags: readonly Flag[] = [
  defineFlag('data FILE…', 'read variables from FILE (.yaml, .json, .env, .properties)'),
  defineFlag('env-file FILE…', 'read environment variables for ${env:NAME} from FILE (.env)'),
  defineFlag('set NAME=VALUE…', 'set one variable, such as graph.scope=user.read'),
  defineFlag('store URL', 'use the Redis at URL instead of the vault (default: $OAUTH_PROFILE_STORE)'),
  defineFlag('json', 'print results and errors as JSON'),
  defineFlag('quiet', 'print no warnings'),
  defineFlag('verbose', 'print what is sent and where tokens come from'),
];

const fault = defineFlag(
  'fault KIND[:N]…',
  'inject a fault into all requests, or the Nth: 429, 500, hang, reset-after, …',
);
const emulate = defineFlag(
  'emulate[=URL]',
  'use an emulator instead of the real providers: a new one, or the one at URL',
);
const allow = defineFlag('allow ORIGIN…', 'connect to the real ORIGIN; servers on this machine are always real');
const allowOrigin = defineFlag(
  'allow-origin URL…',
  'accept requests of web pages of this origin, such as http://localhost:3000',
);
const reveal = defineFlag('reveal', 'show secrets in plaintext');

const cacheFlags: readonly Flag[] = [
  defineFlag('force-refresh', 'ignore cached tokens and request a new one'),
  defineFlag('min-ttl TIME', 'minimum remaining lifetime of a cached token, such as 5m (default: 60s)'),
  defineFlag('no-store', 'request a new token and store nothing'),
];

/** Flags of the program itself. */
export const globalFlags: readonly Flag[] = [
  defineFlag('help', 'show help'),
  defineFlag('version', 'print the version'),
];

/** The commands, in the order in which help lists them. */
export const commands: readonly Command[] = [
  {
    name: 'run',
    usage: '<script…>',
    summary: 'run scripts (files, directories or glob patterns)',
    flags: [
      defineFlag('parallel N', 'run N scripts at a time (default: 1)'),
      defineFlag(
        'shard I/N',
        'run the Ith of N equal parts, such as 2/4',
        'run N scripts at a time; run the Ith of N equal parts',
      ),
      defineFlag('report KIND=FILE…', 'write junit=x.xml[,cases=steps], json=x.json or html=x.html'),
      defineFlag('tag NAME…', 'run only scripts with this tag; if repeated, with any of the tags'),
      defineFlag(
        'not-tag NAME…',
        'do not run scripts with this tag',
        'run only scripts with this tag, or only those without it',
      ),
      defineFlag('grep REGEX', 'run only scripts whose name or file matches'),
      defineFlag('rows FILE', 'run each script once per row of FILE (.csv, .json, .yaml)'),
      defineFlag('repeat N', 'run each script N times', 'run each script once per row of FILE, or N times'),
      defineFlag('env NAME', 'read environments/NAME.yaml, next to the script or above'),
      defineFlag('retries N', 'repeat a failed script up to N times; it is reported as flaky if it passes'),
      defineFlag(
        'bail',
        'stop after the first failed script',
        'repeat a failed script up to N times; stop at the first failure',
      ),
      defineFlag('watch', 'run scripts again when they or their files change, until Ctrl-C'),
      defineFlag('list', 'list the selected scripts and run none'),
      defineFlag(
        'dry-run',
        'validate the selected scripts and their variables, send nothing',
        'list the selected scripts, or validate them, and run none',
      ),
      defineFlag('commands FILE…', 'load your own commands from a JavaScript module'),
      defineFlag('events', 'print events as JSON lines'),
      { ...emulate, help: 'emulate the providers: a new emulator, or the one at URL' },
      fault,
      { ...allow, helpWithPrevious: 'for the emulator: see oauth-profile emulate --help' },
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile run me.yaml --emulate', 'emulate the providers'],
      ['oauth-profile run smoke/ --parallel 4 --report junit=out.xml', 'run a directory, write a report'],
    ],
  },
  {
    name: 'token',
    usage: '<profile>',
    summary: 'print an access token, from the cache while it is usable',
    flags: [
      ...cacheFlags,
      defineFlag('format NAME', 'token, header, headers-json, json, env, curl or netrc (default: token)'),
      defineFlag('header', 'print a complete "Authorization: …" line, as --format header'),
      defineFlag('field NAME', 'print one member of the response, such as id_token'),
      emulate,
      fault,
      ...commonFlags,
      { ...reveal, help: 'with --json: show all secrets of the response, not only the access token' },
    ],
    examples: [
      ['oauth-profile token graph', 'print the token'],
      ['oauth-profile token graph --json', 'print the response'],
      ['oauth-profile token graph --format curl | curl -K - https://api.example.com', 'call an API'],
    ],
  },
  {
    name: 'exec',
    usage: '<profile…> -- <command…>',
    summary: 'run a command with tokens in its environment',
    flags: [
      defineFlag('token-file', 'pass each token in a file, which is replaced before it expires'),
      defineFlag('proxy', 'pass no token: a proxy adds it to requests for options.origins'),
      defineFlag('only', 'with --proxy: reject requests to all other origins'),
      defineFlag('no-caller-secret', 'with --proxy: accept requests of other programs on this machine'),
      allowOrigin,
      ...cacheFlags,
      emulate,
      fault,
      allow,
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile exec graph -- ./smoke-test.sh', 'the script reads $OAUTH_ACCESS_TOKEN'],
      ['oauth-profile exec graph --token-file -- ./agent', 'it reads $OAUTH_ACCESS_TOKEN_FILE'],
      ['oauth-profile exec graph lab --proxy -- ./agent', 'its requests get the tokens, it gets none'],
    ],
  },
  {
    name: 'proxy',
    usage: '<profile>',
    summary: 'add the token to requests that clients send to this machine',
    flags: [
      defineFlag('port PORT', 'port on 127.0.0.1 (default: any free port)'),
      defineFlag('socket PATH', 'listen on a Unix socket that only you can use'),
      defineFlag('target ORIGIN', 'origin of the API (default: the one in options.origins)'),
      defineFlag('caller-secret', 'accept only requests with the password in the printed URL'),
      allowOrigin,
      emulate,
      fault,
      allow,
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile proxy graph --port 8080', 'curl http://127.0.0.1:8080/v1.0/me'],
      ['oauth-profile proxy graph --socket my.sock', 'curl --unix-socket my.sock http://localhost/v1.0/me'],
      ['oauth-profile proxy graph --caller-secret', 'on a machine that others use too'],
    ],
  },
  {
    name: 'watch',
    usage: '<profile>',
    summary: 'write a token to a file and replace it before it expires',
    flags: [
      defineFlag('file PATH', 'the file, with mode 0600; it is deleted when the command ends'),
      defineFlag('token MEMBER', 'access_token or id_token (default: access_token)'),
      ...cacheFlags.filter(({ name }) => name !== 'no-store'),
      emulate,
      fault,
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile watch graph --file /run/tokens/graph', 'until it is stopped'],
      ['oauth-profile watch okta --file id.jwt --token id_token', 'for AWS_WEB_IDENTITY_TOKEN_FILE'],
    ],
  },
  {
    name: 'credential',
    usage: '<protocol> [argument…]',
    summary: 'give a token to git, kubectl, docker, cargo and other tools',
    flags: [
      defineFlag('profile NAME', 'the profile (default: the one whose origins contain the host)'),
      defineFlag('token KIND', 'access_token or id_token (default: id_token for google and aws)'),
      ...commonFlags,
    ],
    examples: [
      ["git config --global credential.helper '!oauth-profile credential git'", 'for git'],
      ['oauth-profile credential kubernetes lab', 'in a kubeconfig'],
      ['oauth-profile credential aws lab', 'in ~/.aws/config'],
    ],
  },
  {
    name: 'configure',
    usage: '<tool> <profile>',
    summary: 'let git, kubectl, docker, cargo or pnpm use a profile',
    flags: [
      defineFlag('dry-run', 'show the changes and make none'),
      defineFlag('undo', 'remove what configure has written'),
      defineFlag('token KIND', 'access_token or id_token (default: access_token)'),
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile configure git lab', 'for its origins'],
      ['oauth-profile configure kubectl cluster --token id_token --dry-run', 'show the changes'],
      ['oauth-profile configure docker registry --undo', 'remove them'],
    ],
  },
  {
    name: 'login',
    usage: '<profile>',
    summary: 'log in and store the refresh token for token, exec and run',
    flags: [
      defineFlag('device', 'use a code that you enter in any browser, on any machine'),
      defineFlag('browser', 'use a browser on this machine'),
      defineFlag('no-open', 'print the URL instead of opening a browser'),
      defineFlag('port PORT', 'port of the redirect URI (default: any free port)'),
      defineFlag('force', 'replace the login of another account without confirmation'),
      emulate,
      fault,
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile login graph', 'use the default of the provider'],
      ['oauth-profile login lab --device', 'on a machine without a browser'],
      ['oauth-profile login drive --port 8912', 'use a registered redirect URI'],
    ],
  },
  {
    name: 'logout',
    usage: '[profile]',
    summary: 'delete a stored login',
    flags: [
      defineFlag('all', 'delete all stored logins'),
      defineFlag('revoke', 'also revoke the refresh token at the provider'),
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile logout graph', 'delete the login of one profile'],
      ['oauth-profile logout lab --revoke', 'also revoke it at the provider'],
      ['oauth-profile logout --all', 'delete every login'],
    ],
  },
  {
    name: 'forget',
    usage: '[profile]',
    summary: 'delete logins and cached tokens of a profile',
    flags: [defineFlag('all', 'delete everything that is stored'), ...commonFlags],
    examples: [
      ['oauth-profile forget graph', 'delete what is stored for one profile, defined or not'],
      ['oauth-profile forget --all', 'delete everything, for example on a shared machine'],
    ],
  },
  {
    name: 'list',
    usage: '',
    summary: 'list profiles, with server and expiry of stored tokens',
    flags: commonFlags,
    examples: [
      ['oauth-profile list', 'profiles, servers and expiry'],
      ['oauth-profile list --json', 'the same as JSON'],
    ],
  },
  {
    name: 'check',
    usage: '[profile…]',
    summary: 'validate profiles without network access',
    flags: [
      defineFlag('online', 'also check discovery, certificate, clock, proxy and store; sends no secret'),
      defineFlag('strict', 'exit with 2 if there are warnings, such as misspelled fields'),
      emulate,
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile check', 'check every profile'],
      ['oauth-profile check graph --data ci.yaml', 'check one profile'],
      ['oauth-profile check --online', 'also check the providers and the store'],
    ],
  },
  {
    name: 'explain',
    usage: '<profile>',
    summary: 'show the request that would be sent and where each value comes from',
    flags: [defineFlag('curl', 'print a curl command'), ...commonFlags, reveal],
    examples: [
      ['oauth-profile explain graph', 'show the request, with secrets masked'],
      ['oauth-profile explain graph --curl', 'show it as a curl command'],
      ['oauth-profile explain graph --json', 'show it as JSON'],
    ],
  },
  {
    name: 'inspect',
    usage: '<profile>',
    summary: 'show the claims of a token and what its server knows about it',
    flags: [emulate, fault, ...commonFlags],
    examples: [
      ['oauth-profile inspect graph', 'header and claims, times in words; never the token'],
      ['oauth-profile inspect lab --json', 'the same as JSON'],
    ],
  },
  {
    name: 'commands',
    usage: '[group.name]',
    summary: 'list the script commands and their parameters',
    flags: [],
    examples: [
      ['oauth-profile commands', 'list all commands'],
      ['oauth-profile commands ws.oauthProfile', 'describe one command, with an example'],
    ],
  },
  {
    name: 'emulate',
    usage: '[-- command…]',
    summary: 'run an emulator of the providers on this machine',
    flags: [
      defineFlag('port PORT', 'port on 127.0.0.1 (default: any free port)'),
      defineFlag('no-control', 'disable the control API and the web console'),
      fault,
      allow,
      defineFlag('config FILE', 'users, clients and settings of the emulator (default: emulator.yaml)'),
      ...commonFlags,
    ],
    examples: [
      ['oauth-profile emulate --port 8400', 'emulate the providers you use'],
      ['oauth-profile token graph --emulate=http://127.0.0.1:8400', 'use it from another terminal'],
      ['oauth-profile emulate -- npm test', 'run a command with the emulator up'],
    ],
  },
  {
    name: 'providers',
    usage: '[name]',
    summary: 'list the providers and what each requires',
    flags: [defineFlag('json', 'print the list as JSON')],
    examples: [
      ['oauth-profile providers', 'all providers'],
      ['oauth-profile providers github', 'the endpoints, fields and notes of one provider'],
    ],
  },
  {
    name: 'init',
    usage: '[provider]',
    summary: 'write a first oauth-profiles.yaml, or a first script',
    flags: [
      defineFlag('type TYPE', 'the same as the argument, such as okta; oauth-profile providers lists all'),
      defineFlag('name NAME', 'name of the profile (default: the provider)'),
      defineFlag('user', 'for a user who logs in, instead of a machine'),
      defineFlag('script', 'write a script that passes with --emulate (first.yaml) instead of a profile'),
      defineFlag('json', 'print errors as JSON'),
    ],
    examples: [
      ['oauth-profile init microsoft --name graph --user', 'for a user who logs in'],
      ['oauth-profile init linkedin', 'a custom profile for a provider without a type'],
      ['oauth-profile init --script', 'a script to begin with'],
    ],
  },
  {
    name: 'completion',
    usage: '<bash|zsh|fish|powershell>',
    summary: 'print a shell completion script',
    flags: [],
    examples: [
      ['source <(oauth-profile completion bash)', 'in ~/.bashrc'],
      ['oauth-profile completion fish > ~/.config/fish/completions/oauth-profile.fish', 'once for fish'],
      ['oauth-profile completion powershell | Out-String | Invoke-Expression', 'in $PROFILE'],
    ],
  },
];
