import { objectOf, type Schema } from '../schemas.ts';
import { members, name, type Operation, operations, successStatus, text, texts } from './operations.ts';

const problem: Schema = objectOf({ error: text, issues: texts }, ['error']);

function jsonContent(schema: Schema): Schema {
  return { content: { 'application/json': { schema } } };
}

const forbidden = { description: 'The request comes from a page of another origin', ...jsonContent(problem) };

/** The documents that are not operations. */
const documents = [
  ['/openapi.json', 'getOpenApi', 'This document', 'application/json'],
  ['/ca.pem', 'getCertificate', 'The CA certificate to trust for the production URLs, PEM', 'text/plain'],
  ['/events', 'streamRequests', 'Handled requests as server-sent events', 'text/event-stream'],
] as const;

/** The OpenAPI document of the control API. */
export function openApiDocument(origin: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, operationId, summary, type] of documents) {
    const content = { [type]: { schema: type === 'application/json' ? members : text } };
    paths[path] = {
      get: { operationId, summary, responses: { 200: { description: summary, content }, 403: forbidden } },
    };
  }
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    const { route, summary, query = {}, body, response, canMiss } = operation;
    const [method = '', path = ''] = route.split(' ');
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => ({
      name: parameter,
      in: 'path',
      required: true,
      schema: name,
    }));
    const inQuery = Object.entries(query).map(([parameter, schema]) => ({ name: parameter, in: 'query', schema }));
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = {
      operationId: id,
      summary,
      ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
      ...(body && { requestBody: { required: true, ...jsonContent(body) } }),
      responses: {
        [successStatus(operation)]: { description: summary, ...(response && jsonContent(response)) },
        400: { description: 'The request is invalid', ...jsonContent(problem) },
        403: forbidden,
        ...(canMiss && { 404: { description: 'Not found', ...jsonContent(problem) } }),
        ...(body && {
          413: { description: 'The request is larger than 64 KiB' },
          415: { description: 'The request is not JSON', ...jsonContent(problem) },
        }),
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'oauth-profile emulator: control API',
      version: '1',
      description: 'Controls a running emulator. Available on this machine only.',
    },
    servers: [{ url: `${origin}/_emulator` }],
    paths,
  };
}
