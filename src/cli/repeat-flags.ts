import { asArgument } from '../profile/login-command.ts';
import { MASK } from '../redaction/secret.ts';
import { isSecretName } from '../redaction/sensitive-names.ts';
import type { Call } from './command.ts';

/** A command that advice names, up to its profile as `asArgument` writes it. */
const advised = /oauth-profile (?:login|explain) (?:'(?:[^']|'\\'')*'|[^\s';]+)/g;

/** A copy for a program in which every advice is one that {@link repeatFlags} made. */
export function repeatFlagsIn(value: unknown, call?: Call): unknown {
  return JSON.parse(JSON.stringify(value), (name, part) =>
    name === 'advice' && typeof part === 'string' ? repeatFlags(part, call) : part,
  );
}

/** Advice whose commands find the profile and the store that this call found: with the flags that it was given. */
export function repeatFlags(advice: string, call?: Call): string {
  const values = call?.values ?? new Map<string, string[]>();
  const given = (flag: string, show: (value: string) => string): string[] =>
    (values.get(flag) ?? []).map((value) => ` --${flag} ${asArgument(show(value))}`);
  const flags = [...given('data', String), ...given('set', withoutSecret), ...given('store', withoutPassword)].join('');
  return advice.replace(advised, (command) => command + flags);
}

/** That a secret was given is said, what it was is not; the name of an environment variable is none. */
function withoutSecret(setting: string): string {
  const name = setting.slice(0, setting.indexOf('='));
  const clear = !isSecretName(name) || /^\$\{env:\w+\}$/.test(setting.slice(name.length + 1));
  return clear ? setting : `${name}=${MASK}`;
}

function withoutPassword(store: string): string {
  return store.replace(/^(\w+:\/\/[^/]*:)[^/]*@/, `$1${MASK}@`);
}
