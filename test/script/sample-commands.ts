import type { Source } from '../../src/config/variables.ts';
import { InvalidScriptError, type ScriptIssue } from '../../src/errors.ts';
import { type Command, defineCommand, type Parameter, Registry } from '../../src/script/command.ts';
import { allSteps, type CommandStep, type Script } from '../../src/script/script.ts';

const command = (name: string, ...parameters: Parameter[]): Command => {
  const [group = '', short = ''] = name.split('.');
  const example = `${name}: []`;
  return defineCommand({ group, name: short, summary: `Does ${short}`, parameters, example, run() {} });
};
const parameter = (name: string, kind: Parameter['kind'], more: Partial<Parameter> = {}): Parameter => {
  return { name, kind, help: `The ${name}`, ...more };
};
const optional = { optional: true };

/** A registry with a command for each kind and arrangement of parameters. */
export const sampleRegistry = new Registry([
  command(
    'ws.get',
    parameter('url', 'text'),
    parameter('queryString', 'text', { optionalInMap: true }),
    parameter('var', 'variable'),
    parameter('options', 'map', optional),
  ),
  command('ws.header', parameter('name', 'text'), parameter('value', 'text', { secret: true })),
  command('ws.jwtParse', parameter('var', 'variable'), parameter('token', 'text')),
  command('ws.oauth', parameter('var', 'variable'), parameter('url', 'text'), parameter('auth', 'map')),
  command('ws.reset'),
  command('base.save', parameter('var', 'dottedVariable'), parameter('value', 'value')),
  command('base.clear', parameter('vars', 'names')),
  command('base.verbose', parameter('text', 'value')),
  command('base.waitFor', parameter('waitMs', 'count')),
  command('base.assertMatch', parameter('text', 'text'), parameter('regex', 'regex')),
  command('base.note', parameter('text', 'text', optional), parameter('loud', 'flag', optional)),
  command(
    'json.storeCount',
    parameter('json', 'value'),
    parameter('jsonpath', 'jsonpath'),
    parameter('var', 'variable'),
  ),
  command('number.assertBetween', parameter('num', 'number'), parameter('minNum', 'number')),
]);

/** Source of the scripts in tests. */
export const sampleSource: Source = { label: 'tests/me.yaml', directory: '/work/tests', trust: 'given' };

/** Returns the issues that a function reports; throws if it reports none. */
export function issuesOf(read: () => unknown): readonly ScriptIssue[] {
  try {
    read();
  } catch (error) {
    if (error instanceof InvalidScriptError) return error.issues;
    throw error;
  }
  throw new Error('no issue was reported');
}

/** Returns the commands of a script in order. */
export function commandsOf(script: Script): CommandStep[] {
  return [...allSteps(script)].filter((step) => 'command' in step);
}
