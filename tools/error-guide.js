// What `docs/errors.md` says of each code beyond the code itself: why it happens, what to do, and how to make it happen.

/**
 * A way to cause an error. In files, arguments and environment `PORT` stands for the port of the server, `TIME` for a time that is to run out,
 * `HERE` for the folder.
 * @typedef {object} Example
 * @property {string} given what is wrong, as a sentence for a person
 * @property {Record<string, string>} [files] what lies in the working folder
 * @property {Record<string, string>} [env]
 * @property {string} args the command line after `oauth-profile`
 * @property {{env?: Record<string, string>, args: string}} [before] a command that runs first and must succeed
 * @property {Server} [server] what listens at PORT: `silent` never answers; while a request waits for `hang`, Ctrl-C is pressed, or
 * @property {string} [meanwhile] this command is the one that hangs, and the other begins then
 */

/** @typedef {'hang' | 'silent' | 'emulator' | 'proxy' | {status: number, headers?: Record<string, string>, body?: unknown}} Server */

/** @typedef {{cause: string, cure: string, example: Example}} Guide */

const graph = (/** @type {string} */ more) => ({
  'oauth-profiles.yaml': `graph:\n  type: microsoft\n  tenant_id: contoso.com\n  client_id: 1b2c3d4e\n${more}`,
});
const lab = (/** @type {string} */ more = '') => ({
  'oauth-profiles.yaml': `lab:\n  type: gitlab\n  client_id: 4ca1a5c0\n  refresh_token: an-example-of-a-refresh-token\n${more}`,
});
const acme = (/** @type {string} */ url, more = '') => ({
  'oauth-profiles.yaml': `acme:\n  type: custom\n  url: ${url}\n  grant_type: client_credentials\n  client_id: robot\n  client_secret: an-example-of-a-secret\n${more}`,
});
const token = { status: 200, body: { access_token: 'an-example-of-a-token', token_type: 'Bearer', expires_in: 3600 } };
const key = (/** @type {number} */ byte) => ({ OAUTH_PROFILE_KEY: Buffer.alloc(32, byte).toString('base64') });

