import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { useToolFixture } from '../support/cli.ts';

const directory = join(import.meta.dirname, '..', 'npm-tools');
const requireTool = createRequire(join(directory, 'package.json'));

/** Installs the tools once; later runs find them. Without a registry, the tests are skipped. */
function installTools(): boolean {
  if (existsSync(join(directory, 'node_modules', '.package-lock.json'))) return true;
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
  });
  if (status !== 0) process.stderr.write('SKIPPED: the tools in test/npm-tools cannot be installed\n');
  return status === 0;
}

const isInstalled = installTools();
const fixture = useToolFixture();
const authority = new Authority();

async function listen(server: Server): Promise<string> {
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.skipIf(!isInstalled)('the token helper of pnpm', () => {
  it('publishes to a registry of verdaccio and installs from it', async () => {
    const { runServer } = requireTool('verdaccio');
    const storage = join(fixture.sandbox.directory, 'storage');
    const received: (string | undefined)[] = [];
    const registry: Server = await runServer({
      self_path: join(storage, 'config.yaml'),
      storage,
      packages: { '**': { access: '$all', publish: '$all' } },
      log: { type: 'stdout', level: 'fatal' },
    });
    // The registry checks its own tokens only, so those of the profile are checked before it.
    const guard = createServer((request, response) => {
      const { authorization } = request.headers;
      received.push(authorization);
      delete request.headers.authorization;
      if (/^Bearer access-token-\d+$/.test(authorization ?? '')) registry.emit('request', request, response);
      else response.writeHead(401).end();
    });
    const host = await listen(guard);
    fixture.setProfiles({ origins: [`http://${host}`] });
    for (const name of ['lib', 'app']) mkdirSync(join(fixture.sandbox.work, name), { recursive: true });
    fixture.sandbox.write('lib/package.json', '{"name":"test-lib","version":"1.0.0"}');
    fixture.sandbox.write('app/package.json', '{"name":"app","version":"1.0.0"}');
    writeFileSync(join(fixture.sandbox.home, '.npmrc'), `registry=http://${host}/\n`);
    const pnpm = `'${join(directory, 'node_modules', '.bin', 'pnpm')}'`;
    const add = `cd app && ${pnpm} add test-lib --config.fetch-retries=0`;
    expect((await fixture.run(add)).exit).not.toBe(0);
    expect(await fixture.run('oauth-profile configure pnpm lab')).toMatchObject({ exit: 0 });
    expect(await fixture.run(`cd lib && ${pnpm} publish --no-git-checks`)).toMatchObject({ exit: 0 });
    expect(await fixture.run(`${add} && cat node_modules/test-lib/package.json`)).toMatchObject({ exit: 0 });
    expect(received).toContain(`Bearer access-token-${fixture.issued()}`);
  });
});

describe.skipIf(!isInstalled)('the user entry of a kubeconfig', () => {
  it('gives @kubernetes/client-node the token of the profile', async () => {
    const { KubeConfig, CoreV1Api } = requireTool('@kubernetes/client-node');
    const received: (string | undefined)[] = [];
    const pair = authority.issue({ name: 'k8s', hosts: 'IP:127.0.0.1' });
    const host = await listen(
      createHttpsServer(pair, (request, response) => {
        received.push(request.headers.authorization);
        response
          .setHeader('Content-Type', 'application/json')
          .end('{"kind":"NamespaceList","apiVersion":"v1","items":[]}');
      }),
    );
    fixture.setProfiles({ origins: [`https://${host}`] });
    const file = join(fixture.sandbox.home, 'kubeconfig');
    const cluster = { server: `https://${host}`, 'certificate-authority': authority.caFile };
    const config = {
      clusters: [{ name: 'one', cluster }],
      contexts: [{ name: 'one', context: { cluster: 'one', user: 'oauth-profile-lab' } }],
      'current-context': 'one',
      users: [],
    };
    writeFileSync(
      file,
      Object.entries(config)
        .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
        .join(''),
    );
    expect(await fixture.run('oauth-profile configure kubectl lab', { KUBECONFIG: file })).toMatchObject({ exit: 0 });
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(file);
    const { exec } = kubeConfig.getUser('oauth-profile-lab');
    exec.env = [
      { name: 'HOME', value: fixture.sandbox.home },
      { name: 'PATH', value: `${join(fixture.sandbox.directory, 'bin')}:${process.env['PATH']}` },
    ];
    exec.command = join(fixture.sandbox.directory, 'bin', 'oauth-profile');
    await kubeConfig.makeApiClient(CoreV1Api).listNamespace();
    expect(received).toEqual([`Bearer access-token-${fixture.issued()}`]);
  });
});

describe.skipIf(!isInstalled)('the credential process of AWS', () => {
  it('gives the AWS SDK the credentials of a role, as a web identity file does', async () => {
    const { fromProcess, fromTokenFile } = requireTool('@aws-sdk/credential-providers');
    const forms: URLSearchParams[] = [];
    const host = await listen(
      createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', () => {
          forms.push(new URLSearchParams(body));
          response
            .setHeader('Content-Type', 'text/xml')
            .end(
              '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>secret/key</SecretAccessKey><SessionToken>session+token==</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>',
            );
        });
      }),
    );
    const arn = 'arn:aws:iam::123456789012:role/deploy';
    fixture.setProfiles({ aws_role_arn: arn });
    const config = join(fixture.sandbox.home, 'aws-config');
    const shim = join(fixture.sandbox.directory, 'bin', 'oauth-profile');
    writeFileSync(config, `[profile lab]\ncredential_process = ${shim} credential aws lab\nregion = eu-central-1\n`);
    const webIdentityTokenFile = join(fixture.sandbox.home, 'web-identity');
    await fixture.run(`oauth-profile token lab --field id_token > '${webIdentityTokenFile}'`);
    const before = { ...process.env };
    Object.assign(process.env, { HOME: fixture.sandbox.home, AWS_ENDPOINT_URL_STS: `http://${host}` });
    try {
      const expected = {
        accessKeyId: 'ASIAEXAMPLE',
        secretAccessKey: 'secret/key',
        sessionToken: 'session+token==',
        expiration: new Date('2099-01-01T00:00:00Z'),
      };
      expect(await fromProcess({ profile: 'lab', configFilepath: config, filepath: '/dev/null' })()).toMatchObject(
        expected,
      );
      const clientConfig = { region: 'eu-central-1', endpoint: `http://${host}` };
      const options = { webIdentityTokenFile, roleArn: arn, roleSessionName: 'oauth-profile', clientConfig };
      expect(await fromTokenFile(options)()).toMatchObject(expected);
    } finally {
      process.env = before;
    }
    const [own, sdk] = forms;
    for (const name of ['Action', 'Version', 'RoleArn', 'RoleSessionName']) expect(own?.get(name)).toBe(sdk?.get(name));
    expect(own?.get('WebIdentityToken')).toBe(sdk?.get('WebIdentityToken')?.trim());
  });
});
