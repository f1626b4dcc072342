import type { Environment } from '../ports.ts';
import { RedactedStream, Redactor } from '../redaction/redactor.ts';
import { onSecretCreated, type Secret } from '../redaction/secret.ts';
import type { Output } from './output.ts';
import { type Style, styleFor } from './style.ts';

/** The two outputs of a process, with every secret it ever held masked on both. */
export class Terminal {
  #style: { readonly out: Style; readonly err: Style } | undefined;
  readonly #out: RedactedStream;
  readonly #err: RedactedStream;
  /** The one that was written to last. */
  #current: RedactedStream;
  readonly #announced = new Set<string>();
  /** Whether what is written is searched for commands of GitHub's runner. */
  readonly #onGithub: boolean;
  #telling = false;

  constructor(
    readonly out: Output,
    readonly err: Output,
    readonly env: Environment,
  ) {
    const redactor = new Redactor();
    this.#out = new RedactedStream(redactor, (text) => out.write(text));
    this.#err = new RedactedStream(redactor, (text) => {
      this.#telling = true;
      err.write(text);
      this.#telling = false;
    });
    this.#onGithub = env['GITHUB_ACTIONS'] === 'true';
    this.#current = this.#out;
    onSecretCreated((secret) => {
      redactor.add(secret);
      if (this.#onGithub) this.#announce(secret);
    });
  }

  get style(): { readonly out: Style; readonly err: Style } {
    this.#style ??= { out: styleFor(this.out, this.env), err: styleFor(this.err, this.env) };
    return this.#style;
  }

  /** Whether a person looks at stderr, and what is shown there can be redrawn. */
  get isLive(): boolean {
    return this.err.isTerminal && this.env['TERM'] !== 'dumb' && !this.env['CI'];
  }

  /** Width of stderr, where it is a terminal. */
  get columns(): number | undefined {
    return this.err.open().columns;
  }

  /** For a command that must go on while nobody reads what it prints. */
  waitForNobody(): void {
    this.out.open();
    this.err.open();
  }

  /** The result: stdout. */
  print(text: string): void {
    this.#turnTo(this.#out).push(this.#harmless(text));
  }

  /** A result that the person asked to see in clear. */
  printClear(text: string): void {
    this.#turnTo(this.#out).pushClear(text);
  }

  /** Everything but the result: stderr. */
  tell(text: string): void {
    this.#turnTo(this.#err).push(this.#harmless(text));
  }

  /** Commands to GitHub's runner, which reads stderr too. */
  tellRunner(commands: string): void {
    this.#turnTo(this.#err).push(commands);
  }

  /** Searches also what others write to stderr, such as Node itself where NODE_DEBUG is set: whole requests. */
  guard(stderr: NodeJS.WriteStream): void {
    const write = stderr.write.bind(stderr) as (...parts: unknown[]) => boolean;
    stderr.write = ((...parts: unknown[]): boolean => {
      if (this.#telling) return write(...parts);
      this.#turnTo(this.#err).push(String(parts[0]));
      return true;
    }) as typeof stderr.write;
  }

  /** Shows what was held back, because it might have been the beginning of a secret. */
  flush(): void {
    (this.#current === this.#out ? this.#err : this.#out).flush();
    this.#current.flush();
  }

  /** After it the process may end. */
  async finish(): Promise<void> {
    this.flush();
    await this.out.finish();
    await this.err.finish();
  }

  /** What comes from outside must not command GitHub's runner: it obeys `::` at the start of a line and `##[` anywhere. In JSON the escapes mean the same. */
  #harmless(text: string): string {
    if (!this.#onGithub) return text;
    return text.replace(/^([^\S\n]*):(?=:)/gm, '$1\\u003a').replaceAll('##[', '#\\u0023[');
  }

  /** A line of the other output ends before this one goes on: both may be the same terminal. */
  #turnTo(stream: RedactedStream): RedactedStream {
    if (stream !== this.#current) this.#current.endLine();
    this.#current = stream;
    return stream;
  }

  /** Tells the runner of GitHub Actions, which reads stderr too, to mask the value in what other steps print; it masks line by line. */
  #announce(secret: Secret): void {
    for (const line of secret.reveal().split(/[\r\n]+/)) {
      // A reference says where a secret is, and is none.
      if (line.length < 8 || this.#announced.has(line) || /^\$\{(?!.*:-)[^{}]*\}$/.test(line)) continue;
      this.#announced.add(line);
      this.#turnTo(this.#err).pushClear(`::add-mask::${line.replaceAll('%', '%25')}\n`);
    }
  }
}
