import type { FileWriter } from '../../../ports.ts';
import type { Secret } from '../../../redaction/secret.ts';
import { type Command, commandGroup, parameter } from '../../command.ts';
import { StepFailure } from '../../step-context.ts';
import { readForm } from './body.ts';
import { queryString, requestCommand, responseVariable, sendAndSave, unexpectedStatus, url } from './http.ts';
import { getPayload, showBody } from './response.ts';
import { type HttpPorts, optionsParameter, sendRequest } from './send.ts';
import { readUrl } from './url.ts';

const MAX_QUOTED = 500;

const ws = commandGroup('ws');

/** Creates the commands that transfer files. A path starts from the script's directory and may lead out of it: the user trusts the script. */
export function fileCommands(ports: HttpPorts): Command[] {
  return [
    requestCommand(
      'download',
      'Sends a GET and saves the response body in a file, of any size; fails without a file unless the status is 200 to 299',
      {
        parameters: [
          url,
          queryString,
          parameter('saveTo', 'text', 'Path of the file'),
          {
            ...optionsParameter,
            help: 'Settings of this request: redirects: 5, timeout: maximum time without data (default 30s)',
          },
        ],
        example: 'ws.download: [https://api.example.com/report.pdf, "", out/report.pdf]',
        async run(args, context) {
          const target = readUrl(context, args.url, args.queryString);
          const path = requirePath(args.saveTo, 'saveTo');
          let file: Promise<FileWriter> | undefined;
          const create = (): Promise<FileWriter> => {
            file ??= ports.files.create(path, context.source.directory);
            return file;
          };
          const save = (status: number) =>
            isSuccess(status) ? async (chunk: Uint8Array) => (await create()).write(chunk) : undefined;
          try {
            const request = { method: 'GET', target, options: args.options, save };
            const { response, decoded, shownUrl } = await sendRequest(request, context, ports);
            const { status, statusText } = response;
            if (!isSuccess(status)) {
              const body = showBody(response, decoded, MAX_QUOTED, context.redact);
              throw unexpectedStatus(shownUrl, '200-299', `${status} ${statusText}`, body, context);
            }
            await (await create()).commit();
          } catch (error) {
            // The file may still be being created.
            await file?.then((created) => created.discard()).catch(() => {});
            throw error;
          }
        },
      },
    ),
    requestCommand(
      'upload',
      'Posts files and fields as multipart/form-data and saves the response; sets its own Content-Type',
      {
        parameters: [
          url,
          parameter('body', 'map', 'Form fields; a list repeats its field', { optionalInMap: true }),
          parameter('fileParams', 'map', 'Path of a file, or a list of paths, by field name', { optionalInMap: true }),
          responseVariable,
          optionsParameter,
        ],
        example: 'ws.upload: ["https://api.example.com/files", {title: Report}, {file: report.pdf}, sent]',
        async run(args, context) {
          const target = readUrl(context, args.url);
          const body = await readForm(args.body ?? {}, args.fileParams ?? {}, context, ports.files);
          await sendAndSave({ method: 'POST', target, body, options: args.options }, args.var, context, ports);
        },
      },
    ),
    ws('saveResponsePayload', 'Writes the body of a response to a file, byte for byte as received', {
      parameters: [
        parameter('var', 'variable', 'Variable with the response'),
        parameter('file', 'text', 'Path of the file'),
        parameter('append', 'flag', 'true appends to the file instead of replacing it', { optional: true }),
      ],
      example: 'ws.saveResponsePayload: [me, out/me.json, false]',
      run({ var: name, file, append = false }, context) {
        const path = requirePath(file, 'file');
        return ports.files.write(path, context.source.directory, getPayload(name, context), append);
      },
    }),
  ];
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Paths appear in reports, so they must not contain secrets. */
function requirePath(text: string | Secret, parameter: string): string {
  if (typeof text === 'string' && text !== '' && !text.includes('\0')) return text;
  throw new StepFailure(`${parameter} must be the path of a file and must not contain a secret`);
}
