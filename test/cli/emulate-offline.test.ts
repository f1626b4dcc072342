import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';

/** Loaded into the command before anything else: writes down every connection and every look-up of a name. */
const witness = `
import { appendFileSync } from 'node:fs';
import net from 'node:net';
import dns from 'node:dns';
const note = (what) => appendFileSync(process.env.WITNESS, what + '\\n');
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  note('connect ' + (options.host ?? options.path));
  return connect.apply(this, args);
};
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const real = dns[name];
  dns[name] = (host, ...rest) => {
    note(name + ' ' + host);
    return real(host, ...rest);
  };
}
`;

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

it('with --emulate nothing but 127.0.0.1 is reached, no name is looked up, no proxy is asked', async () => {
  writeFileSync(join(sandbox.work, 'witness.mjs'), witness);
  sandbox.write(
    'p.yaml',
    `graph: {type: microsoft, tenant_id: contoso.com, client_id: a, refresh_token: rt-12345678}
drive: {type: google, client_id: a, client_secret: b, refresh_token: r}
staff: {type: okta, tenant_id: acme, client_id: a, client_secret: b, username: u, password: p, scope: openid}
lab: {type: gitlab, username: u, password: p}
x: {type: twitter, client_id: a, client_secret: b}
own: {type: custom, url: "https://login.example.com/token", grant_type: client_credentials, client_id: a}
`,
  );
  const env = {
    NODE_OPTIONS: `--import=${join(sandbox.work, 'witness.mjs')}`,
    WITNESS: join(sandbox.work, 'witnessed'),
    HTTPS_PROXY: 'http://proxy.example.com:3128',
  };
  const names = ['graph', 'drive', 'staff', 'lab', 'x', 'own'];
  const { stdout, stderr, exit } = await sandbox.run(
    `for p in ${names.join(' ')}; do oauth-profile token $p --data p.yaml --emulate --quiet --field token_type || exit; done; cat "$WITNESS" >&2; ls -A "$HOME"`,
    env,
  );
  expect(exit).toBe(0);
  expect(stdout.toLowerCase().trim().split('\n')).toEqual(names.map(() => 'bearer'));
  const lines = stderr.trim().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(names.length);
  expect(lines.filter((line) => !line.endsWith(' 127.0.0.1'))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('connect')).length).toBe(names.length);
});
