import {
  type Command,
  commandName,
  commandSignature,
  isRequiredInMap,
  type Parameter,
  type Registry,
} from './command.ts';
import { exampleOf } from './describe-command.ts';
import { describeKeys, scriptKeys, stepKeys } from './keys.ts';
import { kinds } from './parameter-kinds.ts';

type Schema = Record<string, unknown>;

/** Generates the JSON Schema (2020-12) of scripts for editors. It accepts every valid script; rules that depend on values are not part of it. */
export function scriptSchema(registry: Registry): Schema {
  const commands = [...registry];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'oauth-profile script',
    type: 'object',
    properties: describeKeys(scriptKeys),
    required: ['steps'],
    additionalProperties: false,
    $defs: { step: stepSchema(commands) },
  };
}

function stepSchema(commands: readonly Command[]): Schema {
  return {
    type: 'object',
    description: 'One command with its parameters, a group of steps, or another script to run',
    properties: {
      ...describeKeys(stepKeys),
      ...Object.fromEntries(commands.map((command) => [commandName(command), commandSchema(command)])),
    },
    additionalProperties: false,
    oneOf: ['steps', 'run', ...commands.map(commandName)].map((key) => ({ required: [key] })),
    dependentRequired: { with: ['run'], save: ['run'] },
  };
}

function commandSchema(command: Command): Schema {
  const { parameters, summary } = command;
  const required = parameters.filter(({ optional }) => !optional).map(({ name }) => name);
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameterSchema(parameter)]));
  const forms: Schema[] = [
    {
      type: 'array',
      ...(parameters.length > 0 && { prefixItems: parameters.map(parameterSchema) }),
      items: false,
      minItems: required.length,
    },
    {
      type: 'object',
      properties,
      required: parameters.filter(isRequiredInMap).map(({ name }) => name),
      additionalProperties: false,
    },
  ];
  const [first] = parameters;
  if (first !== undefined && required.length <= 1) {
    // A single parameter without brackets. A list or map would be read as the list or map of all parameters.
    forms.push({ allOf: [parameterSchema(first), { type: ['string', 'number', 'boolean'] }] });
  }
  if (required.length === 0) forms.push({ type: 'null' });
  if (first?.kind === 'names' && parameters.length === 1)
    forms.push({ type: 'array', items: { type: 'string' }, minItems: 1 });
  return { title: commandSignature(command), description: `${summary}.\n\n${exampleOf(command)}`, anyOf: forms };
}

function parameterSchema({ kind, help }: Parameter): Schema {
  return { ...kinds[kind].schema, title: kinds[kind].help, description: help };
}
