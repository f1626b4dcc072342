import { describeCommand, listCommands } from '../../script/describe-command.ts';
import { ScriptHost } from '../../script-host.ts';
import type { Context } from '../context.ts';
import { usage } from '../usage.ts';

/** `commands [group.name]`: what a script can do. */
export async function run(context: Context): Promise<number> {
  const { call, terminal } = context;
  const { registry } = new ScriptHost();
  const [name] = call.positionals;
  if (name === undefined) {
    terminal.print(listCommands(registry));
    return 0;
  }
  const command = registry.find(name);
  if (command === undefined) {
    const near = registry.nearest(name);
    throw usage(
      [`there is no command ${name}`],
      near === undefined ? 'see oauth-profile commands' : `did you mean ${near}?`,
    );
  }
  terminal.print(describeCommand(command));
  return 0;
}
