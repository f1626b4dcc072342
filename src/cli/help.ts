import type { Command, Flag } from './command.ts';
import { commands, globalFlags } from './command-definitions.ts';
import type { Style } from './style.ts';

/** The text of `--help`. */
export function helpText(command: Command | undefined, style: Style): string {
  return command === undefined ? overview(style) : commandHelp(command, style);
}

function overview(style: Style): string {
  return [
    `${style.bold('oauth-profile')}: name a profile, get a token`,
    `${style.bold('Usage:')} oauth-profile <command> [flags]\n`,
    section(
      'Commands',
      columns(
        commands.map(({ name, usage, summary }) => [`${name} ${usage}`, summary]),
        style,
      ),
      style,
    ),
    section('Flags', columns(globalFlags.map(flagRow), style), style),
    section(
      'Exit status',
      columns(
        [
          ['0', 'success'],
          ['1', 'a step of a script failed'],
          ['2', 'invalid command line, script or profile; nothing was sent'],
          ['3', 'the provider rejected the request'],
          ['4', 'network error, 429, 5xx or unreadable response'],
          ['5', 'login required'],
          ['6', 'the token store is locked, unreadable or unwritable'],
          ['130', 'interrupted'],
        ],
        style,
      ),
      style,
    ),
    'Profiles are read from oauth-profiles.yaml in this directory or repository and in',
    '~/.config/oauth-profile.',
    `${style.dim('Run oauth-profile <command> --help for flags and examples.')}\n`,
  ].join('\n');
}

/** At most 24 lines of 100 columns, so that it fits on a screen. */
function commandHelp({ name, usage, summary, flags, examples }: Command, style: Style): string {
  const [own = '', child] = usage.split(/ (?=-- )/);
  const words = ['oauth-profile', name, own, flags.length > 0 ? '[flags]' : '', child].filter(Boolean);
  const width = Math.max(...examples.map(([line]) => line.length));
  return [
    `${style.bold(`oauth-profile ${name}`)}: ${summary}`,
    `${style.bold('Usage:')} ${words.join(' ')}\n`,
    ...(flags.length > 0 ? [section('Flags', columns(flags.map(flagRow), style), style)] : []),
    section(
      'Examples',
      examples.map(([line, description]) => `${line.padEnd(width)}  ${style.dim(`# ${description}`)}`),
      style,
    ),
  ].join('\n');
}

function flagRow({ name, value, optional, help }: Flag): [string, string] {
  if (value === undefined) return [`--${name}`, help];
  return [optional ? `--${name}[=${value}]` : `--${name} ${value}`, help];
}

function section(title: string, lines: readonly string[], style: Style): string {
  return `${style.bold(title)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function columns(rows: readonly (readonly [string, string])[], style: Style): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${style.cyan(left)}${' '.repeat(width - left.length)}  ${right}`);
}
