import { isCollection } from '../../config/value.ts';
import { commandGroup, parameter } from '../command.ts';
import { contains, displayValue, isSameValue, stringifyValue, testString, testStrings } from '../compare.ts';
import { isEmptyValue } from '../condition.ts';
import { assertStep, lookUp, StepFailure } from '../step-context.ts';
import { testPattern } from '../time-limit.ts';

/** Maximum delay of a Node timer. */
const MAX_WAIT_MS = 2_147_483_647;

const base = commandGroup('base');
const actualValue = parameter('actual', 'value', 'Actual value');
const searched = parameter('text', 'value', 'String or list to search');
const checkedString = parameter('text', 'text', 'String to check');
const checkedValue = parameter('text', 'value', 'Value to check');

/** The base commands. */
export const baseCommands = [
  base('save', 'Saves a value in a variable', {
    parameters: [
      parameter('var', 'dottedVariable', 'Variable to set, or the field of a profile'),
      parameter('value', 'value', 'Value to save; a single reference keeps its type'),
    ],
    example: 'base.save: [greeting, "Hello ${name}"]',
    run: (args, context) => context.set(args.var, args.value),
  }),
  base('clear', 'Removes variables; undefined variables are ignored', {
    parameters: [parameter('vars', 'names', 'Variables to remove')],
    example: 'base.clear: "greeting, me"',
    run(args, context) {
      for (const name of args.vars) context.remove(name);
    },
  }),
  base('verbose', 'Prints a value with secrets masked', {
    parameters: [parameter('text', 'value', 'Value to print; lists and maps are printed as JSON')],
    example: 'base.verbose: "signed in as ${me.body.mail}"',
    run: ({ text }, context) => context.log(isCollection(text) ? displayValue(text) : stringifyValue(text)),
  }),
  base('assertEqual', 'Asserts that two values are equal: scalars are compared as strings, lists and maps by value', {
    parameters: [parameter('expected', 'value', 'Expected value'), actualValue],
    example: 'base.assertEqual: [Ada, "${me.body.givenName}"]',
    run: ({ expected, actual }) => assertStep(isSameValue(expected, actual), 'the values differ', { expected, actual }),
  }),
  base('assertNotEqual', 'Asserts that two values differ', {
    parameters: [parameter('expected', 'value', 'Value that is not expected'), actualValue],
    example: 'base.assertNotEqual: ["${before.access_token}", "${after.access_token}"]',
    run: ({ expected, actual }) => assertStep(!isSameValue(expected, actual), 'the values are equal', { actual }),
  }),
  base('assertContains', 'Asserts that a string contains a substring, or a list an item', {
    parameters: [searched, parameter('substring', 'value', 'Expected substring or item')],
    example: 'base.assertContains: ["${me.body.mail}", "@contoso.com"]',
    run({ text, substring }) {
      const details = { expected: substring, actual: text };
      assertStep(contains(text, substring), 'does not contain the expected value', details);
    },
  }),
  base('assertNotContain', 'Asserts that a string does not contain a substring, or a list an item', {
    parameters: [searched, parameter('substring', 'value', 'Substring or item that is not expected')],
    example: 'base.assertNotContain: ["${me.text}", "password"]',
    run: ({ text, substring }) =>
      assertStep(!contains(text, substring), `contains ${displayValue(substring)}`, { actual: text }),
  }),
  base('assertStartsWith', 'Asserts that a string starts with a prefix', {
    parameters: [checkedString, parameter('prefix', 'text', 'Expected prefix')],
    example: 'base.assertStartsWith: ["${me.headers.content-type}", "application/json"]',
    run({ text, prefix }) {
      const isPrefix = testStrings(text, prefix, (whole, part) => whole.startsWith(part));
      assertStep(isPrefix, 'does not start with the expected prefix', { expected: prefix, actual: text });
    },
  }),
  base('assertEndsWith', 'Asserts that a string ends with a suffix', {
    parameters: [checkedString, parameter('suffix', 'text', 'Expected suffix')],
    example: 'base.assertEndsWith: ["${me.body.mail}", "@contoso.com"]',
    run({ text, suffix }) {
      const isSuffix = testStrings(text, suffix, (whole, part) => whole.endsWith(part));
      assertStep(isSuffix, 'does not end with the expected suffix', { expected: suffix, actual: text });
    },
  }),
  base(
    'assertMatch',
    'Asserts that a regular expression matches a string or a part of it; use ^ and $ to match all of it',
    {
      parameters: [parameter('text', 'value', 'String to check'), parameter('regex', 'regex', 'Regular expression')],
      example: 'base.assertMatch: ["${me.body.id}", "^[0-9a-f-]{36}$"]',
      run({ text, regex }) {
        const isMatch = testString(stringifyValue(text), (whole) => testPattern(regex, whole));
        assertStep(isMatch, 'does not match the regular expression', { expected: regex.source, actual: text });
      },
    },
  ),
  base('assertEmpty', 'Asserts that a value is null or an empty string, list or map', {
    parameters: [checkedValue],
    example: 'base.assertEmpty: "${me.body.errors}"',
    run: ({ text }) => assertStep(isEmptyValue(text), 'is not empty', { actual: text }),
  }),
  base('assertNotEmpty', 'Asserts that a value is neither null nor an empty string, list or map', {
    parameters: [checkedValue],
    example: 'base.assertNotEmpty: "${token.access_token}"',
    run: ({ text }) => assertStep(!isEmptyValue(text), 'is empty', { actual: text }),
  }),
  base('assertVarsPresent', 'Asserts that all variables are defined and not empty', {
    parameters: [parameter('vars', 'names', 'Variables, or members of them such as token.access_token')],
    example: 'base.assertVarsPresent: "token, me.body"',
    run({ vars }, context) {
      const found = vars.map((name) => ({ name, value: lookUp(name.split('.'), context) }));
      const missing = found.filter(({ value }) => value === undefined).map(({ name }) => `${name} is not defined`);
      const empty = found.filter(({ value }) => value !== undefined && isEmptyValue(value));
      const problems = [...missing, ...empty.map(({ name }) => `${name} is empty`)];
      assertStep(problems.length === 0, problems.join(', '));
    },
  }),
  base('waitFor', 'Waits for a number of milliseconds', {
    parameters: [parameter('waitMs', 'count', 'Time to wait, in milliseconds')],
    example: 'base.waitFor: 500',
    async run({ waitMs }, { clock, signal }) {
      assertStep(waitMs <= MAX_WAIT_MS, `waitMs must be at most ${MAX_WAIT_MS}`, { actual: waitMs });
      await clock.sleep(waitMs, signal);
    },
  }),
  base(
    'failImmediate',
    'Fails the step and ends the script, even with continueOnFailure; only steps with always still run',
    {
      parameters: [parameter('text', 'value', 'Message of the failure')],
      example: 'base.failImmediate: "the account ${name} is locked"',
      run({ text }) {
        throw new StepFailure(displayValue(text), { endsScript: true });
      },
    },
  ),
];