/** @type {Record<import('../src/errors.ts').ErrorCode, Guide>} */
export const errorGuide = {
  step_failed: {
    cause:
      'A step of a script failed: most often an assertion. The other steps that fail keep their own code in the reports.',
    cure: 'Compare `expected` and `actual`. `--report html=out.html` shows the requests and replies of every step.',
    example: {
      given: 'A script expects Grace, and Ada is there:',
      files: { 'me.yaml': 'data: {name: Ada}\nsteps:\n  - base.assertEqual: [Grace, "${name}"]\n' },
      args: 'run me.yaml',
    },
  },
  usage: {
    cause: 'The command line was not understood. Nothing was read or sent.',
    cure: 'Do what the arrow says, or look at `oauth-profile <command> --help` and [the options](options.md).',
    example: { given: 'A flag is misspelt:', args: 'token graph --frsh' },
  },
  script_invalid: {
    cause: 'A script has issues: no such command, a missing parameter, broken YAML. No script of the run was begun.',
    cure: 'Correct every fault that is listed; each has its line. `oauth-profile commands` lists the commands.',
    example: {
      given: 'A command is misspelt:',
      files: { 'me.yaml': 'steps:\n  - ws.oauthprofile: [token, graph]\n' },
      args: 'run me.yaml',
    },
  },
  data_invalid: {
    cause:
      'A file with variables, a reference `${…}` in one, or the address of a proxy cannot be read as what it should be.',
    cure: 'Correct the place that is named. [Variables](variables.md) tells what the four formats and references look like.',
    example: {
      given: 'A quotation mark is never closed:',
      files: { 'oauth-profiles.yaml': 'graph:\n  type: "microsoft\n' },
      args: 'token graph',
    },
  },
  profile_not_found: {
    cause: 'No variable begins with this name. Either it is misspelt or the file it stands in was not read.',
    cure: 'Profiles come from `oauth-profiles.yaml` in the working folder and in `~/.config/oauth-profile`, and from `--data`. `oauth-profile list` shows all that are found.',
    example: { given: 'The name is misspelt:', files: graph('  refresh_token: example\n'), args: 'token grap' },
  },
  profile_invalid: {
    cause: 'The profile lacks a field, or one cannot be used. All issues are told at once, and nothing was sent.',
    cure: 'Set the variables that are named. `oauth-profile check` tells the same without asking for a token; [the options](options.md) list all fields.',
    example: {
      given: 'There is no user, and an option is misspelt:',
      files: graph('  options: {timout: 5s}\n'),
      args: 'token graph',
    },
  },
  request_too_large: {
    cause: 'A field of the profile is far larger than any provider takes.',
    cure: 'Look for the longest field with `oauth-profile explain`: often a `${file:…}` names the wrong file.',
    example: {
      given: 'A field is filled from a large file:',
      files: {
        ...acme('https://id.example.com/token', '  notes: ${file:notes.txt}\n'),
        'notes.txt': 'x'.repeat(300_000),
      },
      args: 'token acme',
    },
  },
  provider_rejected: {
    cause:
      'The provider answered, and the answer is no: a wrong secret, a missing consent, a grant that the client may not use.',
    cure: 'The arrow names the variable to change. Where there is no arrow, look for the provider’s own code in [its list below](#what-providers-say). Wrong credentials are sent once, never repeated.',
    example: {
      given: 'The ID of the client secret was pasted instead of its value:',
      files: graph(
        '  client_secret: an-example-of-an-id\n  grant_type: client_credentials\n  url: http://127.0.0.1:PORT/token\n',
      ),
      server: {
        status: 401,
        body: {
          error: 'invalid_client',
          error_description: 'AADSTS7000215: Invalid client secret provided.',
          error_codes: [7000215],
        },
      },
      args: 'token graph',
    },
  },
  connection_failed: {
    cause: 'There is no such host, nobody listens there, or the network is cut off.',
    cure: 'Check the address in the message. Behind a company’s firewall set `HTTPS_PROXY` ([how](faq.md#behind-a-proxy-nothing-connects)). `oauth-profile check --online` looks at the whole way.',
    example: { given: 'Nobody listens at the address:', files: acme('https://127.0.0.1:9/token'), args: 'token acme' },
  },
  tls_failed: {
    cause: 'The server’s certificate is not trusted, has ended, or is for another host. No secret was sent.',
    cure: 'For an authority of your own set `options.ca_file`. An unknown authority in front of a public provider is most often a proxy that reads along.',
    example: {
      given: 'The certificate comes from an authority that nobody knows:',
      files: acme('https://127.0.0.1:PORT/token'),
      server: 'emulator',
      args: 'token acme',
    },
  },
  proxy_refused: {
    cause: 'The proxy of `HTTPS_PROXY` answered, but did not let the connection through.',
    cure: '407: put user and password into the address of the proxy. 403: the host is not allowed there; ask who runs it, or name the host in `NO_PROXY`.',
    example: {
      given: 'The proxy wants a password:',
      files: graph('  refresh_token: example\n'),
      env: { HTTPS_PROXY: 'http://127.0.0.1:PORT' },
      server: 'proxy',
      args: 'token graph',
    },
  },
  not_emulated: {
    cause: 'With `--emulate` something asked for a host that the emulator does not play. Nothing left the machine.',
    cure: 'Give the emulator the profile that the host belongs to, or run without `--emulate`. [What is emulated](emulator.md#what-is-emulated).',
    example: {
      given: 'The running emulator was started without this profile:',
      files: acme('https://login.example.com/token'),
      server: 'emulator',
      args: 'token acme --emulate=http://127.0.0.1:PORT',
    },
  },
  timeout: {
    cause: 'No complete answer came within `options.timeout` (30 s), retries included.',
    cure: 'Try again, or raise `options.timeout`. `oauth-profile check --online` tells whether the provider can be reached at all.',
    example: {
      given: 'The provider hangs:',
      // Neither repeated nor kept: nothing but the one request can run out of time.
      files: {
        'oauth-profiles.yaml':
          'acme:\n  type: custom\n  url: http://127.0.0.1:PORT/token\n  grant_type: authorization_code\n  code: an-example-of-a-code\n  options: {timeout: TIME, reuse: false}\n',
      },
      server: 'silent',
      args: 'token acme',
    },
  },
  redirected: {
    cause: 'The token endpoint answered with a redirect. Secrets are never sent on to another address.',
    cure: 'If the address has moved, set `url` to the new one. A redirect to a sign-in page means that the address is not a token endpoint.',
    example: {
      given: 'The endpoint has moved:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: { status: 307, headers: { location: 'https://login.example.com/oauth2/token' } },
      args: 'token acme',
    },
  },
  rate_limited: {
    cause: 'The provider answered 429. It was asked again as often as `Retry-After` and `options.timeout` allowed.',
    cure: 'Ask less: `token`, `exec` and `createTokenSource` keep tokens; scripts do with `options.reuse: true`. Many machines share one token with [Redis](fleet.md).',
    example: {
      given: 'The provider wants an hour of rest:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: { status: 429, headers: { 'retry-after': '3600' } },
      args: 'token acme',
    },
  },
  provider_unavailable: {
    cause: 'The provider answered 500 or above. Where a repeat is harmless it was asked up to three times.',
    cure: 'Try again later. A single-use refresh token is not sent twice by itself: whether it is still alive shows at the next try.',
    example: { given: 'The provider is down:', files: lab(), args: 'token lab --emulate --fault 500' },
  },
  response_unreadable: {
    cause: 'What came back is no token response: a web page, half an answer, JSON without a token.',
    cure: 'Check that `url` is the token endpoint. If the token is elsewhere in the reply, set `options.token_path`. Proxies and captive portals answer with pages, too.',
    example: { given: 'A web page comes back:', files: lab(), args: 'token lab --emulate --fault html' },
  },
  response_too_large: {
    cause: 'The reply is larger than a token response can be. The rest was not read.',
    cure: 'Check that `url` is the token endpoint.',
    example: { given: 'Two megabytes come back:', files: lab(), args: 'token lab --emulate --fault huge' },
  },
  login_required: {
    cause:
      'The refresh token is expired, revoked or used up, or the provider wants a person: a second factor, a consent.',
    cure: 'Run the `login` command in the message, once, on any machine with a terminal. In CI paste a new refresh token, or share the rotating one with [Redis](fleet.md).',
    example: {
      given: 'The refresh token was not used for 90 days:',
      files: graph('  refresh_token: an-example-of-a-refresh-token\n  url: http://127.0.0.1:PORT/token\n'),
      server: {
        status: 400,
        body: {
          error: 'invalid_grant',
          error_description: 'AADSTS700082: The refresh token has expired due to inactivity.',
          error_codes: [700082],
        },
      },
      args: 'token graph',
    },
  },
  store_locked: {
    cause:
      'Another process has been refreshing the same token for as long as you were ready to wait. Nobody refreshes without the lock.',
    cure: 'Try again. If the other one hangs, end it: its lock ends with it.',
    example: {
      given: 'Another process is at it, and the provider does not answer:',
      files: lab('  url: http://127.0.0.1:PORT/oauth/token\n'),
      server: 'hang',
      meanwhile: 'token lab',
      args: 'token lab --set lab.options.timeout=TIME',
    },
  },
  store_unreadable: {
    cause:
      'What is kept cannot be used: another key, a damaged record, a vault that others can read, a Redis that is away. Nothing was overwritten.',
    cure: 'Do what the arrow says. [The vault](fresh-tokens.md#the-vault) tells where the key comes from. Removing the vault’s folder loses what was kept, and nothing else.',
    example: {
      given: '`OAUTH_PROFILE_KEY` is not the key that the vault was sealed with:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: token,
      before: { env: key(1), args: 'token acme' },
      env: key(2),
      args: 'token acme',
    },
  },
  store_unwritable: {
    cause:
      'The vault or the Redis cannot be written. A refresh fails before it is sent, because its new refresh token could not be kept; other grants warn and go on.',
    cure: 'Free space, or set `OAUTH_PROFILE_HOME` to a folder on a local disk that you may write to.',
    example: {
      given: '`OAUTH_PROFILE_HOME` is not a folder:',
      files: { ...lab('  url: http://127.0.0.1:PORT/oauth/token\n'), 'a-file': '' },
      server: token,
      env: { OAUTH_PROFILE_HOME: 'HERE/a-file' },
      args: 'token lab',
    },
  },
  aborted: {
    cause:
      'Ctrl-C, SIGTERM, or the `signal` of a program. A refresh that was sent is waited for and written before the command ends; a second Ctrl-C ends it at once.',
    cure: 'Nothing to mend.',
    example: {
      given: 'Ctrl-C while the provider thinks:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: 'hang',
      args: 'token acme',
    },
  },
};
