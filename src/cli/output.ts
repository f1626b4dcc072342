import { fstatSync, writeSync } from 'node:fs';

const descriptors = { stdout: 1, stderr: 2 } as const;

/**
 * One of the two outputs of this process. Node's own stream takes longer to make than a profile to read, so it is made only for who
 * needs it: a terminal's colours, a reader that cannot take everything at once, a command that goes on while nobody reads.
 */
export class Output {
  #stream: NodeJS.WriteStream | undefined;

  constructor(readonly name: keyof typeof descriptors) {}

  get isTerminal(): boolean {
    return fstatSync(descriptors[this.name]).isCharacterDevice() && this.open().isTTY === true;
  }

  /** From now on nothing waits for the reader. */
  open(): NodeJS.WriteStream {
    this.#stream ??= process[this.name].on('error', (error) => failToWrite(this.name, error));
    return this.#stream;
  }

  write(text: string): void {
    const rest = this.#stream === undefined ? this.#writeAtOnce(Buffer.from(text)) : text;
    if (rest.length > 0) this.open().write(rest);
  }

  /** Waits until everything is written, or nobody reads on. */
  async finish(): Promise<void> {
    const stream = this.#stream;
    if (stream !== undefined) await new Promise<void>((done) => stream.write('', () => done()));
  }

  /** What could not be written. */
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

/** A full disk and the like (sysexits' EX_IOERR). */
const WRITE_STATUS = 74;
let writeFailed = false;

/** Tells once that the output is not all there, whatever the command itself comes to; who reads may stop reading: `… | head -1`. */
function failToWrite(name: keyof typeof descriptors, { code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' || writeFailed) return;
  writeFailed = true;
  process.once('exit', () => {
    process.exitCode = WRITE_STATUS;
  });
  if (name === 'stdout') new Output('stderr').write(`oauth-profile: the output cannot be written (${code})\n`);
}
