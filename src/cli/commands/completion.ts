import { createClient } from '../../client.ts';
import { usageError } from '../args.ts';
import { commands, globalFlags } from '../command-definitions.ts';
import type { Context } from '../context.ts';
import { clientOptions, variableSources } from '../with-client.ts';

/** Argument with which the scripts below ask for the names of profiles. */
const NAMES = 'profiles';

/** `completion <shell>`: prints a completion script. */
export async function runCompletion(context: Context): Promise<number> {
  const { args, terminal } = context;
  const [shell = ''] = args.positionals;
  if (shell === NAMES) {
    const variables = await createClient(clientOptions(context)).loadVariables(variableSources(context));
    // Names that need quotes are not completed: a shell would evaluate a name such as $(rm …).
    const names = variables.profileNames().filter((name) => /^[\w.@+-]+$/.test(name));
    terminal.stdout(names.map((name) => `${name}\n`).join(''));
    return 0;
  }
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) throw usageError(`unknown shell "${shell}"`, 'write bash, zsh, fish or powershell');
  terminal.stdout(script());
  return 0;
}

const shells = ['bash', 'zsh', 'fish', 'powershell'];
const flagsOf = (name: string): string[] =>
  [...(commands.find((command) => command.name === name)?.flags ?? []), { name: 'help' }].map(
    (flag) => `--${flag.name}`,
  );

/** The commands that take scripts, or profiles. */
const commandsWith = (argument: 'script' | 'profile'): string[] =>
  commands.filter(({ usage }) => usage.includes(argument)).map(({ name }) => name);

/** The items of a PowerShell array. */
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ');

const scripts: Readonly<Record<string, () => string>> = {
  bash: () => `_oauth_profile() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${[...commands.map(({ name }) => name), ...globalFlags.map(({ name }) => `--${name}`)].join(' ')}"
  elif [ "$previous" = --data ]; then
    _oauth_profile_files
    return
  elif [[ " \${COMP_WORDS[*]:1:COMP_CWORD-1} " == *" -- "* ]]; then
    _oauth_profile_files
    [ "$previous" != -- ] || COMPREPLY+=($(compgen -c -- "$current"))
    return
  else
    case \${COMP_WORDS[1]}:$current in
${commands.map(({ name }) => `      ${name}:-*) words="${flagsOf(name).join(' ')}" ;;`).join('\n')}
${commandsWith('script')
  .map((name) => `      ${name}:*) _oauth_profile_files; return ;;`)
  .join('\n')}
      completion:*) words="${shells.join(' ')}" ;;
${commandsWith('profile')
  .map((name) => `      ${name}:*) words=$(oauth-profile completion ${NAMES} 2>/dev/null) ;;`)
  .join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
_oauth_profile_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _oauth_profile oauth-profile
`,
  zsh: () => `#compdef oauth-profile
_oauth_profile() {
  if (( CURRENT == 2 )); then
    local -a commands=(${commands.map(({ name, summary }) => `'${name}:${summary.replaceAll("'", '')}'`).join(' ')})
    _describe command commands
  elif [[ $words[CURRENT-1] == --data || $words[2] == (${commandsWith('script').join('|')}) && $words[CURRENT] != -* ]]; then
    _files
  elif (( \${words[(i)--]} < CURRENT )); then
    _command_names -e
    _files
  else
    case $words[2]:$words[CURRENT] in
${commands.map(({ name }) => `      ${name}:-*) compadd -- ${flagsOf(name).join(' ')} ;;`).join('\n')}
      completion:*) compadd -- ${shells.join(' ')} ;;
      (${commandsWith('profile').join('|')}):*) compadd -- \${(f)"$(oauth-profile completion ${NAMES} 2>/dev/null)"} ;;
    esac
  fi
}
compdef _oauth_profile oauth-profile
`,
  fish: () =>
    [
      'complete -c oauth-profile -f',
      ...commands.map(
        ({ name, summary }) =>
          `complete -c oauth-profile -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
      ),
      ...commands.flatMap(({ name, flags }) =>
        flags.map(
          (flag) =>
            `complete -c oauth-profile -n '__fish_seen_subcommand_from ${name}' -l ${flag.name}` +
            `${flag.value === undefined ? '' : flag.value === 'FILE' ? ' -rF' : ' -x'} -d '${flag.help.replaceAll("'", "\\'")}'`,
        ),
      ),
      `complete -c oauth-profile -n '__fish_seen_subcommand_from completion' -a '${shells.join(' ')}'`,
      `complete -c oauth-profile -n '__fish_seen_subcommand_from ${commandsWith('script').join(' ')}' -F`,
      `complete -c oauth-profile -n '__fish_seen_subcommand_from ${commandsWith('profile').join(' ')}' -a '(oauth-profile completion ${NAMES} 2>/dev/null)'`,
      '',
    ].join('\n'),
  // Without results, PowerShell completes the names of files.
  powershell: () => `Register-ArgumentCompleter -Native -CommandName oauth-profile -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -ne '') { $words = @($words | Select-Object -SkipLast 1) }
  if ($words -contains '--' -or ($words.Count -gt 0 -and $words[-1] -eq '--data')) { return }
  $candidates = @(
    if ($words.Count -eq 0) {
      ${quoted([...commands.map(({ name }) => name), ...globalFlags.map(({ name }) => `--${name}`)])}
    } elseif ($word.StartsWith('-')) {
      switch ($words[0]) {
${commands.map(({ name }) => `        '${name}' { ${quoted(flagsOf(name))} }`).join('\n')}
      }
    } elseif ($words[0] -eq 'completion') {
      ${quoted(shells)}
    } elseif ($words[0] -in ${quoted(commandsWith('profile'))}) {
      oauth-profile completion ${NAMES} 2>$null
    }
  )
  $candidates | Where-Object { $_.StartsWith($word) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
};
