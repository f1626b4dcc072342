import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { quoteShellArgument } from '../../profile/profile.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { usageError } from '../args.ts';
import { editCargoConfig } from '../configure/cargo.ts';
import { editDockerConfig } from '../configure/docker.ts';
import { applyEdit, describeEdit, type FileEdit, hasChange, planEdit } from '../configure/file-edit.ts';
import { planGitCommands, runGitConfig } from '../configure/git.ts';
import { editNpmrc } from '../configure/npmrc.ts';
import { createTarget, requireOrigins, shimPath, shimText, type Target } from '../configure/target.ts';
import { type Context, tokenFlag, warn } from '../context.ts';
import { variableSources, withClient } from '../with-client.ts';

/** The steps for a tool: changes of files, git commands, or a line for the user. */
interface Plan {
  readonly edits?: readonly FileEdit[];
  readonly gitCommands?: readonly (readonly string[])[];
  /** Printed after the changes. */
  readonly note?: string;
}

const tools: Readonly<Record<string, (target: Target) => Plan | Promise<Plan>>> = {
  git: (target) => ({ gitCommands: planGitCommands(requirePatterns(target)) }),
  kubectl: planKubectl,
  docker: planDocker,
  cargo: planCargo,
  pnpm: planPnpm,
  curl: ({ profile }) => ({
    note: `oauth-profile token ${quoteShellArgument(profile)} --format curl | curl --config - URL`,
  }),
};

/** `configure <tool> <profile>`: writes the configuration of another program. */
export async function runConfigure(context: Context): Promise<number> {
  const { args, environment, terminal } = context;
  const [tool = '', name = ''] = args.positionals;
  const plan = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  if (plan === undefined)
    throw usageError(`unknown tool "${escapeControls(tool)}"`, `use one of ${Object.keys(tools).join(', ')}`);
  // Reject an invalid --token before anything is read.
  tokenFlag(context);
  const target = await withClient(
    context,
    async ({ client, variables }) => {
      const isUndone = args.switches.has('undo');
      // The profile may have been removed or changed since.
      const origins = isUndone ? [] : (await client.parseProfile(name, variables)).options.origins;
      return createTarget(name, origins, context);
    },
    async (client) => [await client.loadVariables({ ...variableSources(context), ignoreDirectory: true })],
  );
  const { edits = [], gitCommands = [], note } = await plan(target);
  const changes = edits.filter(hasChange);
  const isDryRun = args.switches.has('dry-run');
  for (const edit of changes) {
    terminal.stdout(describeEdit(edit));
    if (!isDryRun) applyEdit(edit);
  }
  for (const command of gitCommands) {
    terminal.stdout(`git config --global ${command.map((word) => quoteShellArgument(word)).join(' ')}\n`);
    if (!isDryRun) runGitConfig(command, environment.env);
  }
  const isChanged = changes.length + gitCommands.length > 0;
  if (note !== undefined && !target.undo && (isChanged || tool === 'curl')) terminal.stdout(`${note}\n`);
  else if (!isChanged) terminal.stdout('nothing to change\n');
  if (isDryRun) warn(context, 'nothing was changed (--dry-run)');
  return 0;
}

function requirePatterns(target: Target): Target {
  if (target.origins.length === 0) requireOrigins(target);
  return target;
}

async function planKubectl({ profile, program, flags, env, home, undo }: Target): Promise<Plan> {
  const { editKubeconfig } = await import('../configure/kubectl.ts');
  const path = (env['KUBECONFIG'] ?? '').split(delimiter).find(Boolean) ?? join(home, '.kube', 'config');
  const [command = '', ...first] = program;
  const name = `oauth-profile-${profile}`;
  const entry = { name, command, args: [...first, 'credential', 'kubernetes', profile, ...flags] };
  return {
    edits: [planEdit(path, (text) => editKubeconfig(text, entry, undo))],
    note: `to use it: kubectl config set-context --current --user=${name}`,
  };
}

function planDocker(target: Target): Plan {
  const { profile, env, home, undo } = target;
  const helper = `oauth-profile-${profile}`;
  const hosts = requireOrigins(target).map(({ host }) => host);
  const path = join(env['DOCKER_CONFIG'] || join(home, '.docker'), 'config.json');
  const shim = planShim(target, 'docker', `docker-credential-${helper}`);
  const isOnPath = (env['PATH'] ?? '').split(delimiter).includes(dirname(shim.path));
  return {
    edits: [
      shim,
      {
        ...planEdit(path, (text) => editDockerConfig(text, hosts, helper, undo)),
        // The other lines may contain passwords.
        normalize: (text) => JSON.stringify(JSON.parse(text), null, 2),
      },
    ],
    ...(!isOnPath && { note: `add ${dirname(shim.path)} to PATH, where docker searches for the helper` }),
  };
}

function planCargo({ profile, origins, program, flags, env, home, undo }: Target): Plan {
  const directory = env['CARGO_HOME'] || join(home, '.cargo');
  const path = ['config', 'config.toml'].map((name) => join(directory, name)).find(existsSync);
  // Cargo passes only --cargo-plugin to the program, so it must be one file.
  const provider = [program.at(-1) ?? '', '--profile', profile, ...flags];
  return {
    edits: [
      planEdit(path ?? join(directory, 'config.toml'), (text) =>
        editCargoConfig(text, origins, profile, provider, undo),
      ),
    ],
  };
}

function planPnpm(target: Target): Plan {
  const { env, home, profile, undo } = target;
  const hosts = requireOrigins(target).map(({ host }) => host);
  const path = env['NPM_CONFIG_USERCONFIG'] || join(home, '.npmrc');
  const shim = planShim(target, 'pnpm', `oauth-profile-pnpm-${profile}`);
  return { edits: [shim, planEdit(path, (text) => editNpmrc(text, hosts, shim.path, undo))] };
}

function planShim(target: Target, tool: 'docker' | 'pnpm', name: string): FileEdit {
  const text = target.undo ? undefined : shimText(target, tool, tool);
  return planEdit(shimPath(target, name), () => text, 0o755);
}
