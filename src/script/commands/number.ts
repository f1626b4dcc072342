import { commandGroup, parameter } from '../command.ts';
import { toNumber } from '../parameter-kinds.ts';
import { assertStep } from '../step-context.ts';

const number = commandGroup('number');
const num1 = parameter('num1', 'number', 'First number');
const num2 = parameter('num2', 'number', 'Second number');

/** The number commands. */
export const numberCommands = [
  number('assertEqual', 'Asserts that two numbers are equal; 1.0 equals 1', {
    parameters: [num1, num2],
    example: 'number.assertEqual: [3, "${count}"]',
    run: ({ num1, num2 }) => assertStep(num1 === num2, 'the numbers differ', { expected: num1, actual: num2 }),
  }),
  number('assertGreater', 'Asserts that the first number is greater than the second', {
    parameters: [num1, num2],
    example: 'number.assertGreater: ["${token.expires_in}", 300]',
    run: ({ num1, num2 }) =>
      assertStep(num1 > num2, 'the number is too small', { expected: `more than ${num2}`, actual: num1 }),
  }),
  number('assertLesser', 'Asserts that the first number is less than the second', {
    parameters: [num1, num2],
    example: 'number.assertLesser: ["${me.elapsedMs}", 2000]',
    run: ({ num1, num2 }) =>
      assertStep(num1 < num2, 'the number is too large', { expected: `less than ${num2}`, actual: num1 }),
  }),
  number('assertBetween', 'Asserts that a number is in a range; both bounds are included', {
    parameters: [
      parameter('num', 'number', 'Number to check'),
      parameter('minNum', 'number', 'Lower bound'),
      parameter('maxNum', 'number', 'Upper bound'),
    ],
    example: 'number.assertBetween: ["${me.status}", 200, 299]',
    run({ num, minNum, maxNum }) {
      const details = { expected: `from ${minNum} to ${maxNum}`, actual: num };
      assertStep(num >= minNum && num <= maxNum, 'the number is out of range', details);
    },
  }),
  number('increment', 'Adds to the number in a variable', {
    parameters: [
      parameter('var', 'variable', 'Variable that contains a number'),
      parameter('amount', 'number', 'Number to add; default: 1; negative to subtract', { optional: true }),
    ],
    example: 'number.increment: [count, 5]',
    run({ var: name, amount = 1 }, context) {
      const value = context.get(name);
      assertStep(value !== undefined, `${name} is not defined`, { hint: `set it first with base.save: [${name}, 0]` });
      const number = toNumber(value);
      assertStep(number !== undefined, `${name} is not a number`, { actual: value });
      const sum = addDecimals(number, amount);
      const isExact = [number, amount, sum].every((one) => Math.abs(one) <= Number.MAX_SAFE_INTEGER);
      assertStep(isExact, `${name} exceeds ${Number.MAX_SAFE_INTEGER}: larger numbers are not exact`);
      context.set(name, sum);
    },
  }),
];

/** Adds decimal numbers so that 0.1 + 0.2 is 0.3: the sum has no more decimals than its operands. */
function addDecimals(one: number, other: number): number {
  const decimals = Math.max(countDecimals(one), countDecimals(other));
  // `toFixed` supports at most 100 decimals.
  return decimals > 100 ? one + other : Number((one + other).toFixed(decimals));
}

function countDecimals(number: number): number {
  const [digits = '', exponent = '0'] = String(number).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}
