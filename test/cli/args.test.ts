import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/args.ts';
import { failureOf } from '../support/resolving.ts';

describe('an argument that is out of place', () => {
  it.each([
    [['--set=graph.client_secret=made-up-secret', 'token', 'graph'], 'there is no command --set'],
    [['graph.client_secret=made-up-secret'], 'there is no command graph.client_secret'],
    [['token', 'graph', 'graph.client_secret=made-up-secret'], 'unexpected argument graph.client_secret'],
    [['token', 'graph', '--st=graph.client_secret=made-up-secret'], 'there is no flag --st (did you mean --set?)'],
  ])('is named without its value, which may be a secret: %j', (args, message) => {
    expect(failureOf(() => parseCommandLine(args)).message).toBe(message);
  });

  it.each([
    [['token', ''], '<profile> is empty'],
    [['explain', ' \t'], '<profile> is empty'],
    [['exec', '', '--', 'true'], '<profile> is empty'],
    [['exec', 'graph', '--', ''], '<command…> is empty'],
  ])('is told if a shell has left nothing of it: %j', (args, message) => {
    expect(failureOf(() => parseCommandLine(args)).message).toBe(message);
  });
});
