import type { Environment } from '../ports.ts';
import { RedactedStream, Redactor } from '../redaction/redactor.ts';
import { escapeControlsInJson } from '../redaction/sanitize.ts';
import { onSecretCreated, type Secret } from '../redaction/secret.ts';
import type { Output } from './output.ts';
import { type Style, styleFor } from './style.ts';

/** stdout and stderr of the process. Every secret is masked on both. */
export class Terminal {
  readonly style: { readonly out: Style; readonly err: Style };
  readonly #out: RedactedStream;
  readonly #err: RedactedStream;
  /** The stream that was written to last. */
  #current: RedactedStream;
  readonly #masked = new Set<string>();
  readonly #onGithub: boolean;
  /** Whether secrets are registered with GitHub Actions, on stderr. A program that another one runs must not do that: the caller may log stderr. */
  registersMasks = true;
  #writing = false;
  readonly #redactor: Redactor;

  constructor(
    readonly out: Output,
    readonly err: Output,
    readonly env: Environment,
  ) {
    this.style = { out: styleFor(out, env), err: styleFor(err, env) };
    const redactor = new Redactor();
    this.#redactor = redactor;
    this.#out = new RedactedStream(redactor, (text) => out.write(text));
    this.#err = new RedactedStream(redactor, (text) => {
      this.#writing = true;
      err.write(text);
      this.#writing = false;
    });
    this.#onGithub = env['GITHUB_ACTIONS'] === 'true';
    this.#current = this.#out;
    onSecretCreated((secret) => {
      redactor.add(secret);
      if (this.#onGithub && this.registersMasks) this.#registerMask(secret);
    });
  }

  /** Whether a string is a secret, or contains one. */
  containsSecret(text: string): boolean {
    return this.#redactor.redact(text) !== text;
  }

  /** Whether stderr is a terminal that can be redrawn. */
  get isInteractive(): boolean {
    return this.err.isTerminal && this.env['TERM'] !== 'dumb' && !this.env['CI'];
  }

  /** Width of stderr if it is a terminal. */
  get columns(): number | undefined {
    return this.err.open().columns;
  }

  /** Uses asynchronous streams, for a command that must not block while its output is not read. */
  useStreams(): void {
    this.out.open();
    this.err.open();
  }

  /** Writes a result. */
  stdout(text: string): void {
    this.#switchTo(this.#out).push(this.escapeCommands(text));
  }

  /** Writes a result as JSON, indented unless it is one of many lines. */
  stdoutJson(value: unknown, indent = 2): void {
    this.stdout(`${escapeControlsInJson(value, indent)}\n`);
  }

  /** Writes a result that contains a secret on request. */
  stdoutRaw(text: string): void {
    this.#switchTo(this.#out).pushClear(this.escapeCommands(text));
  }

  /** Writes anything but a result. */
  stderr(text: string): void {
    this.#switchTo(this.#err).push(this.escapeCommands(text));
  }

  /** Writes a line for the user at once, although it may end with the beginning of a secret. */
  prompt(text: string): void {
    this.stderr(text);
    this.flush();
  }

  /** Writes workflow commands of GitHub Actions, which reads stderr too. */
  workflowCommand(commands: string): void {
    this.#switchTo(this.#err).push(commands);
  }

  /** Masks secrets in what Node itself writes to stderr: with NODE_DEBUG, whole requests. */
  interceptStderr(stderr: NodeJS.WriteStream): void {
    const write = stderr.write.bind(stderr) as (...parts: unknown[]) => boolean;
    stderr.write = ((...parts: unknown[]): boolean => {
      if (this.#writing) return write(...parts);
      this.#switchTo(this.#err).push(String(parts[0]));
      return true;
    }) as typeof stderr.write;
  }

  /** Writes what was held back because it could be the beginning of a secret. */
  flush(): void {
    (this.#current === this.#out ? this.#err : this.#out).flush();
    this.#current.flush();
  }

  /** Waits until everything is written. */
  async finish(): Promise<void> {
    this.flush();
    await this.out.finish();
    await this.err.finish();
  }

  /**
   * Escapes commands that CI servers find in the output: GitHub Actions executes `::` at the start of a line and `##[` anywhere, Azure Pipelines
   * `##vso[`, TeamCity `##teamcity[`. The escapes have the same meaning in JSON.
   */
  escapeCommands(text: string): string {
    if (!this.#onGithub && !this.env['TF_BUILD'] && !this.env['TEAMCITY_VERSION']) return text;
    return text.replace(/^([^\S\n]*):(?=:)/gm, '$1\\u003a').replace(/##(?=(?:vso|teamcity)?\[)/g, '#\\u0023');
  }

  /** Ends the line of the other stream first: both may be the same terminal. */
  #switchTo(stream: RedactedStream): RedactedStream {
    if (stream !== this.#current) this.#current.endLine();
    this.#current = stream;
    return stream;
  }

  /** Registers a secret with GitHub Actions, which masks it line by line in the output of later steps. */
  #registerMask(secret: Secret): void {
    for (const line of secret.reveal().split(/[\r\n]+/)) {
      // A reference such as ${env:NAME} is not a secret.
      if (line.length < 8 || this.#masked.has(line) || /^\$\{(?!.*:-)[^{}]*\}$/.test(line)) continue;
      this.#masked.add(line);
      this.#switchTo(this.#err).pushClear(`::add-mask::${line.replaceAll('%', '%25')}\n`);
    }
  }
}
