import type { Command, Parameter } from './command.ts';
import { exampleOf } from './describe-command.ts';
import { kinds } from './parameter-kinds.ts';
import { nameOfCommand, type Registry, signatureOf } from './registry.ts';

type Schema = Record<string, unknown>;

/** What an editor is told of scripts (JSON Schema 2020-12). It accepts every script that can be read; what only values decide it does not see. */
export function scriptSchema(registry: Registry): Schema {
  const commands = [...registry];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'oauth-profile script',
    type: 'object',
    properties: {
      version: { const: 1, description: 'Version of the format' },
      name: { ...text, description: "What the script is called; without it, its file's name" },
      data: {
        type: ['object', 'null'],
        description: 'Variables: dotted names, nested maps, or both',
        examples: [{ 'graph.type': 'microsoft', 'graph.tenant_id': 'contoso.onmicrosoft.com' }],
      },
      steps: {
        type: 'array',
        minItems: 1,
        items: { $ref: '#/$defs/step' },
        description: 'The steps, run one after the other',
      },
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
      name: { ...text, description: 'What the step is called' },
      if: {
        type: ['string', 'boolean'],
        description: 'The step runs only if this condition holds',
        examples: ['${me.status} = 200', '${me.body.name} is not empty & ${me.status} < 300'],
      },
      continueOnFailure: { type: 'boolean', description: 'The script goes on also when this step fails' },
      always: { type: 'boolean', description: 'The step runs also when an earlier one failed' },
      ...Object.fromEntries(commands.map((command) => [nameOfCommand(command), commandSchema(command)])),
    },
    additionalProperties: false,
    oneOf: commands.map((command) => ({ required: [nameOfCommand(command)] })),
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
    { type: 'object', properties, required, additionalProperties: false },
  ];
  const [first] = parameters;
  if (first !== undefined && required.length <= 1) forms.push(scalarSchema(first));
  if (required.length === 0) forms.push({ type: 'null' });
  if (first?.kind === 'names' && parameters.length === 1)
    forms.push({ type: 'array', items: { type: 'string' }, minItems: 1 });
  return {
    title: signatureOf(command),
    description: `${summary}.\n\n${exampleOf(command)}`,
    anyOf: forms,
  };
}

function parameterSchema({ kind, help }: Parameter): Schema {
  return { ...kinds[kind].schema, title: kinds[kind].help, description: help };
}

/** A single parameter without brackets; lists and maps would be taken for all of them. */
function scalarSchema(parameter: Parameter): Schema {
  return { allOf: [parameterSchema(parameter), { type: ['string', 'number', 'boolean'] }] };
}
