import {
  type Command,
  commandName,
  commandSignature,
  isRequiredInMap,
  type Parameter,
  type Registry,
} from './command.ts';
import { exampleOf } from './describe-command.ts';
import { kinds } from './parameter-kinds.ts';

type Schema = Record<string, unknown>;

/** Generates the JSON Schema (2020-12) of scripts for editors. It accepts every valid script; rules that depend on values are not part of it. */
export function scriptSchema(registry: Registry): Schema {
  const commands = [...registry];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'oauth-profile script',
    type: 'object',
    properties: {
      version: { const: 1, description: 'Version of the script format' },
      name: { ...text, description: 'Name of the script; default: the name of its file' },
      data: {
        type: ['object', 'null'],
        description: 'Variables: dotted names, nested maps, or both',
        examples: [{ 'graph.type': 'microsoft', 'graph.tenant_id': 'contoso.onmicrosoft.com' }],
      },
      steps: { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' }, description: 'Steps, run in order' },
    },
    required: ['steps'],
    additionalProperties: false,
    $defs: { step: stepSchema(commands) },
  };
}

const text: Schema = { type: ['string', 'number', 'boolean'], minLength: 1 };

function stepSchema(commands: readonly Command[]): Schema {
  return {
    type: 'object',
    description: 'One command with its parameters',
    properties: {
      name: { ...text, description: 'Name of the step' },
      if: {
        type: ['string', 'boolean'],
        description: 'Condition; the step is skipped if it is false',
        examples: ['${me.status} = 200', '${me.body.name} is not empty & ${me.status} < 300'],
      },
      continueOnFailure: { type: 'boolean', description: 'Continue with the next step if this one fails' },
      always: { type: 'boolean', description: 'Run the step even if an earlier step failed' },
      ...Object.fromEntries(commands.map((command) => [commandName(command), commandSchema(command)])),
    },
    additionalProperties: false,
    oneOf: commands.map((command) => ({ required: [commandName(command)] })),
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
