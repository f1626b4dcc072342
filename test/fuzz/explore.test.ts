import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Coverage } from './coverage.ts';
import { explore, findGrowth } from './explore.ts';
import { shrink } from './shrink.ts';
import type { Target } from './target.ts';

const FILE = 'planted.js';
const MAX_EXECUTIONS = 10_000;
const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
let coverage: Coverage;

beforeAll(() => {
  coverage = new Coverage((url) => url === FILE);
});
afterAll(() => coverage.close());

/** A parser with a fault, compiled when it is already being watched. */
function planted(body: string, seeds = ['abc']): Target {
  const check = runInThisContext(`void 0, (input) => { ${body} }`, { filename: FILE });
  return { name: 'planted', seeds, tokens: letters, check };
}

const hidden = `if (input[0] === 'K') { if (input[1] === 'e') { if (input[2] === 'y') throw new RangeError('found'); } }`;
const search = { seed: 1, goesOn: (executions: number) => executions < MAX_EXECUTIONS };

describe('the search', () => {
  it('finds what lies behind several decisions by keeping the inputs that came further, and makes it small', async () => {
    const { failure, corpus } = await explore(planted(hidden), { ...search, coverage });
    expect(failure).toMatchObject({ input: 'Key', error: { message: 'found' } });
    expect(corpus.some((input) => /^K(?!e)/.test(input)) && corpus.some((input) => /^Ke/.test(input))).toBe(true);
  });

  it('does not find it by chance alone', async () => {
    expect(await explore(planted(hidden), search)).toMatchObject({ failure: undefined, corpus: ['abc'] });
  });

  it('tries the same inputs for the same seed, and others for another', async () => {
    const inputs = async (seed: number): Promise<string[]> => {
      const seen: string[] = [];
      await explore(planted(''), { seed, goesOn: (count) => count < 50, beforeEach: (input) => seen.push(input) });
      return seen;
    };
    expect(await inputs(1)).toEqual(await inputs(1));
    expect(await inputs(1)).not.toEqual(await inputs(2));
  });

  it('tells work that grows by the square from work that grows with the length', async () => {
    const loop = 'for (let i = 0; i < input.length; i++)';
    const found = await findGrowth(
      planted(`let n = 0; ${loop} ${loop.replaceAll('i', 'j').replace('jnput', 'input')} n++;`),
      coverage,
    );
    expect(found).toMatchObject({ input: 'abc', problem: expect.stringContaining('times the work') });
    expect(await findGrowth(planted(`let n = 0; ${loop} n++;`), coverage)).toBeUndefined();
  });
});

describe('a failing input', () => {
  it('is made as small as it can be', async () => {
    const fails = async (text: string): Promise<boolean> => text.includes('<') && text.includes('>');
    expect(await shrink('some <b>long</b> text', fails)).toBe('<>');
  });

  it('is left as it is when there are no tries left', async () => {
    expect(await shrink('abcdef', async () => true, 0)).toBe('abcdef');
  });
});
