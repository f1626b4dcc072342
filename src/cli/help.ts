import { type Command, commands, commonFlags, type Flag, globalFlags } from './command-definitions.ts';
import { alignColumns, type Style } from './style.ts';

const EXIT_STATUS = [
  '0 success, 1 a step of a script failed, 2 invalid command line, script or profile,',
  '3 rejected by the provider, 4 network error or unreadable response, 5 login required,',
  '6 the token store is locked, unreadable or unwritable, 130 interrupted',
];

/** The text of `--help`. That of a command has at most 24 lines of 100 columns, so that it fits on a screen. */
export function helpText(command: Command | undefined, style: Style): string {
  return command === undefined ? overview(style) : commandHelp(command, style);
}

function overview(style: Style): string {
  return [
    `${style.bold('oauth-profile')}: name a profile, get a token`,
    `${style.bold('Usage:')} oauth-profile <command> [flags]\n`,
    section(
      'Commands',
      commands.map(({ name, usage, summary }) => [`${name} ${usage}`, summary]),
      style,
    ),
    section('Flags of most commands', [...commonFlags, ...globalFlags].map(flagRow), style),
    `${style.bold('Exit status')}\n${EXIT_STATUS.map((line) => `  ${line}\n`).join('')}`,
    'Profiles are read from oauth-profiles.yaml in this directory or repository and in',
    '~/.config/oauth-profile.',
    `${style.dim('Run oauth-profile <command> --help for flags and examples.')}\n`,
  ].join('\n');
}

function commandHelp({ name, usage, summary, flags, examples }: Command, style: Style): string {
  const [, positionals, child] = /^(.*?) ?(\[?-- .*)?$/.exec(usage) ?? [];
  const own = flags.filter((flag) => !commonFlags.includes(flag));
  const common = flags.filter((flag) => commonFlags.includes(flag)).map((flag) => `--${flag.name}`);
  const words = ['oauth-profile', name, positionals, flags.length > 0 ? '[flags]' : '', child].filter(Boolean);
  return [
    `${style.bold(`oauth-profile ${name}`)}: ${summary}`,
    `${style.bold('Usage:')} ${words.join(' ')}\n`,
    ...(own.length > 0 ? [section('Flags', flagRows(own), style)] : []),
    ...(common.length > 0 ? [`${style.bold('Common flags')} (see oauth-profile --help)\n  ${common.join(' ')}\n`] : []),
    section(
      'Examples',
      examples.map(([line, description]) => [line, `# ${description}`]),
      style,
    ),
  ].join('\n');
}

/** One row for each flag, or for a flag and the next one if they share a description. */
function flagRows(flags: readonly Flag[]): string[][] {
  return flags.flatMap((flag, index) => {
    const next = flags[index + 1];
    if (flag.helpWithPrevious !== undefined) return [];
    if (next?.helpWithPrevious === undefined) return [flagRow(flag)];
    return [[`${flagRow(flag)[0]}, ${flagRow(next)[0]}`, next.helpWithPrevious]];
  });
}

function flagRow({ name, value, optional, help }: Flag): string[] {
  if (value === undefined) return [`--${name}`, help];
  return [optional ? `--${name}[=${value}]` : `--${name} ${value}`, help];
}

function section(title: string, rows: readonly (readonly string[])[], style: Style): string {
  const lines = alignColumns(rows, [style.cyan]).map((line) => `  ${line}\n`);
  return `${style.bold(title)}\n${lines.join('')}`;
}
