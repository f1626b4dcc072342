import { type Command, defineCommand } from '../command.ts';
import { contains, display, sameValue, textValue, withValue, withValues } from '../compare.ts';
import { isBlank } from '../condition.ts';
import { StepFailure } from '../step-failure.ts';
import { runWithTimeLimit } from './bounded.ts';
import { lookUp } from './look-up.ts';

const assertEqual = defineCommand({
  group: 'base',
  name: 'assertEqual',
  summary: 'Passes when both values are equal: texts and numbers as text, lists and maps part by part',
  parameters: [
    { name: 'expected', kind: 'value', help: 'What it should be' },
    { name: 'actual', kind: 'value', help: 'What it is' },
  ],
  example: 'base.assertEqual: [Ada, "${me.body.givenName}"]',
  run({ expected, actual }) {
    if (!sameValue(expected, actual)) throw new StepFailure('the values differ', { expected, actual });
  },
});

const assertNotEqual = defineCommand({
  group: 'base',
  name: 'assertNotEqual',
  summary: 'Passes when the values differ',
  parameters: [
    { name: 'expected', kind: 'value', help: 'What it should not be' },
    { name: 'actual', kind: 'value', help: 'What it is' },
  ],
  example: 'base.assertNotEqual: ["${before.access_token}", "${after.access_token}"]',
  run({ expected, actual }) {
    if (sameValue(expected, actual)) throw new StepFailure('the values are equal', { actual });
  },
});

const assertContains = defineCommand({
  group: 'base',
  name: 'assertContains',
  summary: 'Passes when a text contains another, or a list an item',
  parameters: [
    { name: 'text', kind: 'value', help: 'The text or list to look into' },
    { name: 'substring', kind: 'value', help: 'What it should contain' },
  ],
  example: 'base.assertContains: ["${me.body.mail}", "@contoso.com"]',
  run({ text, substring }) {
    if (!contains(text, substring))
      throw new StepFailure('does not contain what it should', { expected: substring, actual: text });
  },
});

const assertNotContain = defineCommand({
  group: 'base',
  name: 'assertNotContain',
  summary: 'Passes when a text does not contain another, or a list an item',
  parameters: [
    { name: 'text', kind: 'value', help: 'The text or list to look into' },
    { name: 'substring', kind: 'value', help: 'What it should not contain' },
  ],
  example: 'base.assertNotContain: ["${me.text}", "password"]',
  run({ text, substring }) {
    if (contains(text, substring)) {
      throw new StepFailure(`contains what it should not: ${display(substring)}`, { actual: text });
    }
  },
});

const assertStartsWith = defineCommand({
  group: 'base',
  name: 'assertStartsWith',
  summary: 'Passes when a text starts with another',
  parameters: [
    { name: 'text', kind: 'text', help: 'The text' },
    { name: 'prefix', kind: 'text', help: 'What it should start with' },
  ],
  example: 'base.assertStartsWith: ["${me.headers.content-type}", "application/json"]',
  run({ text, prefix }) {
    if (!withValues(text, prefix, (whole, part) => whole.startsWith(part)))
      throw new StepFailure('does not start with what it should', { expected: prefix, actual: text });
  },
});

const assertEndsWith = defineCommand({
  group: 'base',
  name: 'assertEndsWith',
  summary: 'Passes when a text ends with another',
  parameters: [
    { name: 'text', kind: 'text', help: 'The text' },
    { name: 'suffix', kind: 'text', help: 'What it should end with' },
  ],
  example: 'base.assertEndsWith: ["${me.body.mail}", "@contoso.com"]',
  run({ text, suffix }) {
    if (!withValues(text, suffix, (whole, part) => whole.endsWith(part)))
      throw new StepFailure('does not end with what it should', { expected: suffix, actual: text });
  },
});

const assertMatch = defineCommand({
  group: 'base',
  name: 'assertMatch',
  summary: 'Passes when a regular expression finds something in a text; ^ and $ tie it to all of it',
  parameters: [
    { name: 'text', kind: 'value', help: 'The text' },
    { name: 'regex', kind: 'regex', help: 'The regular expression, as in JavaScript with the flag u' },
  ],
  example: 'base.assertMatch: ["${me.body.id}", "^[0-9a-f-]{36}$"]',
  run({ text, regex }) {
    if (!runWithTimeLimit('the regular expression', () => withValue(textValue(text), (whole) => regex.test(whole))))
      throw new StepFailure('does not match the regular expression', { expected: regex.source, actual: text });
  },
});

const assertEmpty = defineCommand({
  group: 'base',
  name: 'assertEmpty',
  summary: 'Passes when a value is nothing, an empty text, list or map',
  parameters: [{ name: 'text', kind: 'value', help: 'The value' }],
  example: 'base.assertEmpty: "${me.body.errors}"',
  run({ text }) {
    if (!isBlank(text)) throw new StepFailure('is not empty', { actual: text });
  },
});

const assertNotEmpty = defineCommand({
  group: 'base',
  name: 'assertNotEmpty',
  summary: 'Passes when a value is more than nothing, an empty text, list or map',
  parameters: [{ name: 'text', kind: 'value', help: 'The value' }],
  example: 'base.assertNotEmpty: "${token.access_token}"',
  run({ text }) {
    if (isBlank(text)) throw new StepFailure('is empty', { actual: text });
  },
});

const assertVarsPresent = defineCommand({
  group: 'base',
  name: 'assertVarsPresent',
  summary: 'Passes when all variables are defined and not empty',
  parameters: [{ name: 'vars', kind: 'names', help: 'The variables, or parts of them such as token.access_token' }],
  example: 'base.assertVarsPresent: "token, me.body"',
  run({ vars }, context) {
    const found = vars.map((name) => ({ name, value: lookUp(name.split('.'), context) }));
    const missing = found.filter(({ value }) => value === undefined).map(({ name }) => `${name} is not defined`);
    const empty = found
      .filter(({ value }) => value !== undefined && isBlank(value))
      .map(({ name }) => `${name} is empty`);
    if (missing.length + empty.length > 0) throw new StepFailure([...missing, ...empty].join(', '));
  },
});

/** The assertions of the group base. */
export const baseAssertions: readonly Command[] = [
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
];
