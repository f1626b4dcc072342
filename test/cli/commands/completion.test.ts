import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../../support/run-cli.ts';

const has = (shell: string): boolean => {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe('completion, asked of the shells themselves', () => {
  const sandbox = new Sandbox();
  beforeAll(() => sandbox.write('oauth-profiles.yaml', 'graph.type: microsoft\nlab.type: gitlab\n'));
  afterAll(() => sandbox.remove());

  /** What bash offers for a line that ends in the word being typed. */
  async function inBash(...words: string[]): Promise<string[]> {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const { stdout } = await sandbox.run(
      `source <(oauth-profile completion bash); COMP_WORDS=(oauth-profile ${quoted}); COMP_CWORD=${words.length}; _oauth_profile; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    return stdout.trim().split('\n');
  }

  it('bash offers commands, flags, profiles and shells', async () => {
    expect(await inBash('')).toEqual(
      expect.arrayContaining(['token', 'check', 'explain', 'emulate', 'completion', '--help']),
    );
    expect(await inBash('to')).toEqual(['token']);
    expect(await inBash('token', '--he')).toEqual(['--header', '--help']);
    expect(await inBash('token', '')).toEqual(['graph', 'lab']);
    expect(await inBash('completion', 'z')).toEqual(['zsh']);
    expect(await inBash('check', '--data', 'oauth-p')).toEqual(['oauth-profiles.yaml']);
  });

  it('bash offers files where a command takes files, and profiles only where it takes profiles', async () => {
    sandbox.write('smoke test.yaml', 'steps: []\n');
    expect(await inBash('run', 'smo')).toEqual(['smoke test.yaml']);
    expect(await inBash('run', '--qu')).toEqual(['--quiet']);
    expect(await inBash('run', 'gra')).toEqual(['']);
    expect(await inBash('list', '')).toEqual(['']);
    expect(await inBash('commands', '')).toEqual(['']);
    expect(await inBash('exec', 'l')).toEqual(['lab']);
    expect(await inBash('exec', 'lab', '--', 'oauth-profil')).toContain('oauth-profiles.yaml');
    expect(await inBash('exec', 'lab', '--', 'prin')).toContain('printf');
    expect(await inBash('exec', 'lab', '--', 'cat', 'smo')).toEqual(['smoke test.yaml']);
  });

  it.skipIf(!has('zsh'))('zsh takes its script', async () => {
    const { stdout, stderr } = await sandbox.run(
      `oauth-profile completion zsh > _op; zsh -f -c 'autoload -Uz compinit && compinit -u -d ./dump && source ./_op && print $_comps[oauth-profile]'`,
    );
    expect(stderr).toBe('');
    expect(stdout.trim()).toBe('_oauth_profile');
  });

  it.skipIf(!has('fish'))('fish offers the same', async () => {
    const { stdout } = await sandbox.run(
      `oauth-profile completion fish > op.fish; fish --no-config -c 'source op.fish; complete -C "oauth-profile to"; complete -C "oauth-profile token "; complete -C "oauth-profile token --rev"; complete -C "oauth-profile run oauth-pro"'`,
    );
    expect(stdout).toMatch(/^oauth-profiles\.yaml$/m);
    expect(stdout).toMatch(/^token\tprint a valid token/m);
    expect(stdout).toMatch(/^graph$/m);
    expect(stdout).toMatch(/^--reveal/m);
  });

  it('a profile whose name a shell would run is not offered, and nothing is run', async () => {
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
