import { quoteShellArgument } from '../profile/profile.ts';
import { MASK } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import type { ParsedArgs } from './command.ts';

/** A command that hint names, up to its profile as `asArgument` writes it. */
const advised = /oauth-profile (?:login|explain) (?:'(?:[^']|'\\'')*'|[^\s';]+)/g;

/** A copy for a program in which every hint is one that {@link appendCallerFlags} made. */
export function appendCallerFlagsTo(value: unknown, call?: ParsedArgs): unknown {
  return JSON.parse(JSON.stringify(value), (name, part) =>
    name === 'hint' && typeof part === 'string' ? appendCallerFlags(part, call) : part,
  );
}

/** A hint whose commands find the profile and the store that this call found: with the flags that it was given. */
export function appendCallerFlags(hint: string, call?: ParsedArgs): string {
  const values = call?.values ?? new Map<string, string[]>();
  const given = (flag: string, show: (value: string) => string): string[] =>
    (values.get(flag) ?? []).map((value) => ` --${flag} ${quoteShellArgument(show(value))}`);
  const flags = [...given('data', String), ...given('set', withoutSecret), ...given('store', withoutPassword)].join('');
  return hint.replace(advised, (command) => command + flags);
}

/** That a secret was given is said, what it was is not; the name of an environment variable is none. */
function withoutSecret(setting: string): string {
  const name = setting.slice(0, setting.indexOf('='));
  const clear = !isSensitiveName(name) || /^\$\{env:\w+\}$/.test(setting.slice(name.length + 1));
  return clear ? setting : `${name}=${MASK}`;
}

function withoutPassword(store: string): string {
  return store.replace(/^(\w+:\/\/[^/]*:)[^/]*@/, `$1${MASK}@`);
}
