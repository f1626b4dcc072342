import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { profiles, type ReceivedResponse, sendRequest, useEmulator } from '../fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON Schemas are nested objects of any shape.
type Schema = Record<string, any>;

interface Operation {
  readonly operationId: string;
  readonly parameters?: { name: string; in: 'path' | 'query'; schema: Schema }[];
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } };
  readonly responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Call {
  readonly path: Record<string, string>;
  readonly query: [name: string, value: string][];
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
}

const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });

/** Generates values that a schema allows. */
function valid(schema: Schema): fc.Arbitrary<unknown> {
  const { type, properties = {}, required = [], additionalProperties, items } = schema;
  if (schema['enum'] !== undefined) return fc.constantFrom(...schema['enum']);
  if (schema['oneOf'] !== undefined) return fc.oneof(...schema['oneOf'].map(valid));
  if (type === 'string') {
    if (schema['pattern'] !== undefined) return fc.stringMatching(new RegExp(schema['pattern']), { maxLength: 100 });
    return fc.string({ unit: 'binary', minLength: schema['minLength'] ?? 0, maxLength: 60 });
  }
  if (type === 'integer')
    return fc.integer({ min: schema['minimum'] ?? -1e9, max: Math.min(schema['maximum'] ?? 1e9, 2 ** 31) });
  if (type === 'boolean') return fc.boolean();
  if (type === 'array') return fc.array(valid(items ?? {}), { maxLength: 4 });
  if (type !== 'object') return fc.jsonValue();
  const members = Object.fromEntries(Object.entries<Schema>(properties).map(([name, one]) => [name, valid(one)]));
  const known = fc.record(members, { requiredKeys: required });
  if (additionalProperties === false) return known;
  return fc
    .tuple(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), known)
    .map((all) => Object.assign({}, ...all));
}

