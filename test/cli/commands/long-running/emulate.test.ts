import { expect, it } from 'vitest';
import { Sandbox } from '../../../support/cli.ts';

it('emulate shortens a request with very many and very long parameters', async () => {
  const sandbox = new Sandbox();
  sandbox.write('p.yaml', 'x: {type: twitter, client_id: a, client_secret: b}\n');
  sandbox.write('form', `${'n'.repeat(30_000)}=1&${Array.from({ length: 4000 }, (_, i) => `f${i}=`).join('&')}`);
  const { stdout } = await sandbox.run(
    'oauth-profile emulate --data p.yaml > out & until grep -qs "running at" out; do sleep 0.05; done; url=$(grep -o "http://127.0.0.1:[0-9]*" out | head -1); curl -s --data @form "$url/api.twitter.com/oauth2/token"; kill -INT %1; wait %1; cat out',
  );
  sandbox.remove();
  expect(stdout).toContain('forbidden_missing_parameter');
  expect(stdout).toContain('  … and 3901 more\n');
  expect(stdout.length).toBeLessThan(70_000);
});
