import { member } from '../../../config/resolver.ts';
import { excerpt } from '../../../redaction/sanitize.ts';
import { type Command, commandGroup, parameter } from '../../command.ts';
import { displayText, displayValue, isSameValue } from '../../compare.ts';
import { assertStep, type StepContext, StepFailure } from '../../step-context.ts';
import { formBody, readBody, readGraphqlBody } from './body.ts';
import { dropPendingHeaders } from './headers.ts';
import { getResponse, storePayload, toResponse } from './response.ts';
import { type HttpPorts, optionsParameter, type RequestSpec, sendRequest } from './send.ts';
import { readUrl } from './url.ts';

const MAX_QUOTED = 500;
const MAX_STATUS = 100;

const ws = commandGroup('ws');

/** Defines a command that sends a request. */
export const requestCommand: typeof ws = (name, summary, definition) =>
  ws(name, summary, { ...definition, onFailure: dropPendingHeaders });

/** The parameter for the URL of a request. */
export const url = parameter('url', 'text', 'URL, starting with https://');

/** The parameter for the variable that a request sets. */
export const responseVariable = parameter('var', 'variable', 'Variable for the response');

/** The parameter for a query string. */
export const queryString = parameter(
  'queryString',
  'value',
  'Appended to the URL: a string such as a=1&b=2, or a map; may be empty',
  { optionalInMap: true },
);

/** Creates the commands that send a request and save its response, and the one that checks the status. */
export function httpCommands(ports: HttpPorts): Command[] {
  const bodyCommand = (name: string, summary: string, help: string, example: string, read = readBody): Command =>
    requestCommand(name, summary, {
      parameters: [
        url,
        parameter('body', 'value', help, { optionalInMap: read === readBody }),
        responseVariable,
        optionsParameter,
      ],
      example,
      async run(args, context) {
        const target = readUrl(context, args.url);
        const body = await read(args.body ?? '', context, ports.files, target.url);
        const method = read === readBody ? name.toUpperCase() : 'POST';
        await sendAndSave({ method, target, body, options: args.options }, args.var, context, ports);
      },
    });
  return [
    requestCommand('get', 'Sends a GET request and saves the response, whatever its status', {
      parameters: [url, queryString, responseVariable, optionsParameter],
      example: 'ws.get: [https://graph.microsoft.com/v1.0/me, "", me]',
      run(args, context) {
        const target = readUrl(context, args.url, args.queryString);
        return sendAndSave({ method: 'GET', target, options: args.options }, args.var, context, ports);
      },
    }),
    requestCommand('head', 'Sends a HEAD request and saves the response, which has no body', {
      parameters: [url, responseVariable, optionsParameter],
      example: 'ws.head: [https://api.example.com/report.pdf, report]',
      run(args, context) {
        const target = readUrl(context, args.url);
        return sendAndSave({ method: 'HEAD', target, options: args.options }, args.var, context, ports);
      },
    }),
    ...['post', 'put', 'patch', 'delete'].map((name) =>
      bodyCommand(
        name,
        `Sends a ${name.toUpperCase()} request and saves the response, whatever its status`,
        'String, a map or list for JSON (a form if that is the Content-Type), @path of a file, @template:path of a file with references, or empty',
        name === 'delete'
          ? 'ws.delete: [https://api.example.com/items/7, "", gone]'
          : `ws.${name}: ["https://api.example.com/items/7", {name: Ada}, item]`,
      ),
    ),
    requestCommand('postForm', 'Posts fields as application/x-www-form-urlencoded and saves the response', {
      parameters: [
        url,
        parameter('fields', 'map', 'Form fields; a list repeats its field'),
        responseVariable,
        optionsParameter,
      ],
      example: 'ws.postForm: ["https://api.example.com/login", {user: ada, keep: true}, login]',
      async run(args, context) {
        const target = readUrl(context, args.url);
        const body = { ...formBody(args.fields, context, target.url), fixedType: true };
        await sendAndSave({ method: 'POST', target, body, options: args.options }, args.var, context, ports);
      },
    }),
    bodyCommand(
      'graphql',
      'Sends a GraphQL request and saves the response',
      'Query, @path of a file with the query, or a map of query, variables and operationName',
      'ws.graphql: ["https://api.example.com/graphql", "{ me { name } }", me]',
      readGraphqlBody,
    ),
    ws('assertReturnCode', 'Asserts the status of a response', {
      parameters: [
        parameter('var', 'variable', 'Variable with the response'),
        parameter('returnCode', 'statuses', 'Expected status, or statuses such as 200-204,301'),
      ],
      example: 'ws.assertReturnCode: [me, 200]',
      run(args, context) {
        const { status, statusText, body } = getResponse(args.var, context);
        if (args.returnCode.some(([from, to]) => status >= from && status <= to)) return;
        const expected = args.returnCode.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
        throw unexpectedStatus(args.var, expected, `${status} ${statusText}`, displayValue(body), context);
      },
    }),
    ws('assertHeader', 'Asserts the value of a header of a response; its name is case-insensitive', {
      parameters: [
        parameter('var', 'variable', 'Variable with the response'),
        parameter('name', 'text', 'Name of the header'),
        parameter('expected', 'value', 'Expected value; several headers of the same name are joined with commas'),
      ],
      example: 'ws.assertHeader: [me, Content-Type, application/json]',
      run(args, context) {
        const name = String(args.name);
        const actual = member(getResponse(args.var, context).headers, [name]);
        const { expected } = args;
        assertStep(actual !== undefined, `the response has no header ${excerpt(name, MAX_STATUS)}`, { expected });
        const value = Array.isArray(actual) ? actual.join(', ') : actual;
        assertStep(isSameValue(expected, value), `the header ${name} differs`, { expected, actual: value });
      },
    }),
    ws('assertTime', 'Asserts that a response arrived within a time', {
      parameters: [
        parameter('var', 'variable', 'Variable with the response'),
        parameter('maxMs', 'number', 'Maximum time, in milliseconds'),
      ],
      example: 'ws.assertTime: [me, 2000]',
      run(args, context) {
        const { elapsedMs } = getResponse(args.var, context);
        const details = { expected: `at most ${args.maxMs} ms`, actual: `${elapsedMs} ms` };
        assertStep(elapsedMs <= args.maxMs, 'the response took too long', details);
      },
    }),
  ];
}

/** Sends a request and saves its response in a variable. */
export async function sendAndSave(request: RequestSpec, name: string, context: StepContext, ports: HttpPorts) {
  const { response, decoded, elapsedMs } = await sendRequest(request, context, ports);
  const value = toResponse(response, decoded, elapsedMs);
  storePayload(name, value['text'] ?? '', response.body, context);
  context.set(name, value);
}

/** Creates the failure for an unexpected status; it quotes the start of the body. */
export function unexpectedStatus(
  subject: string,
  expected: string,
  status: string,
  body: string,
  { redact }: StepContext,
): StepFailure {
  // Masked before it is truncated: a part of a secret would not be recognized.
  const actual = excerpt(displayText(status.trim(), MAX_QUOTED, redact), MAX_STATUS);
  const quoted = excerpt(displayText(body, MAX_QUOTED, redact), MAX_QUOTED);
  return new StepFailure(`${subject} returned HTTP ${actual}${quoted === '' ? '' : `: ${quoted}`}`, {
    expected,
    actual,
  });
}
