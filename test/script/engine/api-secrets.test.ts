import { describe, expect, it } from 'vitest';
import { ApiServer, json } from '../../support/server.ts';
import { runWs, type WsStep } from '../run-steps.ts';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl';

/** Requests a document and prints parts of it. */
async function show(document: unknown, ...texts: string[]) {
  const api = await ApiServer.start(json(document));
  const steps: WsStep[] = [['ws.get', api.origin, '', 'r'], ...texts.map((text): WsStep => ['base.verbose', text])];
  const outcome = await runWs(steps);
  return {
    ...outcome,
    body: outcome.steps[0]?.exchanges[0]?.response?.body,
    output: outcome.steps.slice(1).flatMap(({ output }) => output),
  };
}

describe('Data of an API', () => {
  it.each<[what: string, document: object]>([
    ['an error code', { error: { code: 'not_found', message: 'order not found' } }],
    [
      'a discovery document',
      { token_endpoint: 'https://id.example.com/token', token_endpoint_auth_methods_supported: ['none'] },
    ],
    ['a repository', { private: true, usage: { total_tokens: 12345678 }, nextPageToken: 'page-number-two' }],
    ['names that contain the word secret', { secretary: 'Grace Hopper', credentials: { user: 'ada-lovelace' } }],
    [
      'short, numeric and empty secrets',
      { password: 'hunter2', access_token: 12345678, id_token: null, refresh_token: true },
    ],
    ['a name in another case', { Password: 'not by name, since only exact names count' }],
  ])('is shown: %s', async (_what, document) => {
    const { body, value } = await show(document);
    expect(body).toBe(JSON.stringify(document));
    expect(value('r.body')).toEqual(document);
  });

  it.each(['access_token', 'refresh_token', 'id_token', 'client_secret', 'password'])(
    'is masked if its name is %s and it has 8 characters',
    async (name) => {
      const { body, output, everything } = await show(
        { a: [{ [name]: 'hunter22' }], b: 'is hunter22 here?' },
        '${r.text}',
      );
      expect(body).toBe(`{"a":[{"${name}":"••••"}],"b":"is •••• here?"}`);
      expect(output).toEqual([`{"a":[{"${name}":"••••"}],"b":"is •••• here?"}`]);
      expect(everything).not.toContain('hunter22');
    },
  );

  it('is masked if it looks like a JWT, also inside a longer string', async () => {
    const { body, value } = await show({ session: JWT, note: `use ${JWT} now`, eyJ: 'eyJ is a prefix' });
    expect(body).toBe('{"session":"••••","note":"use •••• now","eyJ":"eyJ is a prefix"}');
    expect(value('r.body.session')).toEqual({ secret: JWT });
  });

  it('is masked by name only in requests to token endpoints and their responses', async () => {
    const api = await ApiServer.start(
      json({ device_code: 'abcdefgh-1', user_code: 'WDJB-MJHT', token_type: 'Bearer' }),
    );
    const { steps } = await runWs([
      ['ws.post', `${api.origin}/orders`, '', 'a'],
      ['ws.post', `${api.origin}/oauth2/devicecode`, '', 'b'],
    ]);
    expect(steps.map(({ exchanges: [one] }) => one?.response?.body)).toEqual([
      '{"device_code":"abcdefgh-1","user_code":"WDJB-MJHT","token_type":"Bearer"}',
      '{"device_code":"••••","user_code":"WDJB-MJHT","token_type":"Bearer"}',
    ]);
  });

  it('does not change titles, expected values and names of later steps', async () => {
    const api = await ApiServer.start(json({ password: 'forbidden' }));
    const { steps, last } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['ws.get', api.origin, '', 'forbidden'],
      ['base.assertEqual', 'is forbidden', '${r.body.password}'],
    ]);
    expect(steps.map(({ title }) => title)).toEqual([
      `ws.get(${api.origin}, , r)`,
      `ws.get(${api.origin}, , forbidden)`,
      'base.assertEqual(is forbidden, ${r.body.password})',
    ]);
    expect(last.failure).toMatchObject({ expected: 'is forbidden', actual: '••••' });
  });
});
