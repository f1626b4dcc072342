import type { Report } from '../../../src/script/reports/report.ts';
import type { Exchange, Failure, RunResult, StepResult } from '../../../src/script/result.ts';

const START = Date.UTC(2026, 6, 1, 10, 0, 0);

type Given = Partial<StepResult> & { readonly title: string };

/** Creates a run of these steps; by default a step passes in 12 ms. */
export function runOf(name: string, file: string, steps: readonly Given[], more: Partial<RunResult> = {}): RunResult {
  let startedAt = more.startedAt ?? START;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const results = steps.map((given, index): StepResult => {
    const state = given.state ?? (given.failure ? 'failed' : given.reason ? 'skipped' : 'passed');
    const elapsedMs = given.elapsedMs ?? (state === 'skipped' ? 0 : 12);
    const step: StepResult = {
      number: index + 1,
      command: /^[a-z]+\.\w+/i.exec(given.title)?.[0] ?? 'base.verbose',
      position: { line: 8 + index, column: 5 },
      state,
      startedAt,
      elapsedMs,
      output: [],
      ...given,
      exchanges: (given.exchanges ?? []).map((one) => ({ ...one, startedAt })),
    };
    startedAt += elapsedMs;
    counts[state]++;
    return step;
  });
  return {
    name,
    file,
    state: counts.failed > 0 || more.interrupted ? 'failed' : 'passed',
    interrupted: false,
    startedAt: more.startedAt ?? START,
    elapsedMs: startedAt - (more.startedAt ?? START),
    counts,
    steps: results,
    ...more,
  };
}

/** Creates a report of these runs. */
export function reportOf(...runs: RunResult[]): Report {
  return {
    runs,
    startedAt: START,
    elapsedMs: runs.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
    version: '1.0.0',
  };
}

/** Creates the failure of an assertion. */
export function failure(message: string, more: Partial<Failure> = {}): Failure {
  return { code: 'step_failed', message, ...more };
}

/** Creates a GET with a JSON response. */
export function exchange(url: string, status: number, body: string, elapsedMs = 120): Exchange {
  return {
    request: {
      method: 'GET',
      url,
      headers: [
        ['Authorization', 'Bearer ••••'],
        ['Accept', '*/*'],
      ],
    },
    response: {
      status,
      headers: [
        ['content-type', 'application/json; charset=utf-8'],
        ['date', 'Wed, 01 Jul 2026 10:00:00 GMT'],
        ['x-request-id', '6f1c2a90-41f7-4c7a-9a55-0d9c5b1f3e21'],
      ],
      body,
    },
    startedAt: START,
    elapsedMs,
  };
}

const graph = 'https://graph.microsoft.com/v1.0';
const ada =
  '{"@odata.context":"https://graph.microsoft.com/v1.0/$metadata#users/$entity","displayName":"Ada Lovelace","givenName":"Ada","jobTitle":"Analyst","mail":"ada@contoso.com","id":"87d349ed-44d7-43e1-9a83-5f2406dee5bd"}';
const tokenStep = {
  title: 'ws.oauthProfile(token, graph)',
  elapsedMs: 412,
  output: ['token from microsoft (client_credentials), 3599 s left'],
};
const earlier = 'an earlier step failed';

