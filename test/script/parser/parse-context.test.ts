import { describe, expect, it } from 'vitest';
import { loadPathCheck } from '../../../src/script/parser/parse-context.ts';
import { readScript } from '../../../src/script/parser/yaml.ts';
import { issuesOf, sampleRegistry, sampleSource } from '../sample-commands.ts';

const issues = async (path: string) => {
  const text = `steps:\n  - json.storeCount: [a, ${JSON.stringify(path)}, x]`;
  const check = await loadPathCheck(text, sampleRegistry);
  return () => readScript(text, sampleSource, sampleRegistry, check);
};

describe('A JSONPath parameter', () => {
  it.each(['a', '$', '$.a', 'a.b[0]', '[0]', "$..book[?@.price<10]['title']", '${path}', '$.a[${i}]'])(
    'can be %s',
    async (path) => {
      expect((await issues(path))().script.steps).toHaveLength(1);
    },
  );

  it.each(['$..[', 'a..', 'a[', '$.a[?', 'a b', '$[?nothing(@)]'])(
    'is rejected before the script runs: %s',
    async (path) => {
      expect(issuesOf(await issues(path))).toEqual([
        expect.objectContaining({
          line: 2,
          column: 26,
          message: expect.stringMatching(/^jsonpath is not a valid JSONPath: \S/),
        }),
      ]);
    },
  );

  it('is not checked if the script has none', async () => {
    expect(await loadPathCheck('steps:\n  - ws.reset:', sampleRegistry)).toBeUndefined();
  });
});
