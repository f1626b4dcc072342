/** A flag of a command. `value` names its argument; a flag without one is a switch. */
export interface Flag {
  readonly name: string;
  readonly value?: string;
  /** The value may be omitted: `--emulate` or `--emulate=URL`. */
  readonly optional?: boolean;
  readonly repeatable?: boolean;
  readonly help: string;
  /** Description of the previous flag and this one, which the help of a command then shows in one row. */
  readonly helpWithPrevious?: string;
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

/** Flags that most commands have. The help of the program describes them, and that of a command lists their names. */
export const commonFlags: readonly Flag[] = [
  { name: 'data', value: 'FILE', repeatable: true, help: 'read variables from FILE (.yaml, .json, .env, .properties)' },
  {
    name: 'env-file',
    value: 'FILE',
    repeatable: true,
    help: 'read environment variables for ${env:NAME} from FILE (.env)',
  },
  { name: 'set', value: 'NAME=VALUE', repeatable: true, help: 'set one variable, such as graph.scope=user.read' },
  { name: 'store', value: 'URL', help: 'use the Redis at URL instead of the vault (default: $OAUTH_PROFILE_STORE)' },
  { name: 'json', help: 'print results and errors as JSON' },
  { name: 'quiet', help: 'print no warnings' },
  { name: 'verbose', help: 'print what is sent and where tokens come from' },
];

const faultHelp = 'inject a fault into all requests, or the Nth: 429, 500, hang, reset-after, …';
const faultFlag: Flag = { name: 'fault', value: 'KIND[:N]', repeatable: true, help: faultHelp };

const emulateHelp = 'use an emulator instead of the real providers: a new one, or the one at URL';
const emulateFlag: Flag = { name: 'emulate', value: 'URL', optional: true, help: emulateHelp };

const allowHelp = 'connect to the real ORIGIN; servers on this machine are always real';
const allowFlag: Flag = { name: 'allow', value: 'ORIGIN', repeatable: true, help: allowHelp };
const configHelp = 'users, clients and settings of the emulator (default: emulator.yaml)';
const configFlag: Flag = { name: 'config', value: 'FILE', help: configHelp };

const cacheFlags: readonly Flag[] = [
  { name: 'force-refresh', help: 'ignore cached tokens and request a new one' },
  { name: 'min-ttl', value: 'TIME', help: 'minimum remaining lifetime of a cached token, such as 5m (default: 60s)' },
  { name: 'no-store', help: 'request a new token and store nothing' },
];

const allowOriginHelp = 'accept requests of web pages of this origin, such as http://localhost:3000';
const allowOriginFlag: Flag = { name: 'allow-origin', value: 'URL', repeatable: true, help: allowOriginHelp };

const revealFlag: Flag = { name: 'reveal', help: 'show secrets in plaintext' };

/** Flags of the program itself. */
export const globalFlags: readonly Flag[] = [
  { name: 'help', help: 'show help' },
  { name: 'version', help: 'print the version' },
];

/** The commands, in the order in which help lists them. */
export const commands: readonly Command[] = [
  {
    name: 'run',
    usage: '<script…>',
    summary: 'run scripts (files, directories or glob patterns)',
    flags: [
      { name: 'parallel', value: 'N', help: 'run N scripts at a time (default: 1)' },
      {
        name: 'shard',
        value: 'I/N',
        help: 'run the Ith of N equal parts, such as 2/4',
        helpWithPrevious: 'run N scripts at a time; run the Ith of N equal parts',
      },
      {
        name: 'report',
        value: 'KIND=FILE',
        repeatable: true,
        help: 'write junit=x.xml[,cases=steps], json=x.json or html=x.html',
      },
      {
        name: 'tag',
        value: 'NAME',
        repeatable: true,
        help: 'run only scripts with this tag; if repeated, with any of the tags',
      },
      {
        name: 'not-tag',
        value: 'NAME',
        repeatable: true,
        help: 'do not run scripts with this tag',
        helpWithPrevious: 'run only scripts with this tag, or only those without it',
      },
      { name: 'grep', value: 'REGEX', help: 'run only scripts whose name or file matches' },
      { name: 'rows', value: 'FILE', help: 'run each script once per row of FILE (.csv, .json, .yaml)' },
      {
        name: 'repeat',
        value: 'N',
        help: 'run each script N times',
        helpWithPrevious: 'run each script once per row of FILE, or N times',
      },
      { name: 'env', value: 'NAME', help: 'read environments/NAME.yaml, next to the script or above' },
      {
        name: 'retries',
        value: 'N',
        help: 'repeat a failed script up to N times; it is reported as flaky if it passes',
      },
      {
        name: 'bail',
        help: 'stop after the first failed script',
        helpWithPrevious: 'repeat a failed script up to N times; stop at the first failure',
      },
      { name: 'watch', help: 'run scripts again when they or their files change, until Ctrl-C' },
      { name: 'list', help: 'list the selected scripts and run none' },
      {
        name: 'dry-run',
        help: 'validate the selected scripts and their variables, send nothing',
        helpWithPrevious: 'list the selected scripts, or validate them, and run none',
      },
      { name: 'commands', value: 'FILE', repeatable: true, help: 'load your own commands from a JavaScript module' },
      { name: 'events', help: 'print events as JSON lines' },
      { ...emulateFlag, help: 'emulate the providers: a new emulator, or the one at URL' },
      faultFlag,
      { ...allowFlag, helpWithPrevious: 'for the emulator: see oauth-profile emulate --help' },
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
      { name: 'format', value: 'NAME', help: 'token, header, headers-json, json, env, curl or netrc (default: token)' },
      { name: 'header', help: 'print a complete "Authorization: …" line, as --format header' },
      { name: 'field', value: 'NAME', help: 'print one member of the response, such as id_token' },
      emulateFlag,
      faultFlag,
      ...commonFlags,
      { ...revealFlag, help: 'with --json: show all secrets of the response, not only the access token' },
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
      { name: 'token-file', help: 'pass each token in a file, which is replaced before it expires' },
      { name: 'proxy', help: 'pass no token: a proxy adds it to requests for options.origins' },
      { name: 'only', help: 'with --proxy: reject requests to all other origins' },
      { name: 'no-caller-secret', help: 'with --proxy: accept requests of other programs on this machine' },
      allowOriginFlag,
      ...cacheFlags,
      emulateFlag,
      faultFlag,
      allowFlag,
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
      { name: 'port', value: 'PORT', help: 'port on 127.0.0.1 (default: any free port)' },
      { name: 'socket', value: 'PATH', help: 'listen on a Unix socket that only you can use' },
      { name: 'target', value: 'ORIGIN', help: 'origin of the API (default: the one in options.origins)' },
      { name: 'caller-secret', help: 'accept only requests with the password in the printed URL' },
      allowOriginFlag,
      emulateFlag,
      faultFlag,
      allowFlag,
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
      { name: 'file', value: 'PATH', help: 'the file, with mode 0600; it is deleted when the command ends' },
      { name: 'token', value: 'MEMBER', help: 'access_token or id_token (default: access_token)' },
      ...cacheFlags.filter(({ name }) => name !== 'no-store'),
      emulateFlag,
      faultFlag,
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
      { name: 'profile', value: 'NAME', help: 'the profile (default: the one whose origins contain the host)' },
      { name: 'token', value: 'KIND', help: 'access_token or id_token (default: id_token for google and aws)' },
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
      { name: 'dry-run', help: 'show the changes and make none' },
      { name: 'undo', help: 'remove what configure has written' },
      { name: 'token', value: 'KIND', help: 'access_token or id_token (default: access_token)' },
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
      { name: 'device', help: 'use a code that you enter in any browser, on any machine' },
      { name: 'browser', help: 'use a browser on this machine' },
      { name: 'no-open', help: 'print the URL instead of opening a browser' },
      { name: 'port', value: 'PORT', help: 'port of the redirect URI (default: any free port)' },
      { name: 'force', help: 'replace the login of another account without confirmation' },
      emulateFlag,
      faultFlag,
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
      { name: 'all', help: 'delete all stored logins' },
      { name: 'revoke', help: 'also revoke the refresh token at the provider' },
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
    flags: [{ name: 'all', help: 'delete everything that is stored' }, ...commonFlags],
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
      { name: 'online', help: 'also check discovery, certificate, clock, proxy and store; sends no secret' },
      { name: 'strict', help: 'exit with 2 if there are warnings, such as misspelled fields' },
      emulateFlag,
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
    flags: [{ name: 'curl', help: 'print a curl command' }, ...commonFlags, revealFlag],
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
    flags: [emulateFlag, faultFlag, ...commonFlags],
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
      { name: 'port', value: 'PORT', help: 'port on 127.0.0.1 (default: any free port)' },
      { name: 'no-control', help: 'disable the control API and the web console' },
      faultFlag,
      allowFlag,
      configFlag,
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
    flags: [{ name: 'json', help: 'print the list as JSON' }],
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
      {
        name: 'type',
        value: 'TYPE',
        help: 'the same as the argument, such as okta; oauth-profile providers lists all',
      },
      { name: 'name', value: 'NAME', help: 'name of the profile (default: the provider)' },
      { name: 'user', help: 'for a user who logs in, instead of a machine' },
      { name: 'script', help: 'write a script that passes with --emulate (first.yaml) instead of a profile' },
      { name: 'json', help: 'print errors as JSON' },
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
