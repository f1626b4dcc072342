import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/command-definitions.ts';
import { Sandbox } from '../../support/cli.ts';

const has = (shell: string): boolean => {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe('completion', () => {
  const sandbox = new Sandbox();
  beforeAll(() => sandbox.write('oauth-profiles.yaml', 'graph.type: microsoft\nlab.type: gitlab\n'));
  afterAll(() => sandbox.remove());

  /** The completions that bash offers for the last word. */
  async function completeInBash(...words: string[]): Promise<string[]> {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const { stdout } = await sandbox.run(
      `source <(oauth-profile completion bash); COMP_WORDS=(oauth-profile ${quoted}); COMP_CWORD=${words.length}; _oauth_profile; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    return stdout.trim().split('\n');
  }

  it('completes commands, flags, profiles and shells in bash', async () => {
    expect(await completeInBash('')).toEqual(
      expect.arrayContaining(['token', 'check', 'explain', 'emulate', 'completion', '--help']),
    );
    expect(await completeInBash('to')).toEqual(['token']);
    expect(await completeInBash('token', '--he')).toEqual(['--header', '--help']);
    expect(await completeInBash('token', '')).toEqual(['graph', 'lab']);
    expect(await completeInBash('completion', 'z')).toEqual(['zsh']);
    expect(await completeInBash('check', '--data', 'oauth-p')).toEqual(['oauth-profiles.yaml']);
  });

  it('completes files and profiles in bash only where a command takes them', async () => {
    sandbox.write('smoke test.yaml', 'steps: []\n');
    expect(await completeInBash('run', 'smo')).toEqual(['smoke test.yaml']);
    expect(await completeInBash('run', '--qu')).toEqual(['--quiet']);
    expect(await completeInBash('run', 'gra')).toEqual(['']);
    expect(await completeInBash('list', '')).toEqual(['']);
    expect(await completeInBash('commands', '')).toEqual(['']);
    expect(await completeInBash('exec', 'l')).toEqual(['lab']);
    expect(await completeInBash('exec', 'lab', '--', 'oauth-profil')).toContain('oauth-profiles.yaml');
    expect(await completeInBash('exec', 'lab', '--', 'prin')).toContain('printf');
    expect(await completeInBash('exec', 'lab', '--', 'cat', 'smo')).toEqual(['smoke test.yaml']);
  });

  it.skipIf(!has('zsh'))('defines a completion in zsh', async () => {
    const { stdout, stderr } = await sandbox.run(
      `oauth-profile completion zsh > _op; zsh -f -c 'autoload -Uz compinit && compinit -u -d ./dump && source ./_op && print $_comps[oauth-profile]'`,
    );
    expect(stderr).toBe('');
    expect(stdout.trim()).toBe('_oauth_profile');
  });

  it.skipIf(!has('fish'))('completes commands, flags, profiles and files in fish', async () => {
    const { stdout } = await sandbox.run(
      `oauth-profile completion fish > op.fish; fish --no-config -c 'source op.fish; complete -C "oauth-profile to"; complete -C "oauth-profile token "; complete -C "oauth-profile token --rev"; complete -C "oauth-profile run oauth-pro"'`,
    );
    expect(stdout).toMatch(/^oauth-profiles\.yaml$/m);
    expect(stdout).toMatch(/^token\tprint an access token/m);
    expect(stdout).toMatch(/^graph$/m);
    expect(stdout).toMatch(/^--reveal/m);
  });

  it('offers all commands, flags and shells in PowerShell, and profiles where a command takes them', async () => {
    const { stdout, exit } = await sandbox.run('oauth-profile completion powershell');
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^Register-ArgumentCompleter -Native -CommandName oauth-profile -ScriptBlock \{$/m);
    const offered = (pattern: RegExp): string[] =>
      [...(pattern.exec(stdout)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, word = '']) => word);
    const names = commands.map(({ name }) => name);
    expect(offered(/words\.Count -eq 0\) \{\n(.*)\n/)).toEqual(expect.arrayContaining([...names, '--help']));
    for (const { name, flags } of commands)
      expect(offered(new RegExp(`^ *'${name}' \\{ (.*) \\}$`, 'm'))).toEqual([
        ...flags.map((flag) => `--${flag.name}`),
        '--help',
      ]);
    expect(offered(/-eq 'completion'\) \{\n(.*)\n/)).toEqual(['bash', 'zsh', 'fish', 'powershell']);
    expect(offered(/-in (.*)\) \{\n *oauth-profile completion profiles/)).toEqual(
      expect.arrayContaining(['token', 'exec', 'login', 'check', 'explain']),
    );
    // A brace or quote that is not closed would break the profile of the shell.
    const unquoted = stdout.replace(/'[^'\n]*'|"[^"\n]*"/g, '');
    expect(unquoted).not.toMatch(/['"]/);
    for (const [open, close] of ['{}', '()', '[]'])
      expect(unquoted.split(open as string).length).toBe(unquoted.split(close as string).length);
  });

  it('completes profiles in bash through a function that runs npx in a project', async () => {
    const project = new Sandbox();
    project.write('oauth-profiles.yaml', 'graph.type: microsoft\n');
    const { stdout, stderr } = await project.run(
      `mkdir -p node_modules/.bin && mv ../bin/oauth-profile node_modules/.bin/
oauth-profile() { npx --no -- oauth-profile "$@"; }
source <(oauth-profile completion bash)
COMP_WORDS=(oauth-profile token ""); COMP_CWORD=2; _oauth_profile; printf '%s\\n' "\${COMPREPLY[@]}"
cd ..; _oauth_profile; printf '%s\\n' "\${#COMPREPLY[@]}"`,
      { npm_config_offline: 'true', npm_config_update_notifier: 'false' },
    );
    project.remove();
    expect({ stdout, stderr }).toEqual({ stdout: 'graph\n0\n', stderr: '' });
  });

  it('does not offer a profile whose name a shell would evaluate', async () => {
    const hostile = new Sandbox();
    hostile.write(
      'oauth-profiles.yaml',
      `"$(touch pwned)": {type: custom}\n"\`touch pwned\`": {type: custom}\n"a;touch pwned": {type: custom}\nfine: {type: custom}\n`,
    );
    const { stdout } = await hostile.run(
      'source <(oauth-profile completion bash); COMP_WORDS=(oauth-profile token ""); COMP_CWORD=2; _oauth_profile; printf "%s\\n" "${COMPREPLY[@]}"; ls',
    );
    hostile.remove();
    expect(stdout.trim().split('\n')).toEqual(['fine', 'oauth-profiles.yaml']);
  });
});
