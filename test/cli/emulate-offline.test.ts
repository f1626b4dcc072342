import { afterAll, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';
import { callWitness } from '../support/witness.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

it('with --emulate nothing but 127.0.0.1 is reached, no name is looked up, no proxy is asked', async () => {
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
  const names = ['graph', 'drive', 'staff', 'lab', 'x', 'own'];
  const { stdout, stderr, exit } = await sandbox.run(
    `for p in ${names.join(' ')}; do oauth-profile token $p --data p.yaml --emulate --quiet --field token_type || exit; done; cat "$WITNESS" >&2; ls -A "$HOME"`,
    callWitness(sandbox),
  );
  expect(exit).toBe(0);
  expect(stdout.toLowerCase().trim().split('\n')).toEqual(names.map(() => 'bearer'));
  const lines = stderr.trim().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(names.length);
  expect(lines.filter((line) => !line.endsWith(' 127.0.0.1'))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('connect')).length).toBe(names.length);
});
