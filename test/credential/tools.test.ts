import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { createIdToken, hasProgram, useToolFixture } from '../support/cli.ts';

const fixture = useToolFixture();
const authority = new Authority();
let server: Server;
let origin: string;
let host: string;
/** Responds to requests that have a token; the others get 401. */
let serve: (request: IncomingMessage, response: ServerResponse) => void;
let received: (string | undefined)[];

beforeAll(async () => {
  server = createServer(
    authority.issue({ name: 'tools', hosts: 'DNS:localhost,IP:127.0.0.1' }),
    (request, response) => {
      const { authorization } = request.headers;
      if (authorization !== undefined && received.at(-1) !== authorization) received.push(authorization);
      serve(request, response);
    },
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  host = `localhost:${(server.address() as AddressInfo).port}`;
  origin = `https://${host}`;
});
afterAll(() => server.close());
beforeEach(() => {
  received = [];
  fixture.setProfiles({ origins: [origin] });
});

const NO_CREDENTIALS = `Basic ${Buffer.from(':').toString('base64')}`;
const token = () => `access-token-${fixture.issued()}`;

describe.skipIf(!hasProgram('skopeo'))('the credential helper of docker, used by skopeo', () => {
  const inspect = () =>
    fixture.run(
      `PATH="$HOME/.local/bin:$PATH" skopeo inspect --raw --cert-dir '${authority.directory}/docker' docker://${host}/app:1`,
    );

  it('sends the token to the registry of the profile only', async () => {
    const certificates = join(authority.directory, 'docker');
    mkdirSync(certificates);
    writeFileSync(join(certificates, 'ca.crt'), authority.ca.cert);
    const manifest = JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json' });
    serve = (request, response) => {
      // Without credentials, skopeo sends an empty username and password.
      if (!request.headers.authorization || request.headers.authorization === NO_CREDENTIALS) {
        response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="registry"' }).end();
      } else if (request.url === '/v2/') response.end('{}');
      else response.setHeader('Content-Type', 'application/vnd.oci.image.manifest.v1+json').end(manifest);
    };
    expect(await fixture.run('oauth-profile configure docker lab')).toMatchObject({ exit: 0 });
    expect(await inspect()).toMatchObject({ stdout: manifest, exit: 0 });
    expect(received).toEqual([`Basic ${Buffer.from(`oauth2:${token()}`).toString('base64')}`]);
    received = [];
    fixture.setProfiles({ origins: ['https://registry.example.com'] });
    expect((await inspect()).exit).not.toBe(0);
    expect(received).toEqual([NO_CREDENTIALS]);
    await fixture.run('oauth-profile configure docker lab --undo');
    expect((await fixture.run('ls ~/.docker ~/.local/bin')).stdout).not.toMatch(/config\.json|credential/);
  });
});

describe.skipIf(!hasProgram('kubectl', 'version', '--client'))('the credential helper of kubectl', () => {
  const kubeconfig = (apiVersion: string) => `apiVersion: v1
kind: Config
clusters:
- name: one
  cluster: {server: "${origin}", certificate-authority: "${authority.caFile}"}
contexts:
- name: one
  context: {cluster: one, user: lab}
current-context: one
users:
- name: lab
  user:
    exec:
      apiVersion: client.authentication.k8s.io/${apiVersion}
      command: oauth-profile
      args: [credential, kubernetes, lab, --token, id_token]
      provideClusterInfo: true
      interactiveMode: Never
`;

  it('sends the id token to the API server of the profile only', async () => {
    serve = (request, response) => {
      response.setHeader('Content-Type', 'application/json');
      if (request.headers.authorization === undefined) response.writeHead(401).end('{}');
      else response.end('{"kind":"Status","apiVersion":"v1","status":"Success"}');
    };
    mkdirSync(join(fixture.sandbox.home, '.kube'), { recursive: true });
    // Versions before 1.22 know v1beta1 only; all later ones know it too.
    writeFileSync(join(fixture.sandbox.home, '.kube', 'config'), kubeconfig('v1beta1'));
    expect(await fixture.run('kubectl get --raw /healthz')).toMatchObject({ exit: 0 });
    const [, claims = ''] = received[0]?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ sub: 'ada' });
    received = [];
    fixture.setProfiles({ origins: ['https://k8s.example.com'] });
    expect(await fixture.run('kubectl get --raw /healthz')).toMatchObject({
      stderr: expect.stringContaining('lab.options.origins'),
      exit: 1,
    });
    expect(received).toEqual([]);
  });
});

