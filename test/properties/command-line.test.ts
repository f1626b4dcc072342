import assert from 'node:assert/strict';
import { parseCommandLine } from '../../src/cli/args.ts';
import { proxyFor } from '../../src/http/proxy.ts';
import { hasControls } from '../../src/redaction/sanitize.ts';
import { callTwice, itHolds, printedForms } from './mutated-input.ts';

const CANARY = 'c4n4ry0fTh3M1ne';

const urls = ['https://login.example.com/token', 'http://10.1.2.3:8080/', 'https://[fd00::1]/', 'http://127.0.0.1/'];

/** First line: the proxy; second line: hosts without a proxy. */
itHolds('never shows the password of a proxy, and never uses a proxy for loopback', {
  seeds: [
    `http://user:${CANARY}@proxy.example:3128\nlocalhost,.example.org,10.0.0.0/8,[fd00::1]:443,*.internal:8080`,
    'proxy:8080\n*',
    'https://proxy.example\nfd00::/8 example.com',
  ],
  tokens: [
    'http://',
    'https://',
    'socks5://',
    '@',
    ':',
    `:${CANARY}@`,
    '%40',
    '%zz',
    ',',
    ' ',
    '/8',
    '/999',
    '[::1]',
    '*',
    '*.',
    '0/0',
  ],
  check(input) {
    const [https_proxy = '', no_proxy = ''] = input.split('\n');
    const env = { https_proxy, http_proxy: https_proxy, no_proxy };
    for (const url of urls) {
      const { value, error } = callTwice(() => proxyFor(new URL(url), env));
      const hidden = new RegExp(`^https?://\\w*:${CANARY}@`).test(https_proxy) && input.split(CANARY).length === 2;
      if (hidden) assert.ok(!printedForms(error ?? value).includes(CANARY), 'the password of a proxy is printed');
      if (value === undefined) continue;
      assert.ok(!url.includes('127.0.0.1'), 'a proxy is used for loopback');
      assert.match(value.url.protocol, /^https?:$/);
      assert.equal(value.url.username + value.url.password, '', 'the URL of a proxy contains its password');
      assert.match(
        value.authorization?.reveal() ?? '',
        /^(?:Basic [A-Za-z0-9+/=]+)?$/,
        'a header contains invalid characters',
      );
    }
  },
});

/** One argument per line. */
itHolds('parses any arguments, or reports a usage error without values', {
  seeds: [
    'token\ngraph\n--data\na.yaml\n--set\ngraph.scope=x\n--json',
    `run\na.yaml\n--emulate=http://127.0.0.1:1\n--fault\n429:2\n--set=graph.client_secret=${CANARY}`,
    'exec\ngraph\n--\ncurl\n--help\n-x',
    'login\ngraph\n--port=8912\n--device',
    'check\n--online\n--quiet\na\nb',
  ],
  tokens: [
    ...[
      '--',
      '-',
      '--help',
      '-h',
      '--version',
      '-V',
      'help',
      '--json',
      '--data',
      '--set=a=b',
      '--port',
      '=',
      '\n',
      '--emulate',
    ],
    ...[
      'token',
      'logout',
      'list',
      'explain',
      'completion',
      'bash',
      'emulate',
      '--unknown=',
      '--reveal',
      '--min-ttl',
      '--all',
    ],
  ],
  check(input) {
    const args = input.split('\n');
    const { value, error } = callTwice(() => parseCommandLine(args));
    if (error !== undefined) {
      assert.equal((error as { code?: string }).code, 'usage');
      assert.ok(!hasControls(error.message), 'an error contains control characters');
      const hidden = args.every((arg) => !arg.includes(CANARY) || /^--\w[^=]*=/.test(arg)) && !args.includes('--');
      if (hidden) assert.ok(!error.message.includes(CANARY), 'an error contains the value of a flag');
    } else if (value.kind === 'run') {
      const { command, args: parsed } = value;
      const min = command.usage.split('<').length - 1;
      const max = command.usage.includes('…') ? Number.POSITIVE_INFINITY : command.usage.split(/[<[]/).length - 1;
      assert.ok(parsed.positionals.length >= min && parsed.positionals.length <= max, 'too few or too many arguments');
      for (const given of parsed.positionals) assert.ok(args.includes(given), 'an argument was changed');
    }
  },
});
