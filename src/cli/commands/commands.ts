import { describeCommand, listCommands } from '../../script/describe-command.ts';
import { ScriptHost } from '../../script/script-host.ts';
import { usageError } from '../args.ts';
import type { Context } from '../context.ts';

/** `commands [group.name]`: lists the script commands, or describes one. */
export async function runCommands({ args, terminal }: Context): Promise<number> {
  const { registry } = new ScriptHost();
  const [name] = args.positionals;
  const command = name === undefined ? undefined : registry.find(name);
  if (name !== undefined && command === undefined) {
    const suggestion = registry.nearest(name);
    throw usageError(
      `unknown script command "${name}"`,
      suggestion === undefined ? 'see oauth-profile commands' : `did you mean ${suggestion}?`,
    );
  }
  terminal.stdout(command === undefined ? listCommands(registry) : describeCommand(command));
  return 0;
}
