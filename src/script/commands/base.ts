import { isCollection } from '../../config/value.ts';
import { type Command, defineCommand } from '../command.ts';
import { contains, displayValue, isSameValue, stringifyValue, testString, testStrings } from '../compare.ts';
import { isEmptyValue } from '../condition.ts';
import { lookUp, StepFailure } from '../step-context.ts';
import { runWithTimeLimit } from './time-limit.ts';

/** Maximum delay of a Node timer. */
const MAX_WAIT_MS = 2_147_483_647;

const save = defineCommand({
  group: 'base',
  name: 'save',
  summary: 'Saves a value in a variable',
  parameters: [
    { name: 'var', kind: 'dottedVariable', help: 'Variable to set, or the field of a profile' },
    { name: 'value', kind: 'value', help: 'Value to save; a single reference keeps its type' },
  ],
  example: 'base.save: [greeting, "Hello ${name}"]',
  run: (args, context) => context.set(args.var, args.value),
});

const clear = defineCommand({
  group: 'base',
  name: 'clear',
  summary: 'Removes variables; undefined variables are ignored',
  parameters: [{ name: 'vars', kind: 'names', help: 'Variables to remove' }],
  example: 'base.clear: "greeting, me"',
  run(args, context) {
    for (const name of args.vars) context.remove(name);
  },
});

const verbose = defineCommand({
  group: 'base',
  name: 'verbose',
  summary: 'Prints a value with secrets masked',
  parameters: [{ name: 'text', kind: 'value', help: 'Value to print; lists and maps are printed as JSON' }],
  example: 'base.verbose: "signed in as ${me.body.mail}"',
  run: ({ text }, context) => context.log(isCollection(text) ? displayValue(text) : stringifyValue(text)),
});

const assertEqual = defineCommand({
  group: 'base',
  name: 'assertEqual',
  summary: 'Asserts that two values are equal: scalars are compared as strings, lists and maps by value',
  parameters: [
    { name: 'expected', kind: 'value', help: 'Expected value' },
    { name: 'actual', kind: 'value', help: 'Actual value' },
  ],
  example: 'base.assertEqual: [Ada, "${me.body.givenName}"]',
  run({ expected, actual }) {
    if (!isSameValue(expected, actual)) throw new StepFailure('the values differ', { expected, actual });
  },
});

const assertNotEqual = defineCommand({
  group: 'base',
  name: 'assertNotEqual',
  summary: 'Asserts that two values differ',
  parameters: [
    { name: 'expected', kind: 'value', help: 'Value that is not expected' },
    { name: 'actual', kind: 'value', help: 'Actual value' },
  ],
  example: 'base.assertNotEqual: ["${before.access_token}", "${after.access_token}"]',
  run({ expected, actual }) {
    if (isSameValue(expected, actual)) throw new StepFailure('the values are equal', { actual });
  },
});

const assertContains = defineCommand({
  group: 'base',
  name: 'assertContains',
  summary: 'Asserts that a string contains a substring, or a list an item',
  parameters: [
    { name: 'text', kind: 'value', help: 'String or list to search' },
    { name: 'substring', kind: 'value', help: 'Expected substring or item' },
  ],
  example: 'base.assertContains: ["${me.body.mail}", "@contoso.com"]',
  run({ text, substring }) {
    if (!contains(text, substring))
      throw new StepFailure('does not contain the expected value', { expected: substring, actual: text });
  },
});

const assertNotContain = defineCommand({
  group: 'base',
  name: 'assertNotContain',
  summary: 'Asserts that a string does not contain a substring, or a list an item',
  parameters: [
    { name: 'text', kind: 'value', help: 'String or list to search' },
    { name: 'substring', kind: 'value', help: 'Substring or item that is not expected' },
  ],
  example: 'base.assertNotContain: ["${me.text}", "password"]',
  run({ text, substring }) {
    if (contains(text, substring)) {
      throw new StepFailure(`contains ${displayValue(substring)}`, { actual: text });
    }
  },
});

const assertStartsWith = defineCommand({
  group: 'base',
  name: 'assertStartsWith',
  summary: 'Asserts that a string starts with a prefix',
  parameters: [
    { name: 'text', kind: 'text', help: 'String to check' },
    { name: 'prefix', kind: 'text', help: 'Expected prefix' },
  ],
  example: 'base.assertStartsWith: ["${me.headers.content-type}", "application/json"]',
  run({ text, prefix }) {
    if (!testStrings(text, prefix, (whole, part) => whole.startsWith(part)))
      throw new StepFailure('does not start with the expected prefix', { expected: prefix, actual: text });
  },
});

