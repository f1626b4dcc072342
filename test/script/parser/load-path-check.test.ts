import { describe, expect, it } from 'vitest';
import { loadPathCheck } from '../../../src/script/parser/load-path-check.ts';
import { readScript } from '../../../src/script/parser/yaml.ts';
import { faultsOf, sampleRegistry, sampleSource } from '../../support/sample-commands.ts';

const issues = async (path: string) => {
  const text = `steps:\n  - json.storeCount: [a, ${JSON.stringify(path)}, x]`;
  const check = await loadPathCheck(text, sampleRegistry);
  return () => readScript(text, sampleSource, sampleRegistry, check);
};

describe('JSON paths', () => {
  it.each(['a', '$', '$.a', 'a.b[0]', '[0]', "$..book[?@.price<10]['title']", '${path}', '$.a[${i}]'])(
    'may be %s',
    async (path) => {
      expect((await issues(path))().steps).toHaveLength(1);
    },
  );

  it.each(['$..[', 'a..', 'a[', '$.a[?', 'a b', '$[?nothing(@)]'])(
    'such as %s are refused before anything runs',
    async (path) => {
      expect(faultsOf(await issues(path))).toEqual([
        expect.objectContaining({
          line: 2,
          column: 26,
          message: expect.stringMatching(/^jsonpath is no JSON path: \S/),
        }),
      ]);
    },
  );

  it('are not looked at where no command takes one', async () => {
    expect(await loadPathCheck('steps:\n  - ws.reset:', sampleRegistry)).toBeUndefined();
  });
});