/** The report of a smoke test with failures. */
export function sampleReport(): Report {
  return reportOf(
    runOf('Who am I', 'smoke/me.yaml', [
      tokenStep,
      { title: 'ws.header(Authorization, Bearer ${token.access_token})', elapsedMs: 1 },
      { title: `ws.get(${graph}/me, , me)`, elapsedMs: 188, exchanges: [exchange(`${graph}/me`, 200, ada, 186)] },
      { title: 'ws.assertReturnCode(me, 200)', elapsedMs: 0 },
      { title: 'the greeting is for Ada', command: 'base.assertEqual', elapsedMs: 1 },
    ]),
    runOf(
      'Orders: create, read, cancel',
      'smoke/orders/life-cycle.yaml',
      [
        { ...tokenStep, title: 'ws.oauthProfile(token, shop)', elapsedMs: 301, phase: 'setup' },
        { title: 'ws.header(Authorization, Bearer ${token.access_token})', elapsedMs: 0 },
        {
          title: 'create an order',
          groups: ['the shop accepts orders'],
          attempts: 3,
          command: 'ws.post',
          elapsedMs: 640,
          output: ['order 2026-0117 for 3 items'],
          exchanges: [
            {
              request: {
                method: 'POST',
                url: 'https://shop.example.com/api/orders',
                headers: [
                  ['Authorization', 'Bearer ••••'],
                  ['Content-Type', 'application/json'],
                ],
                body: '{"customer":"ada@contoso.com","items":[{"sku":"PUNCH-CARD-80","quantity":3}]}',
              },
              response: {
                status: 201,
                headers: [
                  ['content-type', 'application/json'],
                  ['location', '/api/orders/2026-0117'],
                ],
                body: '{"id":"2026-0117","state":"open","total":{"amount":"12.60","currency":"EUR"}}',
              },
              startedAt: START,
              elapsedMs: 633,
            },
          ],
        },
        {
          title: 'ws.get(https://shop.example.com/api/orders/${order.body.id}, , read)',
          elapsedMs: 95,
          exchanges: [
            exchange(
              'https://shop.example.com/api/orders/2026-0117',
              200,
              '{"id":"2026-0117","state":"open","total":{"amount":"12.06","currency":"EUR"},"items":3}',
              92,
            ),
          ],
        },
        {
          title: 'the order is as it was written',
          command: 'base.assertEqual',
          elapsedMs: 2,
          responsesOf: [4],
          failure: failure('the values differ', {
            expected: '{"id":"2026-0117","state":"open","total":{"amount":"12.60","currency":"EUR"}}',
            actual: '{"id":"2026-0117","state":"open","total":{"amount":"12.06","currency":"EUR"},"items":3}',
          }),
        },
        { title: 'ws.patch(https://shop.example.com/api/orders/2026-0117, {"state":"paid"})', reason: earlier },
        { title: 'ws.assertReturnCode(paid, 200-204)', reason: earlier },
        {
          title: 'cancel the order, whatever happened',
          phase: 'teardown',
          command: 'ws.delete',
          elapsedMs: 71,
          exchanges: [{ ...exchange('https://shop.example.com/api/orders/2026-0117', 204, '', 70), elapsedMs: 70 }],
        },
      ],
      { startedAt: START + 610 },
    ),
    runOf(
      'Nightly export',
      'smoke/export.yaml',
      [
        {
          title: 'ws.oauthProfile(token, warehouse)',
          elapsedMs: 903,
          failure: {
            code: 'provider_rejected',
            message: 'microsoft rejected the client: AADSTS7000215 Invalid client secret provided',
            hint: "the client secret is wrong; often the secret's ID was configured instead of its value: set warehouse.client_secret",
          },
        },
        { title: 'ws.download(https://warehouse.example.com/export.csv, , out/export.csv)', reason: earlier },
      ],
      { startedAt: START + 1730 },
    ),
    runOf(
      'GitLab projects',
      'smoke/gitlab/projects.yaml',
      [
        { title: 'ws.oauthProfile(token, lab)', elapsedMs: 260 },
        { title: 'ws.get(https://gitlab.com/api/v4/projects, membership=true, projects)', elapsedMs: 377 },
        { title: 'ws.assertReturnCode(projects, 200)', elapsedMs: 0 },
        { title: 'json.assertElementCount(${projects.body}, $[*], 3)', elapsedMs: 4 },
        { title: 'base.verbose(${projects.body[0].name})', reason: 'its condition does not hold' },
      ],
      { startedAt: START + 2640 },
    ),
  );
}
