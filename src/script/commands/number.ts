import { type Command, defineCommand } from '../command.ts';
import { numberOf } from '../parameter-kinds.ts';
import { StepFailure } from '../step-failure.ts';

const two = [
  { name: 'num1', kind: 'number', help: 'The one number' },
  { name: 'num2', kind: 'number', help: 'The other number' },
] as const;

const assertEqual = defineCommand({
  group: 'number',
  name: 'assertEqual',
  summary: 'Passes when both numbers are equal, however they are written: 1.0 equals 1',
  parameters: two,
  example: 'number.assertEqual: [3, "${count}"]',
  run({ num1, num2 }) {
    if (num1 !== num2) throw new StepFailure('the numbers differ', { expected: num1, actual: num2 });
  },
});

const assertGreater = defineCommand({
  group: 'number',
  name: 'assertGreater',
  summary: 'Passes when the first number is greater than the second',
  parameters: two,
  example: 'number.assertGreater: ["${token.expires_in}", 300]',
  run({ num1, num2 }) {
    if (!(num1 > num2))
      throw new StepFailure('the number is too small', { expected: `more than ${num2}`, actual: num1 });
  },
});

const assertLesser = defineCommand({
  group: 'number',
  name: 'assertLesser',
  summary: 'Passes when the first number is less than the second',
  parameters: two,
  example: 'number.assertLesser: ["${me.elapsedMs}", 2000]',
  run({ num1, num2 }) {
    if (!(num1 < num2))
      throw new StepFailure('the number is too great', { expected: `less than ${num2}`, actual: num1 });
  },
});

const assertBetween = defineCommand({
  group: 'number',
  name: 'assertBetween',
  summary: 'Passes when a number lies between two others, or is one of them',
  parameters: [
    { name: 'num', kind: 'number', help: 'The number' },
    { name: 'minNum', kind: 'number', help: 'The least that it may be' },
    { name: 'maxNum', kind: 'number', help: 'The most that it may be' },
  ],
  example: 'number.assertBetween: ["${me.status}", 200, 299]',
  run({ num, minNum, maxNum }) {
    if (num >= minNum && num <= maxNum) return;
    throw new StepFailure('the number lies outside', { expected: `from ${minNum} to ${maxNum}`, actual: num });
  },
});

const increment = defineCommand({
  group: 'number',
  name: 'increment',
  summary: 'Adds to the number in a variable',
  parameters: [
    { name: 'var', kind: 'variable', help: 'The variable; it must hold a number' },
    { name: 'amount', kind: 'number', help: 'How much to add, 1 if left out; less than 0 to subtract', optional: true },
  ],
  example: 'number.increment: [count, 5]',
  run({ var: name, amount = 1 }, context) {
    const value = context.get(name);
    if (value === undefined) {
      throw new StepFailure(`${name} is not defined`, { hint: `begin with base.save: [${name}, 0]` });
    }
    const number = numberOf(value);
    if (number === undefined) throw new StepFailure(`${name} is not a number`, { actual: value });
    const sum = addDecimals(number, amount);
    if ([number, amount, sum].some((one) => !(Math.abs(one) <= Number.MAX_SAFE_INTEGER))) {
      throw new StepFailure(`${name} is beyond ${Number.MAX_SAFE_INTEGER}, where numbers are no longer exact`);
    }
    context.set(name, sum);
  },
});

/** 0.1 + 0.2 is 0.3: a sum has no more decimals than its parts. */
function addDecimals(one: number, other: number): number {
  const decimals = Math.max(decimalsOf(one), decimalsOf(other));
  // `toFixed` counts up to 100; what is smaller is no sum that somebody wrote down.
  return decimals > 100 ? one + other : Number((one + other).toFixed(decimals));
}

function decimalsOf(number: number): number {
  const [digits = '', exponent = '0'] = String(number).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}

/** The commands of the group number. */
export const numberCommands: readonly Command[] = [assertEqual, assertGreater, assertLesser, assertBetween, increment];
