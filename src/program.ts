import type { Script } from 'node:vm';

/** What `require` of CommonJS does. */
export type Require = (id: string) => unknown;

/** What a file of the build is: a function, in ASCII, so that its text is compiled as it is, without a copy. */
type LoadedFile = (exports: object, require: Require) => void;

interface Compiled {
  readonly source: Buffer;
  readonly script: Script;
}

/**
 * The files of the build for Node, loaded with the code that an earlier process compiled and left beside them: compiling takes longer than all
 * else that happens before a token is at hand. Who could change that code could as well change the program, which lies in the same folder.
 * NODE_DISABLE_COMPILE_CACHE, which means the same to Node itself, turns it off.
 */
export class Program {
  readonly #folder: string;
  readonly #require: Require;
  readonly #fs: typeof import('node:fs');
  readonly #vm: typeof import('node:vm');
  #ending: string | undefined;
  readonly #modules = new Map<string, object>();
  readonly #scripts = new Map<string, Compiled>();
  #complete = true;
  /** Told of each file that no earlier process had compiled. */
  onCompiled: (() => void) | undefined;

  /** What Node itself has is required too, because importing it takes longer than all of this. */
  constructor(folder: string, require: Require) {
    this.#folder = folder;
    this.#require = require;
    this.#fs = require('node:fs') as typeof import('node:fs');
    this.#vm = require('node:vm') as typeof import('node:vm');
    this.#ending = process.env['NODE_DISABLE_COMPILE_CACHE'] ? undefined : this.#findEnding();
  }

  /** V8 refuses what another version of it compiled, but would crash over that of another build. */
  #findEnding(): string | undefined {
    try {
      const { size, mtimeMs } = this.#fs.statSync(process.execPath);
      return `.${process.version}-${size}-${Math.floor(mtimeMs)}.compiled`;
    } catch {
      // Node lets itself be forbidden to look.
      return undefined;
    }
  }

  /** What a file exports. */
  load(name: string): object {
    const known = this.#modules.get(name);
    if (known !== undefined) return known;
    const filename = this.#folder + name;
    const source = this.#fs.readFileSync(filename);
    const cachedData = this.#readCompiled(filename, source);
    const text = source.toString('latin1');
    const script = new this.#vm.Script(text, { filename, cachedData });
    this.#scripts.set(filename, { source, script });
    if (cachedData === undefined) {
      this.#complete = false;
      this.onCompiled?.();
    }
    const exports = {};
    this.#modules.set(name, exports);
    try {
      this.#functionOf(script, text)(exports, (id) =>
        id.startsWith('./') ? this.load(id.slice(2)) : this.#require(id),
      );
    } catch (error) {
      // Whoever comes next tries again.
      this.#modules.delete(name);
      throw error;
    }
    return exports;
  }

  #functionOf(script: Script, text: string): LoadedFile {
    const made: unknown = script.runInThisContext();
    if (made instanceof Function) return made as LoadedFile;
    // That was Node's own realm, and this is another one, as tests may run in: what is made there is no Error or Object here.
    this.#ending = undefined;
    // biome-ignore lint/security/noGlobalEval: it is the text of the file, and there is no other way to run it here.
    return globalThis.eval(text);
  }

  /** V8 believes all that it is given: it would run the code of an older source, and crash over what a disk spoilt. */
  #readCompiled(filename: string, source: Buffer): Buffer | undefined {
    if (this.#ending === undefined) return undefined;
    let bytes: Buffer;
    try {
      bytes = this.#fs.readFileSync(filename + this.#ending);
    } catch {
      return undefined;
    }
    const length = (bytes.length - source.length) / 2;
    if (!Number.isInteger(length) || length <= 0) return undefined;
    const code = bytes.subarray(0, length);
    return code.equals(bytes.subarray(length, 2 * length)) && bytes.subarray(2 * length).equals(source)
      ? code
      : undefined;
  }

  /**
   * Leaves the code of this process to the next one, where the person may write to the program's folder. V8 compiles a function when it is
   * first called: who loads a new file goes new ways through the others too, so that these are kept again, with what they have gained.
   */
  keepCompiled(): void {
    if (this.#ending === undefined || this.#complete) return;
    try {
      this.#fs.accessSync(this.#folder, this.#fs.constants.W_OK);
      for (const [filename, { source, script }] of this.#scripts) {
        const code = script.createCachedData();
        // The code twice: comparing is quicker than any sum.
        this.#replace(filename + this.#ending, Buffer.concat([code, code, source]));
      }
    } catch {
      // Then the next process compiles again.
    }
  }

  /** Nobody would ever take away what a full disk had no room for the rest of, and each process would add to it. */
  #replace(file: string, contents: Buffer): void {
    // Threads have the number of their process.
    const temp = `${file}.${process.pid}-${process.hrtime()[1]}`;
    try {
      // Whether all of it came to the disk is found out by whoever reads it.
      this.#fs.writeFileSync(temp, contents);
      this.#fs.renameSync(temp, file);
    } catch (error) {
      this.#fs.rmSync(temp, { force: true });
      throw error;
    }
  }
}
