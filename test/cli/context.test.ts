import { expect, it } from 'vitest';
import { type Context, logVerbose, warn } from '../../src/cli/context.ts';
import { renderError } from '../../src/cli/render-error.ts';
import { styleFor } from '../../src/cli/style.ts';

const hostile = 'a\u001b[2J\u009b31m\u202e\nb';

it.each<[string, (context: Context) => void]>([
  ['a warning', (context) => warn(context, hostile)],
  ['a line of --verbose', (context) => logVerbose(context, hostile)],
  ['the stack of an internal error', (context) => void renderError(new Error(hostile), context)],
])('%s contains no control characters of an external string', (_, print) => {
  let printed = '';
  const style = styleFor({ isTerminal: false }, {});
  const context = {
    terminal: {
      style: { out: style, err: style },
      stderr(text: string) {
        printed += text;
      },
    },
    args: { positionals: [], command: [], switches: new Set(['verbose']), values: new Map() },
  };
  print(context as unknown as Context);
  expect(printed).toContain('a\\u001b[2J\\u009b31m\\u202e');
  expect(printed).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});
