import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Authority } from '../../../support/certificates.ts';
import { type Finished, Sandbox } from '../../../support/cli.ts';
import { ConnectProxy } from '../../../support/connect-proxy.ts';
import { encodingsOf } from '../../../support/leaks.ts';
import { startProvider, TOKEN } from '../../../support/proxy.ts';
import { startServer } from '../../../support/server.ts';

const authority = new Authority();
const tls = authority.issue({ name: 'api', hosts: 'DNS:api.example.test,DNS:other.example.test' });

/** The requests that the API received: method, host, path, and the number of the token. */
let seen: string[];
let sandbox: Sandbox;
let env: Record<string, string>;

/** Serves files of the working directory below /files, and responds to everything else with its path. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = request;
  const token = headers.authorization?.replace(`Bearer ${TOKEN}`, 'token ') ?? 'no token';
  seen.push(`${method} ${headers.host}${url} ${token}`);
  const file = join(sandbox.work, url.split('?')[0] ?? '');
  if (!url.startsWith('/files/')) response.end(`path ${url}\n`);
  else if (existsSync(file)) response.end(readFileSync(file));
  else response.writeHead(404).end();
}

/** Runs a command with a proxy. The names of hosts are resolved by another proxy, as in a company network. */
function exec(command: string, flags = '', more: Record<string, string> = {}): Promise<Finished> {
  sandbox.write('command.sh', command);
  return sandbox.run(`oauth-profile exec api --proxy ${flags} -- sh command.sh`, { ...env, ...more });
}

beforeEach(async () => {
  seen = [];
  sandbox = new Sandbox();
  onTestFinished(() => sandbox.remove());
  const { port } = await startServer(serve, tls);
  const company = await ConnectProxy.start(port);
  const { data } = await startProvider(['https://api.example.test'], { ca_file: 'ca.pem' });
  sandbox.write('oauth-profiles.json', JSON.stringify(data));
  sandbox.write('ca.pem', authority.ca.cert);
  const runtime = join(sandbox.directory, 'run');
  mkdirSync(runtime);
  env = { HTTPS_PROXY: company.url(), SSL_CERT_FILE: authority.caFile, XDG_RUNTIME_DIR: runtime, TMPDIR: runtime };
});

