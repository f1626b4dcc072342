import type { Part } from '../../data/part.ts';
import { isSecretName } from '../../secret/secret-names.ts';
import type { Parameter } from '../command.ts';
import type { Registry } from '../registry.ts';

/** A reference without a default, alone or in a header: it shows no secret. */
export const harmlessReference = /^(?:(?:Bearer|Basic) )?\$\{(?:env:|file:)?[\w./[\]-]*\}$/;

/** Every scalar whose name, or that of something around it, says that it is a secret; a parameter in a list has its name from the command. */
export function* findSecrets<At>(part: Part<At>, registry: Registry, hidden = false): Generator<At> {
  if (part.kind === 'scalar') {
    if (hidden && !(typeof part.value === 'string' && harmlessReference.test(part.value))) yield part.at;
  } else if (part.kind === 'list') {
    for (const item of part.items) yield* findSecrets(item, registry, hidden);
  } else {
    for (const { name, part: inner } of part.members) {
      const parameters = registry.find(name)?.parameters;
      if (parameters === undefined) yield* findSecrets(inner, registry, hidden || isSecretName(name));
      else if (inner.kind === 'list') {
        for (const [index, item] of inner.items.entries()) {
          yield* findSecrets(item, registry, hidden || isSecret(parameters[index]));
        }
      } else if (inner.kind === 'map') {
        for (const { name: key, part: value } of inner.members) {
          const known = parameters.find((one) => one.name === key);
          yield* findSecrets(value, registry, hidden || isSecret(known) || isSecretName(key));
        }
      } else yield* findSecrets(inner, registry, hidden || isSecret(parameters[0]));
    }
  }
}

function isSecret(parameter: Parameter | undefined): boolean {
  return parameter !== undefined && (parameter.secret === true || isSecretName(parameter.name));
}
