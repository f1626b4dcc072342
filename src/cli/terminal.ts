import { RedactedStream, Redactor } from '../secret/redactor.ts';
import { type Secret, watchSecrets } from '../secret/secret.ts';
import { type Style, styleFor } from './style.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where a process writes; Node makes a stream when it is first asked for, which costs as much as reading a profile. */
interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** The two streams of a process, with every secret it ever held masked on both. */
export class Terminal {
  readonly style: { readonly out: Style; readonly err: Style };
  readonly #out: RedactedStream;
  readonly #err: RedactedStream;
  #telling = false;

  constructor(streams: Streams, env: Env) {
    const redactor = new Redactor();
    this.style = { out: styleFor(() => streams.stdout, env), err: styleFor(() => streams.stderr, env) };
    this.#out = new RedactedStream(redactor, (text) => streams.stdout.write(text));
    this.#err = new RedactedStream(redactor, (text) => {
      this.#telling = true;
      streams.stderr.write(text);
      this.#telling = false;
    });
    const announce = env['GITHUB_ACTIONS'] === 'true';
    watchSecrets((secret) => {
      redactor.add(secret);
      if (announce) this.#announce(secret);
    });
  }

  /** The result: stdout. */
  print(text: string): void {
    this.#out.push(text);
  }

  /** A result that the person asked to see in clear. */
  printClear(text: string): void {
    this.#out.pushClear(text);
  }

  /** Everything but the result: stderr. */
  tell(text: string): void {
    this.#err.push(text);
  }

  /** Searches also what others write to stderr, such as Node itself where NODE_DEBUG is set: whole requests. */
  guard(stderr: NodeJS.WriteStream): void {
    const write = stderr.write.bind(stderr) as (...parts: unknown[]) => boolean;
    stderr.write = ((...parts: unknown[]): boolean => {
      if (this.#telling) return write(...parts);
      this.#err.push(String(parts[0]));
      return true;
    }) as typeof stderr.write;
  }

  flush(): void {
    this.#out.flush();
    this.#err.flush();
  }

  /** Tells the runner of GitHub Actions, which reads stderr too, to mask the value in what other steps print; it masks line by line. */
  #announce(secret: Secret): void {
    for (const line of secret.reveal().split(/[\r\n]+/)) {
      if (line.length >= 8) this.#err.pushClear(`::add-mask::${line.replaceAll('%', '%25')}\n`);
    }
  }
}
