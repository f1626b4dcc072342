import type { Value } from '../../../config/value.ts';
import type { Files } from '../../../ports.ts';
import { excerpt } from '../../../redaction/sanitize.ts';
import { type Command, defineCommand } from '../../command.ts';
import { displayValue } from '../../compare.ts';
import { type StepContext, StepFailure } from '../../step-context.ts';
import { type Body, readBody, readGraphqlBody } from './body.ts';
import { showText } from './exchange.ts';
import { getResponse, storePayload, toResponse } from './response.ts';
import { optionsParameter, type RequestSpec, type SendPorts, sendRequest } from './send.ts';
import { readUrl } from './url.ts';

const MAX_QUOTED = 500;
const MAX_STATUS = 100;

/** Dependencies of the commands that send requests. */
export interface HttpPorts extends SendPorts {
  readonly files: Files;
}

const url = { name: 'url', kind: 'text', help: 'URL, starting with https://' } as const;
const variable = { name: 'var', kind: 'variable', help: 'Variable for the response' } as const;

/** The parameter for a query string. */
export const queryString = {
  name: 'queryString',
  kind: 'value',
  help: 'Appended to the URL: a string such as a=1&b=2, or a map; may be empty',
} as const;

/** Creates the commands that send a request and save its response, and the one that checks the status. */
export function httpCommands(ports: HttpPorts): Command[] {
  return [
    defineCommand({
      group: 'ws',
      name: 'get',
      summary: 'Sends a GET request and saves the response, whatever its status',
      parameters: [url, queryString, variable, optionsParameter],
      example: 'ws.get: [https://graph.microsoft.com/v1.0/me, "", me]',
      run: (args, context) =>
        sendAndSave(
          { method: 'GET', target: readUrl(context, args.url, args.queryString), options: args.options },
          args.var,
          context,
          ports,
        ),
    }),
    defineCommand({
      group: 'ws',
      name: 'head',
      summary: 'Sends a HEAD request and saves the response, which has no body',
      parameters: [url, variable, optionsParameter],
      example: 'ws.head: [https://api.example.com/report.pdf, report]',
      run: (args, context) =>
        sendAndSave(
          { method: 'HEAD', target: readUrl(context, args.url), options: args.options },
          args.var,
          context,
          ports,
        ),
    }),
    ...['post', 'put', 'patch', 'delete'].map((name) =>
      bodyCommand(name, `Sends a ${name.toUpperCase()} request and saves the response, whatever its status`, {
        help: 'String, a map or list for JSON, @path for the content of a file, or empty',
        example:
          name === 'delete'
            ? 'ws.delete: [https://api.example.com/items/7, "", gone]'
            : `ws.${name}: ["https://api.example.com/items/7", {name: Ada}, item]`,
        method: name.toUpperCase(),
        read: readBody,
        ports,
      }),
    ),
    bodyCommand('graphql', 'Sends a GraphQL request and saves the response', {
      help: 'Query, @path of a file with the query, or a map of query, variables and operationName',
      example: 'ws.graphql: ["https://api.example.com/graphql", "{ me { name } }", me]',
      method: 'POST',
      read: readGraphqlBody,
      ports,
    }),
    assertReturnCode,
  ];
}

interface BodyCommand {
  readonly help: string;
  readonly example: string;
  readonly method: string;
  readonly read: (value: Value, context: StepContext, files: Files) => Promise<Body | undefined>;
  readonly ports: HttpPorts;
}

function bodyCommand(name: string, summary: string, { help, example, method, read, ports }: BodyCommand): Command {
  return defineCommand({
    group: 'ws',
    name,
    summary,
    parameters: [url, { name: 'body', kind: 'value', help }, variable, optionsParameter],
    example,
    async run(args, context) {
      const target = readUrl(context, args.url);
      const body = await read(args.body, context, ports.files);
      await sendAndSave({ method, target, body, options: args.options }, args.var, context, ports);
    },
  });
}

/** Sends a request and saves its response in a variable. */
export async function sendAndSave(
  request: RequestSpec,
  name: string,
  context: StepContext,
  ports: SendPorts,
): Promise<void> {
  const { response, elapsedMs } = await sendRequest(request, context, ports);
  const value = toResponse(response, elapsedMs);
  storePayload(name, value, response.body, context);
  context.set(name, value);
}

const assertReturnCode = defineCommand({
  group: 'ws',
  name: 'assertReturnCode',
  summary: 'Asserts the status of a response',
  parameters: [
    { name: 'var', kind: 'variable', help: 'Variable with the response' },
    { name: 'returnCode', kind: 'statuses', help: 'Expected status, or statuses such as 200-204,301' },
  ],
  example: 'ws.assertReturnCode: [me, 200]',
  run(args, context) {
    const { status, statusText, body } = getResponse(args.var, context);
    if (args.returnCode.some(([from, to]) => status >= from && status <= to)) return;
    const expected = args.returnCode.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
    const shownBody = showText(displayValue(body), 'text', MAX_QUOTED, context);
    throw unexpectedStatus(args.var, expected, `${status} ${statusText}`, shownBody, context);
  },
});

/** Creates the failure for an unexpected status; it quotes the start of the body. */
export function unexpectedStatus(
  subject: string,
  expected: string,
  status: string,
  body: string,
  context: StepContext,
): StepFailure {
  // Masked before it is truncated: a part of a secret would not be recognized.
  const actual = excerpt(showText(status.trim(), 'text', MAX_QUOTED, context), MAX_STATUS);
  const quoted = excerpt(body, MAX_QUOTED);
  const message = `${subject} returned HTTP ${actual}${quoted === '' ? '' : `: ${quoted}`}`;
  return new StepFailure(message, { expected, actual });
}
