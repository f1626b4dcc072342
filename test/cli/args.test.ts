import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/args.ts';
import { failureOf } from '../support/errors.ts';

describe('parseCommandLine()', () => {
  it('returns positional arguments, switches and values', () => {
    const line = ['run', 'a.yaml', '--data', 'x.yaml', '--data=y.env', '--json', '--emulate', '--', '--quiet'];
    expect(parseCommandLine(line)).toMatchObject({
      kind: 'run',
      command: { name: 'run' },
      args: {
        positionals: ['a.yaml', '--quiet'],
        switches: new Set(['json', 'emulate']),
        values: new Map([['data', ['x.yaml', 'y.env']]]),
      },
    });
  });

  it('leaves the arguments after -- as they are', () => {
    expect(parseCommandLine(['exec', 'graph', '--', 'cmd', '--data', '--set', 'x'])).toMatchObject({
      args: { positionals: ['graph', 'cmd', '--data', '--set', 'x'] },
    });
  });

  it.each([
    [['--help'], { kind: 'help', command: undefined }],
    [['help', 'token'], { kind: 'help', command: { name: 'token' } }],
    [['token', '--help'], { kind: 'help', command: { name: 'token' } }],
    [['exec', 'graph', '-h', '--', 'ls'], { kind: 'help', command: { name: 'exec' } }],
    [['exec', 'graph', '--', 'ls', '--help'], { kind: 'run', command: { name: 'exec' } }],
    [['--version'], { kind: 'version' }],
  ])('recognises %j', (args, expected) => {
    expect(parseCommandLine(args)).toMatchObject(expected);
  });

  it.each([
    [['--set=graph.client_secret=made-up-secret', 'token', 'graph'], '--set'],
    [['graph.client_secret=made-up-secret'], 'graph.client_secret'],
    [['token', 'graph', 'graph.client_secret=made-up-secret'], 'graph.client_secret'],
    [['token', 'graph', '--st=graph.client_secret=made-up-secret'], '--st'],
  ])('does not show the value of a misplaced argument, which may be a secret: %j', (args, shown) => {
    const { code, message } = failureOf(() => parseCommandLine(args));
    expect(code).toBe('usage');
    expect(message).toContain(shown);
    expect(message).not.toContain('made-up-secret');
  });

  it.each([
    [['--verbose', 'token', 'graph'], '--verbose is before the command'],
    [['-q', 'token', 'graph'], '-q is before the command'],
    [['token', 'graph', '--emulate', 'http://127.0.0.1:8400'], 'write --emulate=http://127.0.0.1:8400 in one word'],
    [['token', '--emulate', 'http://localhost:8400', 'graph'], 'write --emulate=http://localhost:8400 in one word'],
  ])('explains where flags and their values belong: %j', (args, message) => {
    expect(failureOf(() => parseCommandLine(args))).toMatchObject({ code: 'usage', message });
  });

  it.each([
    [['token', ''], '<profile> is empty'],
    [['explain', ' \t'], '<profile> is empty'],
    [['exec', '', '--', 'true'], '<profile…> is empty'],
    [['exec', 'graph', '--', ''], '<command…> is empty'],
  ])('reports an empty argument, which a shell passes for an unset variable: %j', (args, message) => {
    expect(failureOf(() => parseCommandLine(args))).toMatchObject({ code: 'usage', message });
  });
});