/** The home directory of tests is another one, in which rustup would find no toolchain. */
const rustup = { RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(userInfo().homedir, '.rustup') };
const { stdout: cargoVersion } = spawnSync('cargo', ['--version'], {
  env: { ...process.env, ...rustup },
  encoding: 'utf8',
});
const [, cargoMinor] = /^cargo 1\.(\d+)/.exec(cargoVersion ?? '') ?? [];

describe.skipIf(!(Number(cargoMinor) >= 74))('the credential provider of cargo', () => {
  it('sends the token to the sparse registry of the profile only', async () => {
    const files: Record<string, object> = {
      '/index/config.json': { dl: `${origin}/dl`, api: origin, 'auth-required': true },
    };
    serve = (request, response) => {
      if (request.headers.authorization === undefined)
        response.writeHead(401, { 'WWW-Authenticate': 'Cargo login_url="https://example.com"' }).end();
      else if (request.url === '/api/v1/crates/new') response.end('{"warnings":null}');
      else if (files[request.url ?? ''] !== undefined) response.end(JSON.stringify(files[request.url ?? '']));
      else response.writeHead(404).end();
    };
    const home = join(fixture.sandbox.home, 'cargo');
    const env = {
      ...rustup,
      CARGO_HOME: home,
      CARGO_HTTP_CAINFO: authority.caFile,
      CARGO_REGISTRIES_CRATES_IO_PROTOCOL: 'sparse',
    };
    const config = `# mine\n[registries.corp]\nindex = "sparse+${origin}/index/"\n\n[net]\nretry = 0\n`;
    mkdirSync(join(fixture.sandbox.work, 'app', 'src'), { recursive: true });
    mkdirSync(home);
    writeFileSync(join(home, 'config.toml'), config);
    fixture.sandbox.write(
      'app/Cargo.toml',
      '[package]\nname = "app"\nversion = "1.0.0"\nedition = "2021"\nlicense = "MIT"\ndescription = "x"\n',
    );
    fixture.sandbox.write('app/src/lib.rs', '');
    const publish = () => fixture.run('cd app && cargo publish --registry corp --no-verify --allow-dirty', env);
    const search = () => fixture.run('cd app && cargo info --registry corp missing', env);
    expect(await fixture.run('oauth-profile configure cargo lab', env)).toMatchObject({ exit: 0 });
    expect((await search()).stderr).toMatch(/could not find `missing`/);
    expect(received).toEqual([`Bearer ${token()}`]);
    // Cargo waits for the crate to appear in the index.
    files['/index/3/a/app'] = {
      name: 'app',
      vers: '1.0.0',
      deps: [],
      cksum: '0'.repeat(64),
      features: {},
      yanked: false,
    };
    serve = ((respond) => (request, response) => {
      if (request.url === '/index/3/a/app' && !received.includes('published')) response.writeHead(404).end();
      else respond(request, response);
      if (request.url === '/api/v1/crates/new') received.push('published');
    })(serve);
    expect(await publish()).toMatchObject({ stderr: expect.stringContaining('Published app'), exit: 0 });
    received = [];
    fixture.setProfiles({ origins: ['https://crates.example.com'] });
    expect((await search()).exit).not.toBe(0);
    expect(received).toEqual([]);
    await fixture.run('oauth-profile configure cargo lab --undo', env);
    expect(readFileSync(join(home, 'config.toml'), 'utf8')).toBe(config);
  });
});

describe('the executable source of Google', () => {
  it('gives google-auth-library the id token of the profile', async () => {
    const { PluggableAuthClient } = await import('google-auth-library');
    const shim = join(fixture.sandbox.directory, 'bin', 'oauth-profile');
    const options = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      token_url: 'https://sts.googleapis.com/v1/token',
      credential_source: { executable: { command: `${shim} credential google lab`, timeout_millis: 20_000 } },
    };
    const before = { ...process.env };
    Object.assign(process.env, { HOME: fixture.sandbox.home, GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: '1' });
    try {
      const subject = await new PluggableAuthClient(options).retrieveSubjectToken();
      expect(subject.split('.')[0]).toBe(createIdToken(0).split('.')[0]);
      options.credential_source.executable.command = `${shim} credential google missing`;
      await expect(new PluggableAuthClient(options).retrieveSubjectToken()).rejects.toThrow(
        /"code":"profile_not_found"/,
      );
    } finally {
      process.env = before;
    }
  });
});
