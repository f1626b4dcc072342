import type { ConfigNode } from '../../config/node.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import type { Parameter } from '../command.ts';
import type { Registry } from '../registry.ts';
import { scriptKeys } from './build-script.ts';

/** A reference without a default, alone or in a header: it shows no secret. */
export const harmlessReference = /^(?:(?:Bearer|Basic) )?\$\{(?:env:|file:)?[\w./[\]-]*\}$/;

/** All secrets of a script; what stands beside its parts may be a variable at the wrong place. */
export function* findSecrets<At>(root: ConfigNode<At>, registry: Registry): Generator<At> {
  if (root.kind !== 'map') yield* secretsIn(root, registry, false);
  else {
    for (const { name, node: part } of root.members) {
      if (name === 'steps' && part.kind === 'list') yield* secretsInSteps(part.items, registry);
      else yield* secretsIn(part, registry, !scriptKeys.includes(name));
    }
  }
}

/** What stands where a step belongs, and is none, may have slipped out of a step above it. */
function* secretsInSteps<At>(steps: readonly ConfigNode<At>[], registry: Registry): Generator<At> {
  for (const step of steps) {
    const command = step.kind === 'scalar' && typeof step.value === 'string' && registry.find(step.value) !== undefined;
    yield* secretsIn(step, registry, step.kind !== 'map' && !command);
  }
}

/** Every scalar whose name, or that of something around it, says that it is a secret; a parameter in a list has its name from the command. */
function* secretsIn<At>(part: ConfigNode<At>, registry: Registry, hidden: boolean): Generator<At> {
  if (part.kind === 'scalar') {
    if (hidden && !(typeof part.value === 'string' && harmlessReference.test(part.value))) yield part.at;
  } else if (part.kind === 'list') {
    for (const item of part.items) yield* secretsIn(item, registry, hidden);
  } else {
    for (const { name, node: inner } of part.members) {
      const parameters = registry.find(name)?.parameters;
      if (parameters === undefined) yield* secretsIn(inner, registry, hidden || name === '' || isSensitiveName(name));
      else if (inner.kind === 'list') {
        for (const [index, item] of inner.items.entries()) {
          yield* secretsIn(item, registry, hidden || isSecret(parameters[index]));
        }
      } else if (inner.kind === 'map') {
        for (const { name: key, node: value } of inner.members) {
          const known = parameters.find((one) => one.name === key);
          yield* secretsIn(value, registry, hidden || isSecret(known) || isSensitiveName(key));
        }
      } else yield* secretsIn(inner, registry, hidden || isSecret(parameters[0]));
    }
  }
}

function isSecret(parameter: Parameter | undefined): boolean {
  return parameter !== undefined && (parameter.secret === true || isSensitiveName(parameter.name));
}
