import type { Command, Flag } from './command.ts';

const profileFlags: readonly Flag[] = [
  { name: 'data', value: 'FILE', repeatable: true, help: 'read variables from FILE (.yaml, .json, .env, .properties)' },
  { name: 'set', value: 'NAME=VALUE', repeatable: true, help: 'set one variable, such as graph.scope=user.read' },
  {
    name: 'store',
    value: 'URL',
    help: 'keep tokens in the Redis at URL, shared with other machines, instead of the vault (OAUTH_PROFILE_STORE)',
  },
  { name: 'json', help: 'print the result, and errors, as JSON' },
  { name: 'quiet', help: 'print no warnings' },
  { name: 'verbose', help: 'tell what is going on' },
];

const faultFlag: Flag = {
  name: 'fault',
  value: 'KIND[:N]',
  repeatable: true,
  help: 'make the emulator misbehave, for the N-th request or all: 429, 500, hang, reset-after … (docs/emulator.md)',
};

const emulateFlags: readonly Flag[] = [
  {
    name: 'emulate',
    value: 'URL',
    optional: true,
    help: 'ask an emulator of the providers, or the one running at URL; nothing leaves this machine',
  },
  faultFlag,
];

const reveal: Flag = { name: 'reveal', help: 'show secrets in clear' };

/** Flags of the program itself. */
export const globalFlags: readonly Flag[] = [
  { name: 'help', help: 'show help, for a command with examples' },
  { name: 'version', help: 'print the version' },
];

