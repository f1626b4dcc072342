import { objectOf, type Schema } from '../schemas.ts';
import { members, name, type Operation, operations, text, texts } from './operations.ts';

const problem: Schema = objectOf({ error: text, issues: texts }, ['error']);

function jsonContent(schema: Schema): Schema {
  return { content: { 'application/json': { schema } } };
}

const forbidden = { description: 'The request comes from a page of another origin', ...jsonContent(problem) };

/** The OpenAPI document of the control API. */
export function openApiDocument(origin: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {
    '/openapi.json': {
      get: {
        operationId: 'getOpenApi',
        summary: 'This document',
        responses: { 200: { description: 'The document', ...jsonContent(members) }, 403: forbidden },
      },
    },
    '/ca.pem': {
      get: {
        operationId: 'getCertificate',
        summary: 'The CA certificate to trust for the production URLs, PEM',
        responses: {
          200: { description: 'The certificate', content: { 'text/plain': { schema: text } } },
          403: forbidden,
        },
      },
    },
    '/events': {
      get: {
        operationId: 'streamRequests',
        summary: 'Handled requests as server-sent events',
        responses: {
          200: { description: 'Events', content: { 'text/event-stream': { schema: text } } },
          403: forbidden,
        },
      },
    },
  };
  for (const operation of operations as readonly Operation[]) {
    const { method, path, id, summary, query = {}, body, status = 200, response, canMiss } = operation;
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
        [status]: { description: summary, ...(response && jsonContent(response)) },
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