const assertEndsWith = defineCommand({
  group: 'base',
  name: 'assertEndsWith',
  summary: 'Asserts that a string ends with a suffix',
  parameters: [
    { name: 'text', kind: 'text', help: 'String to check' },
    { name: 'suffix', kind: 'text', help: 'Expected suffix' },
  ],
  example: 'base.assertEndsWith: ["${me.body.mail}", "@contoso.com"]',
  run({ text, suffix }) {
    if (!testStrings(text, suffix, (whole, part) => whole.endsWith(part)))
      throw new StepFailure('does not end with the expected suffix', { expected: suffix, actual: text });
  },
});

const assertMatch = defineCommand({
  group: 'base',
  name: 'assertMatch',
  summary: 'Asserts that a regular expression matches a string or a part of it; use ^ and $ to match all of it',
  parameters: [
    { name: 'text', kind: 'value', help: 'String to check' },
    { name: 'regex', kind: 'regex', help: 'Regular expression' },
  ],
  example: 'base.assertMatch: ["${me.body.id}", "^[0-9a-f-]{36}$"]',
  run({ text, regex }) {
    if (
      !runWithTimeLimit('the regular expression', () => testString(stringifyValue(text), (whole) => regex.test(whole)))
    )
      throw new StepFailure('does not match the regular expression', { expected: regex.source, actual: text });
  },
});

const assertEmpty = defineCommand({
  group: 'base',
  name: 'assertEmpty',
  summary: 'Asserts that a value is null or an empty string, list or map',
  parameters: [{ name: 'text', kind: 'value', help: 'Value to check' }],
  example: 'base.assertEmpty: "${me.body.errors}"',
  run({ text }) {
    if (!isEmptyValue(text)) throw new StepFailure('is not empty', { actual: text });
  },
});

const assertNotEmpty = defineCommand({
  group: 'base',
  name: 'assertNotEmpty',
  summary: 'Asserts that a value is neither null nor an empty string, list or map',
  parameters: [{ name: 'text', kind: 'value', help: 'Value to check' }],
  example: 'base.assertNotEmpty: "${token.access_token}"',
  run({ text }) {
    if (isEmptyValue(text)) throw new StepFailure('is empty', { actual: text });
  },
});

const assertVarsPresent = defineCommand({
  group: 'base',
  name: 'assertVarsPresent',
  summary: 'Asserts that all variables are defined and not empty',
  parameters: [{ name: 'vars', kind: 'names', help: 'Variables, or members of them such as token.access_token' }],
  example: 'base.assertVarsPresent: "token, me.body"',
  run({ vars }, context) {
    const found = vars.map((name) => ({ name, value: lookUp(name.split('.'), context) }));
    const missing = found.filter(({ value }) => value === undefined).map(({ name }) => `${name} is not defined`);
    const empty = found
      .filter(({ value }) => value !== undefined && isEmptyValue(value))
      .map(({ name }) => `${name} is empty`);
    if (missing.length + empty.length > 0) throw new StepFailure([...missing, ...empty].join(', '));
  },
});

const waitFor = defineCommand({
  group: 'base',
  name: 'waitFor',
  summary: 'Waits for a number of milliseconds',
  parameters: [{ name: 'waitMs', kind: 'count', help: 'Time to wait, in milliseconds' }],
  example: 'base.waitFor: 500',
  async run({ waitMs }, { clock, signal }) {
    if (waitMs > MAX_WAIT_MS) throw new StepFailure(`waitMs must be at most ${MAX_WAIT_MS}`, { actual: waitMs });
    await clock.sleep(waitMs, signal);
  },
});

const failImmediate = defineCommand({
  group: 'base',
  name: 'failImmediate',
  summary: 'Fails the step and ends the script, even with continueOnFailure; only steps with always still run',
  parameters: [{ name: 'text', kind: 'value', help: 'Message of the failure' }],
  example: 'base.failImmediate: "the account ${name} is locked"',
  run({ text }) {
    throw new StepFailure(displayValue(text), { endsScript: true });
  },
});

/** The base commands. */
export const baseCommands: readonly Command[] = [
  save,
  clear,
  verbose,
  assertEqual,
  assertNotEqual,
  assertContains,
  assertNotContain,
  assertStartsWith,
  assertEndsWith,
  assertMatch,
  assertEmpty,
  assertNotEmpty,
  assertVarsPresent,
  waitFor,
  failImmediate,
];
