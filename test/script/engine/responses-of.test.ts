import { describe, expect, it } from 'vitest';
import { ApiServer, json } from '../../support/server.ts';
import { runText } from '../run-text.ts';

const responsesOf = async (steps: string, files: Record<string, string> = {}) => {
  const api = await ApiServer.start(json({ id: 7, lines: [{ sku: 'a' }, { sku: 'b' }] }));
  const outcome = await runText(
    `data: {base: "${api.origin}", path: "\${base}/x", copy: "\${order.body.id}"}\nsteps:\n${steps}`,
    {
      files,
    },
  );
  expect(outcome.failures).toEqual([]);
  return outcome.steps.map((step) => step.responsesOf);
};

describe('The responses that a step used', () => {
  it('are those of the variables that it reads by reference or by name', async () => {
    const found = await responsesOf(`
  - ws.get: ["\${base}", "", order]
  - ws.assertReturnCode: [order, 200]
  - base.assertEqual: [7, "\${order.body.id}"]
  - base.assertEqual: [7, "\${copy}"]
  - base.assertEqual: [1, 1]
  - ws.get: ["\${path}/\${order.body.id}", "", other]
  - base.assertEqual: ["\${order.body.id}", "\${other.body.id}"]
`);
    expect(found).toEqual([undefined, [1], [1], [1], undefined, [1], [1, 6]]);
  });

  it('are known through variables that were saved from a response', async () => {
    const found = await responsesOf(`
  - ws.get: ["\${base}", "", order]
  - json.storeValue: ["\${order.body}", "lines[0].sku", sku]
  - base.save: [text, "the \${sku}"]
  - base.assertEqual: [the a, "\${text}"]
`);
    expect(found).toEqual([undefined, [1], [1], [1]]);
  });

  it('are known in loops and in other scripts', async () => {
    const found = await responsesOf(
      `
  - ws.get: ["\${base}", "", order]
  - forEach: {line: "\${order.body.lines}"}
    base.assertNotEmpty: "\${line.sku}"
  - {run: other.yaml, with: {id: "\${order.body.id}"}, save: [again]}
  - base.assertEqual: [7, "\${again.body.id}"]
`,
      {
        'other.yaml': `steps:\n  - base.assertEqual: [7, "\${id}"]\n  - ws.get: ["\${base}", "", again]\n`,
      },
    );
    expect(found).toEqual([undefined, [1], [1], [1], undefined, [5]]);
  });

  it('are those of the last attempt of a retry', async () => {
    const found = await responsesOf(`
  - base.save: [n, 0]
  - retry: {times: 3, interval: 1ms}
    steps:
      - ws.get: ["\${base}", "", order]
      - number.increment: [n, 1]
      - base.assertEqual: ["7 2", "\${order.body.id} \${n}"]
`);
    expect(found).toEqual([undefined, undefined, undefined, [2]]);
  });
});
