import assert from 'node:assert/strict';
import { InvalidScriptError } from '../../src/errors.ts';
import { ConditionSyntaxError, parseCondition } from '../../src/script/condition.ts';
import { readScript } from '../../src/script/parser/yaml.ts';
import type { Script } from '../../src/script/script.ts';
import { commandsOf, sampleRegistry, sampleSource } from '../script/sample-commands.ts';
import { callTwice, itHolds, printedForms, yamlTokens } from './mutated-input.ts';

const CANARY = 'c4n4ry0fTh3M1ne';
/** A line is truncated before it is escaped, and an escape has six characters. */
const MAX_EXCERPT = 1_000;

/** Replaces the commands of a script by their names. */
function comparable(script: Script) {
  const { steps: _, ...rest } = script;
  return { ...rest, steps: commandsOf(script).map(({ command, ...step }) => ({ ...step, command: command.name })) };
}

itHolds('parses any script, or reports issues inside the file without secrets', {
  runs: 30,
  seeds: [
    `version: 1\nname: Who am I\ndata:\n  graph.type: microsoft\n  graph.client_secret: ${CANARY}\nsteps:\n  - ws.get: ["https://x", "", me]\n    if: \${me.status} = 200 & true\n  - base.save: {var: a, value: "\${me.body}"}\n    continueOnFailure: true\n`,
    'steps:\n  - base.waitFor: 5\n    name: wait\n    always: true\n  - ws.oauth: [token, "https://x", {client_secret: "${env:S}"}]\n  - base.assertMatch: [a, "^a+$"]\n',
  ],
  tokens: [
    ...yamlTokens,
    ...[
      'steps:\n',
      '  - ',
      'ws.get: ',
      'base.verbose: hi',
      'base.note: []',
      'if: ',
      'always: true',
      'data:\n',
      'version: 2',
    ],
    ...['json.storeCount: [{}, "$.a", n]', 'number.assertBetween: [1, 2]', '${', 'ws.reset: ', 'base.clear: a,b'],
  ],
  check(input) {
    const { value, error } = callTwice(
      () => comparable(readScript(input, sampleSource, sampleRegistry).script),
      InvalidScriptError,
    );
    if (error === undefined) {
      assert.ok(value.steps.length > 0, 'a script without steps is accepted');
      return;
    }
    const { issues } = error as InvalidScriptError;
    assert.ok(issues.length > 0 && issues.length <= 100, 'there are no issues, or too many');
    const lines = input.split(/\r\n|\n|\r/).length;
    for (const { line = 1, column = 1, excerpt = '', caret = 0 } of issues) {
      assert.ok(line >= 1 && line <= lines + 1 && column >= 1, 'an issue is outside the file');
      assert.ok(caret >= 0 && caret <= MAX_EXCERPT, 'the caret is outside the line');
      assert.ok(excerpt.length <= MAX_EXCERPT, 'an excerpt is too long');
    }
    if (/^(?:(?!c4n4ry)[\s\S])*\n {2}graph\.client_secret: c4n4ry0fTh3M1ne\n(?:(?!c4n4ry)[\s\S])*$/.test(input)) {
      assert.ok(!printedForms(error).includes(CANARY), 'an issue contains a secret');
    }
  },
});

itHolds('parses any condition, or reports a position inside the input', {
  seeds: [
    '${me.status} = 200 & ${me.body.name} is not empty',
    '"a = b" contains \'c\' & true',
    'x matches ^a+$',
    'y is defined',
  ],
  tokens: [
    ' & ',
    ' = ',
    '!=',
    '<=',
    '>',
    ' contains ',
    ' matches ',
    ' is not empty',
    ' is defined',
    '"',
    "'",
    '${',
    '}',
    'false',
  ],
  check(input) {
    const { error } = callTwice(() => parseCondition(input), ConditionSyntaxError);
    if (error === undefined) return;
    const { offset } = error as ConditionSyntaxError;
    assert.ok(offset >= 0 && offset <= input.length, 'the position is outside the input');
  },
});
