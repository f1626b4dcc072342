// The content of docs/reference/errors.md for each error code: the cause, the fix, and an example that causes the error.

/**
 * A command that causes the error. In files, arguments and environment, `PORT` is replaced by the port of the server, `TIME` by a timeout
 * that is exceeded, and `HERE` by the working directory.
 * @typedef {object} Example
 * @property {string} given the mistake, as a sentence for the user
 * @property {Record<string, string>} [files] files in the working directory
 * @property {Record<string, string>} [env]
 * @property {string} args the command line after `oauth-profile`
 * @property {{env?: Record<string, string>, args: string}} [before] a command that runs first and must succeed
 * @property {Server} [server] the server at PORT. `silent` never responds. `hang` does not either: Ctrl-C is pressed when its first request arrives.
 * @property {string} [meanwhile] with `hang`: a command that is started first; `args` is started when its request arrives, instead of Ctrl-C
 */

/** @typedef {'hang' | 'silent' | 'emulator' | 'proxy' | {status: number, headers?: Record<string, string>, body?: unknown}} Server */

/** @typedef {{cause: string, fix: string, example: Example}} Guide */

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
      'A step of a script failed, usually because an assertion failed. If another error caused it, reports show the code of that error.',
    fix: 'Compare `expected` and `actual`. `--report html=out.html` shows the requests and responses of every step.',
    example: {
      given: 'A script expects Grace, but the value is Ada:',
      files: { 'me.yaml': 'data: {name: Ada}\nsteps:\n  - base.assertEqual: [Grace, "${name}"]\n' },
      args: 'run me.yaml',
    },
  },
  usage: {
    cause: 'The command line is invalid. Nothing was read or sent.',
    fix: 'Follow the hint, or see `oauth-profile <command> --help` and [the command line](cli.md).',
    example: { given: 'A flag is misspelled:', args: 'token graph --force-refrsh' },
  },
  script_invalid: {
    cause:
      'A script is invalid, for example because of an unknown command, a missing parameter or invalid YAML. None of the scripts was started.',
    fix: 'Fix every issue in the list; each is shown with its line. `oauth-profile commands` lists the commands.',
    example: {
      given: 'A command is misspelled:',
      files: { 'me.yaml': 'steps:\n  - ws.oauthprofile: [token, graph]\n' },
      args: 'run me.yaml',
    },
  },
  data_invalid: {
    cause: 'A file with profiles or variables, a `${…}` reference in it, or a proxy URL is invalid.',
    fix: 'Fix the line in the message. [Variables](variables.md) describes the four file formats and `${…}` references.',
    example: {
      given: 'A quotation mark is not closed:',
      files: { 'oauth-profiles.yaml': 'graph:\n  type: "microsoft\n' },
      args: 'token graph',
    },
  },
  profile_not_found: {
    cause: 'No profile has this name. Either the name is misspelled, or the file that defines it was not read.',
    fix: 'Profiles are read from `oauth-profiles.yaml` in the working directory or a parent directory up to the repository root, from `~/.config/oauth-profile`, and from `--data`. `oauth-profile list` shows all profiles.',
    example: { given: 'The name is misspelled:', files: graph('  refresh_token: example\n'), args: 'token grap' },
  },
  profile_invalid: {
    cause: 'A field of the profile is missing or invalid. All issues are reported together, and nothing is sent.',
    fix: 'Set or correct the fields that the message names. `oauth-profile check` reports the same issues without requesting a token; [the profile reference](profiles.md) lists all fields.',
    example: {
      given: 'No user has logged in, and an option is misspelled:',
      files: graph('  options: {timout: 5s}\n'),
      args: 'token graph',
    },
  },
  request_too_large: {
    cause: 'The request is larger than 256 KiB, usually because of one field.',
    fix: 'Find the longest field with `oauth-profile explain`: often a `${file:…}` refers to the wrong file.',
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
      'The provider returned an error response, for example because of a wrong secret, missing consent, or a grant that the client is not allowed to use.',
    fix: 'For [these codes](#provider-error-codes), a hint describes what to do. Without a hint, look up the code in the provider’s documentation. Wrong credentials are sent once and never retried.',
    example: {
      given: 'The profile contains the ID of the client secret instead of its value:',
      files: graph(
        '  client_secret: an-example-of-an-id\n  grant_type: client_credentials\n  scope: https://graph.microsoft.com/.default\n  url: http://127.0.0.1:PORT/token\n',
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
    cause: 'The host does not exist, the connection was refused, or the network is down.',
    fix: 'Check the host in the message. Behind a firewall, set `HTTPS_PROXY` ([how](../how-to/company-network.md#proxies)). `oauth-profile check --online` tests the connection step by step.',
    example: { given: 'No server listens on this port:', files: acme('https://127.0.0.1:9/token'), args: 'token acme' },
  },
  tls_failed: {
    cause: 'The certificate of the server is not trusted, has expired, or is for another host. No secret was sent.',
    fix: 'For a private certificate authority, set `options.ca_file`. If the certificate of a public provider was issued by an unknown authority, a proxy is usually intercepting TLS.',
    example: {
      given: 'The certificate was issued by an unknown authority:',
      files: acme('https://127.0.0.1:PORT/token'),
      server: 'emulator',
      args: 'token acme',
    },
  },
  proxy_refused: {
    cause: 'The proxy in `HTTPS_PROXY` did not allow the connection.',
    fix: '407: add the username and password to the proxy URL. 403: the proxy does not allow this host; contact its administrator, or add the host to `NO_PROXY`.',
    example: {
      given: 'The proxy requires a password:',
      files: graph('  refresh_token: example\n'),
      env: { HTTPS_PROXY: 'http://127.0.0.1:PORT' },
      server: 'proxy',
      args: 'token graph',
    },
  },
  not_emulated: {
    cause: 'With `--emulate`, a request was blocked because its host is not emulated. Nothing was sent.',
    fix: 'Start the emulator with a profile for this host, or run without `--emulate`. See [what is emulated](../how-to/emulator.md#what-is-emulated).',
    example: {
      given: 'The running emulator was started without this profile:',
      files: acme('https://login.example.com/token'),
      server: 'emulator',
      args: 'token acme --emulate=http://127.0.0.1:PORT',
    },
  },
  timeout: {
    cause: 'No complete response arrived within `options.timeout` (30 s by default), including retries.',
    fix: 'Try again, or increase `options.timeout`. `oauth-profile check --online` shows whether the provider is reachable.',
    example: {
      given: 'The provider does not respond:',
      // Neither retried nor stored: only this request can time out.
      files: {
        'oauth-profiles.yaml':
          'acme:\n  type: custom\n  url: http://127.0.0.1:PORT/token\n  grant_type: authorization_code\n  code: an-example-of-a-code\n  options: {timeout: TIME, reuse: false}\n',
      },
      server: 'silent',
      args: 'token acme',
    },
  },
  redirected: {
    cause: 'The token endpoint returned a redirect. Secrets are never sent to another URL.',
    fix: 'If the endpoint has moved, set `url` to the new one. A redirect to a sign-in page means that `url` is not a token endpoint.',
    example: {
      given: 'The endpoint has moved:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: { status: 307, headers: { location: 'https://login.example.com/oauth2/token' } },
      args: 'token acme',
    },
  },
  rate_limited: {
    cause:
      'The provider returned HTTP 429. The request was retried as often as `Retry-After` and `options.timeout` allow.',
    fix: 'Send fewer requests: `token`, `exec` and `createTokenSource` cache tokens; scripts do so only with `options.reuse: true`. Many machines can share one token through [Redis](../how-to/redis.md).',
    example: {
      given: 'The provider allows the next request after an hour:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: { status: 429, headers: { 'retry-after': '3600' } },
      args: 'token acme',
    },
  },
  provider_unavailable: {
    cause: 'The provider returned HTTP 500 or above. Where a retry is safe, the request was sent up to three times.',
    fix: 'Try again later. A single-use refresh token is not sent twice automatically: the next attempt shows whether it is still valid.',
    example: { given: 'The provider is down:', files: lab(), args: 'token lab --emulate --fault 500' },
  },
  response_unreadable: {
    cause: 'The response is not a valid token response. It may be a web page, incomplete, or JSON without a token.',
    fix: 'Check that `url` is the token endpoint. If the token is elsewhere in the response, set `options.token_path`. Proxies and captive portals return web pages, too.',
    example: { given: 'The provider returns a web page:', files: lab(), args: 'token lab --emulate --fault html' },
  },
  response_too_large: {
    cause: 'The response is larger than 1 MiB. The rest was not read.',
    fix: 'Check that `url` is the token endpoint.',
    example: { given: 'The provider returns two megabytes:', files: lab(), args: 'token lab --emulate --fault huge' },
  },
  login_required: {
    cause:
      'A user must log in again. The refresh token is no longer valid (expired, revoked or already used), the provider requires user interaction (such as a second factor or consent), or a scope was added to the profile after the login.',
    fix: 'Run the `login` command in the message once, on this machine or on one that uses the same Redis server. In CI, configure a new refresh token, or share the rotating one through [Redis](../how-to/redis.md).',
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
      'Another process held the lock for this token for longer than the timeout. No process refreshes without the lock.',
    fix: 'Try again. If the other process hangs, stop it: its lock is then released.',
    example: {
      given: 'Another process is refreshing the token, and the provider does not respond:',
      files: lab('  url: http://127.0.0.1:PORT/oauth/token\n'),
      server: 'hang',
      meanwhile: 'token lab',
      args: 'token lab --set lab.options.timeout=TIME',
    },
  },
  store_unreadable: {
    cause:
      'The stored records cannot be used: the key is wrong, a record is damaged, other users can read the vault, or Redis is unavailable. Nothing was overwritten.',
    fix: 'Follow the hint. [Token store](../explanation/store.md) describes where the key comes from. Deleting the directory of the vault deletes the stored tokens and nothing else.',
    example: {
      given: '`OAUTH_PROFILE_KEY` is not the key that the vault was encrypted with:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: token,
      before: { env: key(1), args: 'token acme' },
      env: key(2),
      args: 'token acme',
    },
  },
  store_unwritable: {
    cause:
      'The vault or Redis cannot be written to. No refresh is sent, because there would be nowhere to store the new refresh token. Grants without a refresh token still return the token, with a warning.',
    fix: 'Free up disk space, or set `OAUTH_PROFILE_HOME` to a writable directory on a local disk.',
    example: {
      given: '`OAUTH_PROFILE_HOME` is not a directory:',
      files: { ...lab('  url: http://127.0.0.1:PORT/oauth/token\n'), 'a-file': '' },
      server: token,
      env: { OAUTH_PROFILE_HOME: 'HERE/a-file' },
      args: 'token lab',
    },
  },
  aborted: {
    cause:
      'The command was stopped by Ctrl-C or SIGTERM, or a library call was aborted through its `signal`. A refresh that was already sent is completed and stored before the command ends; a second Ctrl-C ends it immediately.',
    fix: 'Nothing to fix.',
    example: {
      given: 'Ctrl-C before the provider has responded:',
      files: acme('http://127.0.0.1:PORT/token'),
      server: 'hang',
      args: 'token acme',
    },
  },
};
