import type { Value } from '../../../config/value.ts';
import type { Files } from '../../../ports.ts';
import { excerpt } from '../../../redaction/sanitize.ts';
import type { Secret } from '../../../redaction/secret.ts';
import { type Command, defineCommand } from '../../command.ts';
import { display } from '../../compare.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';
import { type Body, readBody, readGraphqlBody } from './body.ts';
import { showText } from './exchange.ts';
import { keepPayload, responseIn, toResponse } from './response.ts';
import { type Outgoing, optionsParameter, type SendPorts, sendRequest } from './send.ts';
import { readAddress } from './url.ts';

const MAX_QUOTED = 500;
const MAX_STATUS = 100;

/** Ports of the commands that send requests. */
export interface HttpPorts extends SendPorts {
  readonly files: Files;
}

const url = { name: 'url', kind: 'text', help: 'Address, beginning with https://' } as const;
const variable = { name: 'var', kind: 'variable', help: 'Variable that receives the response' } as const;

/** The parameter of commands that take a query apart from the address. */
export const queryString = {
  name: 'queryString',
  kind: 'value',
  help: 'Added to the address: text such as a=1&b=2, or a map; may be empty',
} as const;

/** The commands that send one request and keep its response, and the one that looks at the status. */
export function httpCommands(ports: HttpPorts): Command[] {
  return [
    defineCommand({
      group: 'ws',
      name: 'get',
      summary: 'Sends a GET and keeps the response, whatever its status',
      parameters: [url, queryString, variable, optionsParameter],
      example: 'ws.get: [https://graph.microsoft.com/v1.0/me, "", me]',
      run: (args, context) =>
        exchange(
          { method: 'GET', address: readAddress(context, args.url, args.queryString), options: args.options },
          args.var,
          context,
          ports,
        ),
    }),
    defineCommand({
      group: 'ws',
      name: 'head',
      summary: 'Sends a HEAD and keeps the response, which has no body',
      parameters: [url, variable, optionsParameter],
      example: 'ws.head: [https://api.example.com/report.pdf, report]',
      run: (args, context) =>
        exchange(
          { method: 'HEAD', address: readAddress(context, args.url), options: args.options },
          args.var,
          context,
          ports,
        ),
    }),
    ...['post', 'put', 'patch', 'delete'].map((name) =>
      bodyCommand(name, `Sends a ${name.toUpperCase()} with a body and keeps the response, whatever its status`, {
        help: 'Text, a map or list for JSON, @path for the content of a file, or nothing',
        example:
          name === 'delete'
            ? 'ws.delete: [https://api.example.com/items/7, "", gone]'
            : `ws.${name}: ["https://api.example.com/items/7", {name: Ada}, item]`,
        method: name.toUpperCase(),
        read: readBody,
        ports,
      }),
    ),
    bodyCommand('graphql', 'Sends a GraphQL request as JSON and keeps the response', {
      help: 'The query, @path of a file that holds it, or a map of query, variables and operationName',
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
      const address = readAddress(context, args.url);
      const body = await read(args.body, context, ports.files);
      await exchange({ method, address, body, options: args.options }, args.var, context, ports);
    },
  });
}

/** Sends a request and keeps its response in a variable. */
export async function exchange(
  outgoing: Outgoing,
  name: string,
  context: StepContext,
  ports: SendPorts,
): Promise<void> {
  const { reply, elapsedMs } = await sendRequest(outgoing, context, ports);
  const response = toResponse(reply, elapsedMs);
  keepPayload(name, response, reply.body, context);
  context.set(name, response);
}

const assertReturnCode = defineCommand({
  group: 'ws',
  name: 'assertReturnCode',
  summary: 'Fails unless a response has one of these statuses',
  parameters: [
    { name: 'var', kind: 'variable', help: 'Variable that holds the response' },
    { name: 'returnCode', kind: 'statuses', help: '200, or several such as 200-204,301' },
  ],
  example: 'ws.assertReturnCode: [me, 200]',
  run(args, context) {
    const { status, statusText, body } = responseIn(args.var, context);
    if (args.returnCode.some(([from, to]) => status >= from && status <= to)) return;
    const expected = args.returnCode.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
    const said = showText(display(body), 'text', MAX_QUOTED, context);
    throw wrongStatus(args.var, expected, `${status} ${statusText}`, said, context);
  },
});

/** A reply whose status is not the one that was wanted, with the beginning of what it says. */
export function wrongStatus(
  who: string | Secret,
  expected: string,
  status: string,
  said: string,
  context: StepContext,
): StepFailure {
  // Masked before it is cut: what is left of a secret would not be known any more.
  const actual = excerpt(showText(status.trim(), 'text', MAX_QUOTED, context), MAX_STATUS);
  const words = excerpt(said, MAX_QUOTED);
  return new StepFailure(`${String(who)} answered ${actual}${words === '' ? '' : `: ${words}`}`, { expected, actual });
}