/** The command line's commands, in the order in which help lists them. */
export const commands: readonly Command[] = [
  {
    name: 'run',
    usage: '<script…>',
    positionals: { min: 1, max: Number.POSITIVE_INFINITY, kind: 'file' },
    summary: 'run scripts: files, folders or patterns',
    flags: [
      { name: 'parallel', value: 'N', help: 'run N scripts at once; 1 unless given' },
      {
        name: 'report',
        value: 'KIND=FILE',
        repeatable: true,
        help: 'write a report: junit=out.xml, json=out.json or html=out.html',
      },
      { name: 'events', help: 'print what happens as lines of JSON' },
      ...emulateFlags,
      ...profileFlags,
    ],
    examples: [
      ['oauth-profile run me.yaml', 'one script'],
      ['oauth-profile run smoke/ --parallel 4 --report junit=out.xml', 'every script of a folder, for a CI server'],
      ['oauth-profile run "**/*.smoke.yaml" --report html=out.html', 'by pattern, with a page to read'],
      ['oauth-profile run me.yaml --emulate', 'offline: the providers are emulated'],
    ],
  },
  {
    name: 'token',
    usage: '<profile>',
    positionals: { min: 1, max: 1, kind: 'profile' },
    summary: 'print a valid token: a kept one that is still fresh, or a new one',
    flags: [
      { name: 'force-refresh', help: 'ask the provider, whatever is kept' },
      { name: 'min-ttl', value: 'TIME', help: 'a kept token must live longer than this, such as 5m; 60s unless given' },
      { name: 'header', help: 'print a ready "Authorization: …" line' },
      { name: 'field', value: 'NAME', help: 'print one member of the response, such as id_token' },
      ...emulateFlags,
      ...profileFlags,
      { ...reveal, help: 'with --json: show every secret of the response, not the access token alone' },
    ],
    examples: [
      ['oauth-profile token graph', 'the access token, for $(…)'],
      ['curl -H "$(oauth-profile token graph --header)" https://graph.microsoft.com/v1.0/me', 'call an API'],
      ['oauth-profile token graph --json', 'the whole response; other secrets than the token are masked'],
      ['oauth-profile token graph --data ci.yaml --set graph.scope=user.read', 'with variables from elsewhere'],
      ['oauth-profile token graph --emulate', 'offline: the same profile, its real address, an emulated provider'],
    ],
  },
  {
    name: 'exec',
    usage: '<profile> -- <command…>',
    positionals: { min: 2, max: Number.POSITIVE_INFINITY, kind: 'profile' },
    summary: 'run a command that finds a valid token in OAUTH_ACCESS_TOKEN',
    flags: [
      { name: 'token-file', help: 'hand over a file that holds the token, named in OAUTH_ACCESS_TOKEN_FILE, instead' },
      { name: 'force-refresh', help: 'ask the provider, whatever is kept' },
      { name: 'min-ttl', value: 'TIME', help: 'a kept token must live longer than this, such as 5m; 60s unless given' },
      ...emulateFlags,
      ...profileFlags,
    ],
    examples: [
      ['oauth-profile exec graph -- ./smoke-test.sh', 'the script reads $OAUTH_ACCESS_TOKEN'],
      ['oauth-profile exec lab --min-ttl 30m -- terraform apply', 'a token that lives long enough'],
      ['oauth-profile exec graph --token-file -- ./agent', 'for programs that read a file; it is removed afterwards'],
    ],
  },
  {
    name: 'login',
    usage: '<profile>',
    positionals: { min: 1, max: 1, kind: 'profile' },
    summary: 'sign a person in, and keep the refresh token for token, exec and run',
    flags: [
      { name: 'device', help: 'show a code that is entered in any browser, on any machine' },
      { name: 'browser', help: 'sign in with a browser of this machine' },
      { name: 'no-open', help: 'open no browser: print the address to open' },
      { name: 'port', value: 'PORT', help: 'the browser comes back to this port; a free one unless given' },
      { name: 'force', help: 'replace the login of another account without asking' },
      ...emulateFlags,
      ...profileFlags,
    ],
    examples: [
      ['oauth-profile login graph', 'as the provider prefers: microsoft with a code, the others with a browser'],
      ['oauth-profile login lab --device', 'on a machine without a browser'],
      ['oauth-profile login drive --port 8912', 'where the provider knows one redirect only'],
      ['oauth-profile login drive --emulate', 'a rehearsal: the provider is emulated, and nothing is kept'],
    ],
  },
  {
    name: 'logout',
    usage: '[profile]',
    positionals: { min: 0, max: 1, kind: 'profile' },
    summary: 'forget what a login left',
    flags: [
      { name: 'all', help: 'forget all logins' },
      { name: 'revoke', help: 'tell the provider too, so that the refresh token is of no use to anybody' },
      ...profileFlags,
    ],
    examples: [
      ['oauth-profile logout graph', 'forget the login of one profile on this machine'],
      ['oauth-profile logout lab --revoke', 'end it at the provider too'],
      ['oauth-profile logout --all', 'forget every login'],
    ],
  },
  {
    name: 'list',
    usage: '',
    positionals: { min: 0, max: 0, kind: 'none' },
    summary: 'show profiles and what is kept for them, never a token',
    flags: profileFlags,
    examples: [
      ['oauth-profile list', 'profiles, fingerprints, expiry, and where they are kept'],
      ['oauth-profile list --json', 'for programs'],
    ],
  },
  {
    name: 'check',
    usage: '[profile…]',
    positionals: { min: 0, max: Number.POSITIVE_INFINITY, kind: 'profile' },
    summary: 'validate profiles, all unless named, without a network',
    flags: [
      {
        name: 'online',
        help: 'also look at the provider (discovery, certificate, clock), the way to it and the store; no secret is sent',
      },
      ...emulateFlags.filter((flag) => flag !== faultFlag),
      ...profileFlags,
    ],
    examples: [
      ['oauth-profile check', 'every profile of oauth-profiles.yaml'],
      ['oauth-profile check graph --data ci.yaml', 'one profile'],
      ['oauth-profile check --online', 'also what only the network can tell, with hint'],
    ],
  },
  {
    name: 'explain',
    usage: '<profile>',
    positionals: { min: 1, max: 1, kind: 'profile' },
    summary: 'show the request that would be sent, and where each part comes from',
    flags: [{ name: 'curl', help: 'print it as a curl command' }, ...profileFlags, reveal],
    examples: [
      ['oauth-profile explain graph', 'the request, redacted'],
      ['oauth-profile explain graph --curl', 'as a curl command, redacted'],
      ['oauth-profile explain graph --json', 'for programs'],
    ],
  },
  {
    name: 'commands',
    usage: '[group.name]',
    positionals: { min: 0, max: 1, kind: 'none' },
    summary: 'show the commands of scripts and their parameters',
    flags: [],
    examples: [
      ['oauth-profile commands', 'all of them'],
      ['oauth-profile commands ws.oauthProfile', 'one, with its parameters and an example'],
    ],
  },
  {
    name: 'emulate',
    usage: '',
    positionals: { min: 0, max: 0, kind: 'none' },
    summary: 'serve the five providers on this machine, and show every request',
    flags: [
      { name: 'port', value: 'PORT', help: 'listen on this port of 127.0.0.1; a free one unless given' },
      faultFlag,
      ...profileFlags,
    ],
    examples: [
      ['oauth-profile emulate --port 8400', 'knows the profiles of oauth-profiles.yaml'],
      ['oauth-profile token graph --emulate=http://127.0.0.1:8400', 'ask it, from another terminal'],
      ['oauth-profile emulate --fault 429:1', 'the first token request is refused with 429'],
    ],
  },
  {
    name: 'completion',
    usage: '<bash|zsh|fish>',
    positionals: { min: 1, max: 1, kind: 'shell' },
    summary: 'print a completion script for your shell',
    flags: [],
    examples: [
      ['source <(oauth-profile completion bash)', 'in ~/.bashrc'],
      ['source <(oauth-profile completion zsh)', 'in ~/.zshrc, after compinit'],
      ['oauth-profile completion fish > ~/.config/fish/completions/oauth-profile.fish', 'once, for fish'],
    ],
  },
];
