import type { Command } from './command.ts';
import { kinds } from './parameter-kinds.ts';
import { nameOfCommand, type Registry, signatureOf } from './registry.ts';

/** All commands, one line each, in their groups. */
export function listCommands(registry: Registry): string {
  const width = Math.max(0, ...Array.from(registry, (command) => signatureOf(command).length));
  return groupsOf(registry)
    .map(([group, commands]) => {
      const lines = commands.map((command) => `  ${signatureOf(command).padEnd(width)}  ${command.summary}\n`);
      return `${group}\n${lines.join('')}`;
    })
    .join('\n');
}

/** Everything about one command. */
export function describeCommand(command: Command): string {
  const { parameters, summary } = command;
  const rows = parameters.map(({ name, kind, help, optional }) => {
    return [name, `${help} (${kinds[kind].help}${optional ? ', may be left out' : ''})`] as const;
  });
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  const lines = rows.map(([name, help]) => `  ${name.padEnd(width)}  ${help}\n`);
  return [
    `${signatureOf(command)}\n  ${summary}\n`,
    ...(lines.length > 0 ? [`parameters\n${lines.join('')}`] : []),
    `example\n${indent(exampleOf(command), '  ')}\n`,
  ].join('\n');
}

/** The page of all commands, in Markdown. */
export function commandDocs(registry: Registry): string {
  const groups = groupsOf(registry);
  const contents = groups.map(([group, commands]) => {
    const links = commands.map((command) => `[${command.name}](#${anchorOf(command)})`);
    return `- **${group}**: ${links.join(', ')}\n`;
  });
  const sections = groups.map(([group, commands]) => `## ${group}\n\n${commands.map(section).join('\n')}`);
  return [
    '# Commands of scripts\n',
    '<!-- Made by tools/make-command-docs.js from the commands themselves. -->\n',
    'A step is a command with its parameters, as a list in this order or as a map by name; a single parameter needs no brackets.',
    'Parameters in `[ ]` may be left out. `oauth-profile commands` shows the same in a terminal.\n',
    contents.join(''),
    sections.join('\n'),
  ].join('\n');
}

/** A command's example as it stands in a list of steps. */
export function exampleOf({ example }: Command): string {
  return `- ${indent(example, '  ').trimStart()}`;
}

function section(command: Command): string {
  const { parameters, summary } = command;
  const rows = parameters.map(({ name, kind, help, optional }) => {
    return `| \`${name}\` | ${cell(kinds[kind].help)}${optional ? ', may be left out' : ''} | ${cell(help)} |\n`;
  });
  const table = rows.length > 0 ? `| parameter | is | |\n|---|---|---|\n${rows.join('')}\n` : '';
  return `### ${nameOfCommand(command)}\n\n\`${signatureOf(command)}\`\n\n${summary}.\n\n${table}\`\`\`yaml\n${exampleOf(command)}\n\`\`\`\n`;
}

function groupsOf(registry: Registry): [group: string, commands: Command[]][] {
  const groups = new Map<string, Command[]>();
  for (const command of registry) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  return [...groups];
}

function indent(text: string, by: string): string {
  return text.trimEnd().replace(/^(?=.)/gm, by);
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** As GitHub makes them from headings. */
function anchorOf(command: Command): string {
  return nameOfCommand(command).toLowerCase().replace('.', '');
}
