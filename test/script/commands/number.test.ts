import { describe, expect, it } from 'vitest';
import { RawScalar } from '../../../src/config/value.ts';
import { toNumber } from '../../../src/script/parameter-kinds.ts';
import { runStep } from '../run-steps.ts';

type Row = readonly (string | number)[];

describe('number assertions', () => {
  it.each<[command: string, passing: readonly Row[], failing: readonly Row[]]>([
    [
      'assertEqual',
      [
        [1, '1.0'],
        ['1e3', 1000],
        ['-0', 0],
        [' 5 ', 5],
        ['${n}', 5],
      ],
      [
        [1, 2],
        ['0.1', '0.10001'],
      ],
    ],
    [
      'assertGreater',
      [
        [2, 1],
        ['10', '9'],
        [-1, -2],
      ],
      [
        [1, 1],
        ['9', '10'],
      ],
    ],
    [
      'assertLesser',
      [
        [1, 2],
        ['9', '10'],
      ],
      [
        [1, 1],
        ['10', '9'],
      ],
    ],
    [
      'assertBetween',
      [
        [1, 1, 3],
        [3, 1, 3],
        ['2.5', 1, 3],
      ],
      [
        [0.999, 1, 3],
        [3.001, 1, 3],
        [2, 3, 1],
      ],
    ],
  ])('%s', async (command, passing, failing) => {
    const state = async (row: Row): Promise<string> =>
      (await runStep([`number.${command}`, row], { data: { n: 5 } })).step.state;
    for (const row of passing) expect([row, await state(row)]).toEqual([row, 'passed']);
    for (const row of failing) expect([row, await state(row)]).toEqual([row, 'failed']);
  });

  it.each(['', 'abc', '1,5', '0x10', '1 2', 'NaN', 'Infinity', '--1', '.', 'e5', true, null, [1]])(
    'reject %j as a number',
    async (value) => {
      const { step } = await runStep(['number.assertEqual', [value, 1]]);
      expect(step.failure?.message).toContain('num1');
    },
  );

  it('report the expected range', async () => {
    const { step } = await runStep(['number.assertBetween', [404, 200, 299]]);
    expect(step.failure).toMatchObject({ expected: 'from 200 to 299', actual: '404' });
  });

  it('parse a long string of digits in linear time', () => {
    // Quadratic backtracking over half a million digits would take hours.
    expect(toNumber(`${'1'.repeat(500_000)}x`)).toBeUndefined();
    expect(toNumber(`1.${'1'.repeat(500_000)}x`)).toBeUndefined();
  });
});

describe('number.increment', () => {
  it.each<[from: string | number | RawScalar, amount: readonly (string | number)[], to: number]>([
    [1, [], 2],
    ['41', [], 42],
    [1, [-3], -2],
    [0.1, [0.2], 0.3],
    ['1.005', ['0.01'], 1.015],
    [1.1, [2.2], 3.3],
    [0.3, [-0.1], 0.2],
    [1e-7, [2e-7], 3e-7],
    [1e-200, [1e-200], 2e-200],
    [new RawScalar('007', 7), [], 8],
    [9007199254740990, [], 9007199254740991],
    [0, ['1e3'], 1000],
  ])('%j plus %j is %j', async (from, amount, to) => {
    const data = { n: from as string };
    expect((await runStep(['number.increment', ['n', ...amount]], { data })).saved('n')).toBe(to);
  });

  it.each<[value: unknown, message: string]>([
    [undefined, 'not defined'],
    ['many', 'not a number'],
    ['', 'not a number'],
    [[1], 'not a number'],
    [true, 'not a number'],
    [9007199254740991, 'not exact'],
    ['12345678901234567890', 'not exact'],
    ['1e999', 'not exact'],
  ])('rejects %j and does not change the variable', async (value, message) => {
    const data = value === undefined ? {} : { n: value as string };
    const { step, saved } = await runStep(['number.increment', ['n', 1]], { data });
    expect(step.failure?.message).toContain(message);
    expect(saved('n')).toEqual(value);
  });
});
