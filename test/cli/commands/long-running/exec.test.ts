import { describe, expect, it } from 'vitest';
import { useCliFixture } from '../../../support/cli.ts';

const fixture = useCliFixture();
const { run } = fixture;

describe('exec', () => {
  it('passes the token to the command, without OAUTH_PROFILE_* variables', async () => {
    const { stdout, exit } = await run(
      `oauth-profile exec robot -- sh -c 'echo "$OAUTH_ACCESS_TOKEN"; env | grep -c ^OAUTH_PROFILE_; exit 7'`,
      { OAUTH_PROFILE_KEY: Buffer.alloc(32, 1).toString('base64') },
    );
    expect({ stdout, exit }).toEqual({ stdout: 'access-token-1\n0\n', exit: 7 });
  });

  it('puts no secret in the arguments of any process', async () => {
    const { stdout } = await run(`oauth-profile exec robot -- sh -c 'cat /proc/$$/cmdline /proc/$PPID/cmdline'`);
    expect(stdout).toContain('exec');
    expect(stdout).not.toMatch(/access-token-1|robot-secret/);
  });

  it('with --token-file passes a file with mode 0600 and deletes it afterwards', async () => {
    const { stdout } = await run(
      `oauth-profile exec robot --token-file -- sh -c 'cat "$OAUTH_ACCESS_TOKEN_FILE"; echo; stat -c %a "$OAUTH_ACCESS_TOKEN_FILE"; echo "[$OAUTH_ACCESS_TOKEN]" "$OAUTH_ACCESS_TOKEN_FILE"' > out; cat out; ls "$(awk 'END {print $2}' out)" 2>/dev/null`,
    );
    expect(stdout.split('\n').slice(0, 2)).toEqual(['access-token-1', '600']);
    expect(stdout.split('\n').slice(2)).toEqual([expect.stringMatching(/^\[\] \/.+\/token$/), '']);
  });

  it('passes the tokens of several profiles in variables with their names', async () => {
    const { stdout, exit } = await run(
      `oauth-profile exec robot ada -- sh -c 'echo "$OAUTH_ACCESS_TOKEN_ROBOT $OAUTH_ACCESS_TOKEN_ADA [$OAUTH_ACCESS_TOKEN]"'
oauth-profile exec robot ada --token-file -- sh -c 'cat "$OAUTH_ACCESS_TOKEN_FILE_ROBOT"; cat "$OAUTH_ACCESS_TOKEN_FILE_ADA"'`,
    );
    expect({ stdout, exit }).toEqual({
      stdout: 'access-token-1 access-token-2 []\naccess-token-1access-token-2',
      exit: 0,
    });
  });

  it.each(['robot robot', 'my-api my.api', 'a A', ''])('sends nothing for the profiles %j', async (profiles) => {
    const { server } = fixture;
    const { stderr, exit } = await run(`oauth-profile exec ${profiles} --json -- true true`);
    expect({ code: JSON.parse(stderr).code, exit, sent: server.requests.length }).toEqual({
      code: 'usage',
      exit: 125,
      sent: 0,
    });
  });

  it.each(['', 'run', '/nowhere'])(
    'with --token-file uses the temporary directory if XDG_RUNTIME_DIR is %j',
    async (directory) => {
      const { stdout, exit } = await run(
        `XDG_RUNTIME_DIR='${directory}' oauth-profile exec robot --token-file -- sh -c 'echo "$OAUTH_ACCESS_TOKEN_FILE"'`,
      );
      expect({ stdout, exit }).toEqual({ stdout: expect.stringMatching(/^\/.+\/token\n$/), exit: 0 });
    },
  );

  it.each(['TERM', 'INT', 'USR2'])('forwards SIG%s and returns the exit status of the command', async (signal) => {
    const { stdout, exit } = await run(
      `oauth-profile exec robot -- sh -c 'trap "echo received; exit 9" ${signal}; kill -${signal} $PPID; while :; do sleep 0.05; done'`,
    );
    expect({ stdout, exit }).toEqual({ stdout: 'received\n', exit: 9 });
  });

  it.each(['TERM', 'INT'])('deletes the token file if SIG%s ends the command', async (signal) => {
    const { stdout, exit } = await run(
      `oauth-profile exec robot --token-file -- sh -c 'echo "$OAUTH_ACCESS_TOKEN_FILE" > file; trap "exit 9" ${signal}; kill -${signal} $PPID; while :; do sleep 0.05; done'; status=$?; ls "$(cat file)" 2>&1 | grep -c "No such file"; exit $status`,
    );
    expect({ stdout, exit }).toEqual({ stdout: '1\n', exit: 9 });
  });

  it('reports the death of the command by a signal as a shell does', async () => {
    expect(await run(`oauth-profile exec robot -- sh -c 'kill -KILL $$'`)).toMatchObject({ exit: 137 });
  });

  it.each([
    ['a command that does not exist', 'oauth-profile exec robot -- no-such-command-here', 'no-such-command-here'],
    ['a profile that does not exist', 'oauth-profile exec unknown -- true', 'profile unknown'],
  ])('returns 125 for %s', async (_, line, message) => {
    const { stderr, exit } = await run(line);
    expect(exit).toBe(125);
    expect(stderr).toContain(message);
  });
});