describe('exec --proxy', () => {
  test('removes variables with a secret of the profile from the environment of the command', async () => {
    const data = JSON.parse(sandbox.read('oauth-profiles.json'));
    data.api.client_secret = '${env:API_CLIENT_SECRET}';
    sandbox.write('oauth-profiles.json', JSON.stringify(data));
    const variables = { API_CLIENT_SECRET: 'value-of-the-client-secret', OTHER: 'value' };
    const { stdout } = await exec('echo "${API_CLIENT_SECRET-none} $OTHER"', '', variables);
    expect(stdout).toBe('none value\n');
  });

  test('adds the token to requests of curl, git and Python, and of no other origin', async () => {
    const repository = join(sandbox.work, 'files', 'repo.git');
    const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args]);
    git('init', '-q', '--bare', repository);
    const tree = git('-C', repository, 'mktree', '--missing').toString().trim();
    const commit = git('-C', repository, 'commit-tree', '-m', 'first', tree).toString().trim();
    git('-C', repository, 'update-ref', 'refs/heads/main', commit);
    git('-C', repository, 'update-server-info');
    const { stdout, stderr, exit } = await exec(`
      set -e
      curl -sS https://api.example.test/curl
      curl -sS --cacert "$SSL_CERT_FILE" https://other.example.test/curl
      git ls-remote https://api.example.test/files/repo.git
      python3 -c 'import urllib.request as u; print(u.urlopen("https://api.example.test/python").read().decode(), end="")'
    `);
    expect({ stdout, stderr, exit }).toEqual({
      stdout: `path /curl\npath /curl\n${commit}\trefs/heads/main\npath /python\n`,
      stderr: '',
      exit: 0,
    });
    expect([...new Set(seen.map((line) => line.replace(/\?service=.*? /, ' ')))]).toEqual([
      'GET api.example.test/curl token 1',
      'GET other.example.test/curl no token',
      'GET api.example.test/files/repo.git/info/refs token 1',
      'GET api.example.test/files/repo.git/HEAD token 1',
      'GET api.example.test/python token 1',
    ]);
  });

  test('hides the token from the command, and leaves no file', async () => {
    const { stdout, stderr, exit } = await exec(
      `
      curl -sS https://api.example.test/first?secret=query
      env; cat /proc/self/environ /proc/$$/cmdline /proc/$PPID/cmdline /proc/$PPID/environ; ls -l /proc/$PPID/fd
      find "$XDG_RUNTIME_DIR" "$TMPDIR" "$HOME" -type f -exec cat {} +
      echo; cat "$NODE_EXTRA_CA_CERTS" "$GIT_SSL_CAINFO" | grep -c BEGIN.PRIVATE
      test -r "$AWS_CA_BUNDLE" && stat -c %a "$(dirname "$CURL_CA_BUNDLE")"
      `,
      '--verbose',
      { OAUTH_PROFILE_KEY: Buffer.alloc(32, 7).toString('base64') },
    );
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^path \/first/);
    expect(stdout).toMatch(/\n0\n700\n$/);
    const output = stdout + stderr;
    for (const form of encodingsOf(`${TOKEN}1`)) expect(output).not.toContain(form);
    expect(stdout).not.toMatch(/^OAUTH_/m);
    expect(stderr).toMatch(/^GET api\.example\.test\/first 200 \d+ B \d+ ms$/m);
    expect(stderr).not.toContain('query');
    expect(readdirSync(env['XDG_RUNTIME_DIR'] ?? '')).toEqual([]);
    expect(seen).toEqual(['GET api.example.test/first?secret=query token 1']);
  });

  test('accepts only requests with the secret of the command, and with --only only for its origins', async () => {
    const { stdout, exit } = await exec(
      `
      status() { curl -s -o /dev/null -w '%{http_code} %{http_connect}\\n' "$@"; }
      status https://api.example.test/
      status https://other.example.test/
      status http://other.example.test/
      export HTTPS_PROXY="http://proxy:wrong@\${HTTPS_PROXY#*@}" https_proxy=
      status https://api.example.test/
      status --proxy "http://\${HTTPS_PROXY#*@}" http://api.example.test/
      `,
      '--only',
    );
    expect(stdout.split('\n')).toEqual(['200 200', '000 403', '403 000', '000 407', '407 000', '']);
    expect(exit).toBe(0);
    expect(seen).toHaveLength(1);
  });

  test('ends with the command, whatever connections are open', async () => {
    sandbox.write(
      'hold.js',
      `const { hostname, port } = new URL(process.env.HTTPS_PROXY);
       const socket = require('node:net').connect(port, hostname, () => { console.log(port); process.exit(3); });`,
    );
    const { stdout, exit } = await exec(`${process.execPath} hold.js`);
    expect(exit).toBe(3);
    const [error] = await once(connect(Number(stdout), '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('leaves no listener and no file after SIGTERM', async () => {
    let pid = 0;
    sandbox.write('wait.sh', 'echo "$HTTPS_PROXY" > url; mv url started; exec sleep 600');
    const line = 'exec oauth-profile exec api --proxy -- sh wait.sh';
    const running = sandbox.run(line, env, (started) => {
      pid = started;
    });
    const started = join(sandbox.work, 'started');
    while (!existsSync(started)) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(pid, 'SIGTERM');
    expect((await running).exit).toBe(143);
    expect(readdirSync(env['XDG_RUNTIME_DIR'] ?? '')).toEqual([]);
    const { port } = new URL(readFileSync(started, 'utf8').trim());
    const [error] = await once(connect(Number(port), '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('cannot be combined with flags for a token in the environment', async () => {
    const { exit, stderr } = await exec('true', '--token-file');
    expect(exit).toBe(125);
    expect(stderr).toContain('--proxy and --token-file');
  });
});
