import { fstatSync, writeSync } from 'node:fs';

const descriptors = { stdout: 1, stderr: 2 } as const;

/** stdout or stderr. Writes synchronously, so that nothing is lost at exit; switches to Node's stream for a terminal or a slow reader. */
export class Output {
  #stream: NodeJS.WriteStream | undefined;

  constructor(readonly name: keyof typeof descriptors) {}

  get isTerminal(): boolean {
    return fstatSync(descriptors[this.name]).isCharacterDevice() && this.open().isTTY === true;
  }

  /** Uses Node's asynchronous stream from now on. */
  open(): NodeJS.WriteStream {
    this.#stream ??= process[this.name].on('error', (error) => failToWrite(this.name, error));
    return this.#stream;
  }

  write(text: string): void {
    const rest = this.#stream === undefined ? this.#writeAtOnce(Buffer.from(text)) : text;
    if (rest.length > 0) this.open().write(rest);
  }

  async finish(): Promise<void> {
    const stream = this.#stream;
    if (stream !== undefined) await new Promise<void>((done) => stream.write('', () => done()));
  }

  /** Returns what could not be written. */
  #writeAtOnce(bytes: Buffer): Buffer {
    let rest = bytes;
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptors[this.name], rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
        failToWrite(this.name, error as NodeJS.ErrnoException);
        return Buffer.alloc(0);
      }
    }
    return rest;
  }
}

/** Exit status if output cannot be written, for example to a full disk (EX_IOERR of sysexits.h). */
const WRITE_STATUS = 74;
let writeFailed = false;

/** Reports once that output is incomplete. A reader that stops, as in `… | head -1`, is not an error. */
function failToWrite(name: keyof typeof descriptors, { code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' || writeFailed) return;
  writeFailed = true;
  process.once('exit', () => {
    process.exitCode = WRITE_STATUS;
  });
  if (name === 'stdout') new Output('stderr').write(`oauth-profile: cannot write the output (${code})\n`);
}
