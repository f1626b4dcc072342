import type { FileWriter } from '../../../ports.ts';
import type { Secret } from '../../../redaction/secret.ts';
import { type Command, defineCommand } from '../../command.ts';
import { StepFailure } from '../../step-failure.ts';
import { showBody } from './exchange.ts';
import { exchange, type HttpPorts, queryString, wrongStatus } from './http.ts';
import { readForm } from './multipart.ts';
import { payloadOf } from './response.ts';
import { optionsParameter, sendRequest } from './send.ts';
import { readAddress } from './url.ts';

const MAX_QUOTED = 500;

/** The commands that move files. A path starts from the script's folder and may lead out of it: the script is its user's own. */
export function fileCommands(ports: HttpPorts): Command[] {
  return [
    defineCommand({
      group: 'ws',
      name: 'download',
      summary:
        'Saves what a GET answers as a file, of any size; fails, and leaves no file, unless the status is 200 to 299',
      parameters: [
        { name: 'url', kind: 'text', help: 'Address, beginning with https://' },
        queryString,
        { name: 'saveTo', kind: 'text', help: 'Path of the file' },
        { ...optionsParameter, help: 'followRedirects: true; timeout: the longest silence (30s)' },
      ],
      example: 'ws.download: [https://api.example.com/report.pdf, "", out/report.pdf]',
      async run(args, context) {
        const address = readAddress(context, args.url, args.queryString);
        const path = pathIn(args.saveTo, 'saveTo');
        let file: Promise<FileWriter> | undefined;
        const create = (): Promise<FileWriter> => {
          file ??= ports.files.create(path, context.source.directory);
          return file;
        };
        const save = (status: number) =>
          isSuccess(status) ? async (piece: Uint8Array) => (await create()).write(piece) : undefined;
        try {
          const outgoing = { method: 'GET', address, options: args.options, save };
          const { reply, from } = await sendRequest(outgoing, context, ports);
          const { status, statusText } = reply;
          if (!isSuccess(status)) {
            const said = showBody(reply, MAX_QUOTED, context);
            throw wrongStatus(from, '200-299', `${status} ${statusText}`, said, context);
          }
          await (await create()).commit();
        } catch (error) {
          // It may still be being made, and must not stay then.
          await file?.then((made) => made.discard()).catch(() => {});
          throw error;
        }
      },
    }),
    defineCommand({
      group: 'ws',
      name: 'upload',
      summary:
        'Posts files and fields as multipart/form-data and keeps the response; the form sets its own Content-Type',
      parameters: [
        { name: 'url', kind: 'text', help: 'Address, beginning with https://' },
        { name: 'body', kind: 'map', help: 'Fields of the form; a list is one field several times' },
        { name: 'fileParams', kind: 'map', help: 'For each field the path of its file, or a list of paths' },
        { name: 'var', kind: 'variable', help: 'Variable that receives the response' },
        optionsParameter,
      ],
      example: 'ws.upload: ["https://api.example.com/files", {title: Report}, {file: report.pdf}, sent]',
      async run(args, context) {
        const address = readAddress(context, args.url);
        const body = await readForm(args.body, args.fileParams, context, ports.files);
        await exchange({ method: 'POST', address, body, options: args.options }, args.var, context, ports);
      },
    }),
    defineCommand({
      group: 'ws',
      name: 'saveResponsePayload',
      summary: 'Writes the body of a response into a file, byte for byte as it was received',
      parameters: [
        { name: 'var', kind: 'variable', help: 'Variable that holds the response' },
        { name: 'file', kind: 'text', help: 'Path of the file' },
        { name: 'append', kind: 'flag', help: 'True adds to the file instead of replacing it', optional: true },
      ],
      example: 'ws.saveResponsePayload: [me, out/me.json, false]',
      run: (args, context) =>
        ports.files.write(
          pathIn(args.file, 'file'),
          context.source.directory,
          payloadOf(args.var, context),
          args.append ?? false,
        ),
    }),
  ];
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Paths are shown, so they are not made from secrets. */
function pathIn(text: string | Secret, parameter: string): string {
  if (typeof text === 'string' && text !== '' && !text.includes('\0')) return text;
  throw new StepFailure(`${parameter} must be the path of a file, and not made from a secret`);
}
