/** A JSON Schema (2020-12). */
type JsonSchema = Readonly<Record<string, unknown>>;

/** A key of a script, a step or a `retry`: its documentation and its JSON Schema. The parser, the schema and the reference use these tables. */
export interface KeyDefinition {
  /** One sentence, without a full stop. */
  readonly help: string;
  readonly schema: JsonSchema;
}

const text: JsonSchema = { type: ['string', 'number', 'boolean'], minLength: 1 };
const path: JsonSchema = { type: 'string', minLength: 1 };
const names: JsonSchema = {
  type: ['string', 'array'],
  minLength: 1,
  minItems: 1,
  items: { type: 'string', minLength: 1 },
};
const duration: JsonSchema = { type: ['string', 'integer'], examples: ['500ms', '10s', '2m'] };
const steps: JsonSchema = { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' } };
const condition: JsonSchema = {
  type: ['string', 'boolean'],
  examples: ['${me.status} = 200', '${me.body.name} is not empty and ${me.status} < 300'],
};

/** Maximum number of attempts of a `retry`. */
export const MAX_TIMES = 1_000;
/** Maximum number of redirects that a request can follow. */
export const MAX_REDIRECTS = 50;

/** Settings of requests: keys of a script, and of the parameter `options` of a request. */
export const requestKeys = {
  redirects: {
    help: 'Number of redirects to follow; default: 0',
    schema: { type: 'integer', minimum: 0, maximum: MAX_REDIRECTS },
  },
  timeout: { help: 'Maximum time of a request; default: 30s', schema: duration },
  ca_file: { help: 'PEM file with additional certificate authorities', schema: path },
  cert_file: { help: 'PEM file with a client certificate', schema: path },
  cert_key_file: { help: 'PEM file with the key of the client certificate; default: cert_file', schema: path },
} as const satisfies Readonly<Record<string, KeyDefinition>>;

/** Settings of all requests of a script, which a request can override. */
export interface RequestSettings {
  /** Whether cookies are stored and sent. Default: false. */
  readonly cookies?: boolean | undefined;
  /** Number of redirects to follow. Default: 0. */
  readonly redirects?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Paths of PEM files. */
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly certKeyFile?: string | undefined;
}

/** The keys of a script. */
export const scriptKeys = {
  version: { help: 'Version of the script format', schema: { const: 1 } },
  name: { help: 'Name of the script; default: the name of its file', schema: text },
  tags: { help: 'Tags that --tag and --not-tag select by', schema: names },
  data: {
    help: 'Variables: dotted names, nested maps, or both',
    schema: {
      type: ['object', 'null'],
      examples: [{ 'graph.type': 'microsoft', 'graph.tenant_id': 'contoso.onmicrosoft.com' }],
    },
  },
  rows: {
    help: 'Run the script once per row: a list of maps, or the path of a CSV, JSON or YAML file',
    schema: { type: ['string', 'array'], minLength: 1, minItems: 1, items: { type: 'object' } },
  },
  secrets: { help: 'Variables, or members of them, whose values are masked', schema: names },
  unmask: {
    help: 'Paths in responses that are shown even if their name is that of a secret, such as body.password',
    schema: names,
  },
  cookies: {
    help: 'Store cookies and send them to the origin that set them; default: false',
    schema: { type: 'boolean' },
  },
  ...requestKeys,
  setup: { help: 'Steps that run first; if one fails, the other steps are skipped', schema: steps },
  steps: { help: 'Steps, run in order', schema: steps },
  teardown: { help: 'Steps that run last, even if a step failed', schema: steps },
} as const satisfies Readonly<Record<string, KeyDefinition>>;

/** The keys of a `retry`. */
export const retryKeys = {
  times: { help: 'Total number of attempts', schema: { type: 'integer', minimum: 1, maximum: MAX_TIMES } },
  interval: { help: 'Time between attempts; default: 1s', schema: duration },
  backoff: {
    help: 'Factor by which the interval grows after each attempt; default: 1',
    schema: { type: 'number', minimum: 1 },
  },
  max: { help: 'Longest interval; default: 30s', schema: duration },
  until: { help: 'Repeat until this condition is true; default: until the step passes', schema: condition },
} as const satisfies Readonly<Record<string, KeyDefinition>>;

/** The JSON Schema of each key. */
export function describeKeys(keys: Readonly<Record<string, KeyDefinition>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(keys).map(([key, { help, schema }]) => [key, { ...schema, description: help }]),
  );
}

/** The keys of a step in addition to its command. */
export const stepKeys = {
  name: { help: 'Title in reports; default: the command with its parameters', schema: text },
  if: { help: 'Condition; the step is skipped if it is false', schema: condition },
  retry: {
    help: 'Repeat the step until it passes: times, interval, backoff, max and until',
    schema: {
      anyOf: [
        retryKeys.times.schema,
        {
          type: 'object',
          properties: describeKeys(retryKeys),
          required: ['times'],
          additionalProperties: false,
        },
      ],
    },
  },
  forEach: {
    help: 'Run the step once per item: a variable name with a list, a range such as 1..5, or @ and the path of a file',
    schema: {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: { type: ['array', 'string'] },
      examples: [{ line: '${order.body.lines}' }, { page: '1..5' }, { user: '@users.csv' }],
    },
  },
  continueOnFailure: {
    help: 'Continue with the next step if this one fails; the run is still reported as failed',
    schema: { type: 'boolean' },
  },
  always: { help: 'Run the step even if an earlier step failed', schema: { type: 'boolean' } },
  steps: { help: 'Makes the step a group: its keys apply to all steps in it', schema: steps },
  run: { help: 'Run the steps of another script with the variables of this one', schema: path },
  with: { help: 'Additional variables for the other script', schema: { type: 'object' } },
  save: { help: 'Variables to copy from the other script to this one', schema: names },
} as const satisfies Readonly<Record<string, KeyDefinition>>;
