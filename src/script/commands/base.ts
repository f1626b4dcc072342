import { isCollection } from '../../config/value.ts';
import { type Command, defineCommand } from '../command.ts';
import { display, textValue } from '../compare.ts';
import { StepFailure } from '../step-failure.ts';
import { baseAssertions } from './base-assertions.ts';

/** The longest time that a timer can count. */
const MAX_WAIT_MS = 2_147_483_647;

const save = defineCommand({
  group: 'base',
  name: 'save',
  summary: 'Saves a value in a variable',
  parameters: [
    { name: 'var', kind: 'dottedVariable', help: 'The variable to write, or the field of a profile' },
    { name: 'value', kind: 'value', help: 'What to save; a reference that stands alone keeps its type' },
  ],
  example: 'base.save: [greeting, "Hello ${name}"]',
  run: (args, context) => context.set(args.var, args.value),
});

const clear = defineCommand({
  group: 'base',
  name: 'clear',
  summary: 'Removes variables; those that are not defined are passed over',
  parameters: [{ name: 'vars', kind: 'names', help: 'The variables to remove' }],
  example: 'base.clear: "greeting, me"',
  run(args, context) {
    for (const name of args.vars) context.remove(name);
  },
});

const verbose = defineCommand({
  group: 'base',
  name: 'verbose',
  summary: 'Prints a text, secrets masked',
  parameters: [{ name: 'text', kind: 'value', help: 'What to print; what has parts is printed as JSON' }],
  example: 'base.verbose: "signed in as ${me.body.mail}"',
  run: ({ text }, context) => context.say(isCollection(text) ? display(text) : textValue(text)),
});

const waitFor = defineCommand({
  group: 'base',
  name: 'waitFor',
  summary: 'Waits',
  parameters: [{ name: 'waitMs', kind: 'count', help: 'How long, in milliseconds' }],
  example: 'base.waitFor: 500',
  async run({ waitMs }, { clock, signal }) {
    if (waitMs > MAX_WAIT_MS) throw new StepFailure(`waitMs must be at most ${MAX_WAIT_MS}`, { actual: waitMs });
    await clock.sleep(waitMs, signal);
  },
});

const failImmediate = defineCommand({
  group: 'base',
  name: 'failImmediate',
  summary: 'Fails and ends the script, even with continueOnFailure; only steps marked always still run',
  parameters: [{ name: 'text', kind: 'value', help: 'Why' }],
  example: 'base.failImmediate: "the account ${name} is locked"',
  run({ text }) {
    throw new StepFailure(display(text), { endsScript: true });
  },
});

/** The commands of the group base. */
export const baseCommands: readonly Command[] = [save, clear, verbose, ...baseAssertions, waitFor, failImmediate];