/** Adds or replaces a member anywhere in a value, or replaces the value. */
function mutate(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return fc.jsonValue();
  const names = Object.keys(value);
  const name = names.length === 0 ? fc.string() : fc.oneof(fc.constantFrom(...names), fc.string());
  const changed = name.chain((one) =>
    fc.oneof(fc.jsonValue(), mutate(value[one as never])).map((member) => {
      const copy: Record<string, unknown> = { ...value };
      copy[one] = member;
      return Array.isArray(value) ? Object.values(copy) : copy;
    }),
  );
  return fc.oneof({ weight: 4, arbitrary: changed }, { weight: 1, arbitrary: fc.jsonValue() });
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Generates requests to an operation, most of them with one kind of mistake. */
function calls({ parameters = [], requestBody }: Operation): fc.Arbitrary<Call> {
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => [name, pathSegment] as const);
  const query = parameters
    .filter((one) => one.in === 'query')
    // Waiting has its own test.
    .map(({ name, schema }) => [name, name === 'wait' ? fc.constant('0') : valid(schema).map(String)] as const);
  const schema = requestBody?.content['application/json'].schema;
  const body = schema === undefined ? fc.constant(undefined) : valid(schema);
  const call = fc.record({
    path: fc.record(Object.fromEntries(inPath)),
    query: fc
      .record(Object.fromEntries(query), { requiredKeys: [] })
      .map((all) => Object.entries(all) as Call['query']),
    body: body.map((value) => (value === undefined ? undefined : JSON.stringify(value))),
    headers: fc.constant<Record<string, string>>(schema === undefined ? {} : JSON_TYPE),
  });
  const oddValue = fc.oneof(fc.string(), fc.constantFrom('-1', '1e3', '1.5', '', '0x10', '99999999999999999999'));
  return fc.oneof(
    { weight: 4, arbitrary: call },
    {
      weight: 4,
      arbitrary: call.chain((one) =>
        mutate(JSON.parse(one.body ?? 'null')).map((value) => ({ ...one, body: JSON.stringify(value) })),
      ),
    },
    { weight: 1, arbitrary: call.chain((one) => fc.string().map((text) => ({ ...one, body: text }))) },
    { weight: 1, arbitrary: call.map((one) => ({ ...one, headers: { 'Content-Type': 'text/plain' } })) },
    {
      weight: 1,
      arbitrary: call.map((one) => ({ ...one, headers: { ...one.headers, Origin: 'https://evil.example' } })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(call, fc.constantFrom('after', 'count', 'wait', 'host', '__proto__', 'x'), oddValue)
        .map(([one, name, value]) => ({ ...one, query: [...one.query, [name, value]] as Call['query'] })),
    },
  );
}

const pathSegment = fc.oneof(
  fc.constantFrom('eve', 'c', 'ada@example.com', '__proto__', '%', 'x'.repeat(5000)),
  // Clients resolve . and .. before they send a URL.
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((segment) => !/^\.\.?$/.test(segment)),
);

describe('every response of the control API is as its OpenAPI document describes it', () => {
  const server = useEmulator({ profiles, signing: { alg: 'ES256' } });
  let document: { paths: Record<string, Record<string, Operation>> };
  beforeAll(async () => {
    document = (await server.get(`${server.emulator.url}/_emulator/openapi.json`)).json;
  });

  async function send(method: string, template: string, { path, query, body, headers }: Call) {
    const filled = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name]?.toWellFormed() ?? ''));
    const search = new URLSearchParams(query).toString();
    return sendRequest(server.emulator, `${server.emulator.url}/_emulator${filled}?${search}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
  }

  function checkResponse({ responses }: Operation, { status, headers, text, json }: ReceivedResponse): void {
    expect(Object.keys(responses)).toContain(String(status));
    const [type, media] = Object.entries(responses[status]?.content ?? {})[0] ?? [];
    if (media === undefined || type === undefined) return;
    expect(headers['content-type']).toContain(type);
    const matches = ajv.validate(media.schema, type === 'application/json' ? json : text);
    expect(ajv.errors ?? []).toEqual([]);
    expect(matches).toBe(true);
  }

  function isValidBody({ requestBody }: Operation, body: string | undefined): boolean {
    const schema = requestBody?.content['application/json'].schema;
    if (schema === undefined) return true;
    try {
      return ajv.validate(schema, JSON.parse(body ?? ''));
    } catch {
      return false;
    }
  }

  it('for valid and invalid requests', { timeout: 120_000 }, async () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    expect(operations.length).toBeGreaterThan(20);
    for (const { method, path, operation } of operations) {
      // The stream of events does not end.
      if (operation.operationId === 'streamRequests') continue;
      const check = async (call: Call) => {
        const response = await send(method, path, call);
        checkResponse(operation, response);
        if (!isValidBody(operation, call.body)) expect([400, 403, 415]).toContain(response.status);
        if (call.headers['Origin'] !== undefined) expect(response.status).toBe(403);
      };
      await fc.assert(fc.asyncProperty(calls(operation), check), { numRuns: 100 });
    }
    expect((await server.get(`${server.emulator.url}/_emulator/status`)).status).toBe(200);
  });

  it('for methods and paths that do not exist', async () => {
    const call: Call = { path: {}, query: [], body: undefined, headers: {} };
    const method = await send('PATCH', '/faults', call);
    expect([method.status, method.headers['allow']]).toEqual([405, 'GET, PUT, DELETE']);
    for (const path of ['/nothing', '/users/', '/users/a/b', '/clients/x/..%2f'])
      expect((await send('GET', path, call)).status).toBeGreaterThanOrEqual(404);
  });

  it('for a body that is too large', async () => {
    const body = JSON.stringify({ claims: { long: 'x'.repeat(100_000) } });
    const { status } = await send('PUT', '/users/{login}', {
      path: { login: 'a' },
      query: [],
      body,
      headers: JSON_TYPE,
    });
    expect(status).toBe(413);
    expect(Object.keys(document.paths['/users/{login}']?.['put']?.responses ?? {})).toContain('413');
  });
});
