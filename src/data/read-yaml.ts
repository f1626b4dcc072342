import {
  type Alias,
  Composer,
  type CST,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  visit,
} from 'yaml';
import { OAuthProfileError } from '../errors.ts';
import { nameOf, refuseDuplicates } from './flatten.ts';
import { asWritten, type Value } from './value.ts';
import type { Entry } from './variables.ts';

/** Files of variables are small; what unfolds to more is an alias bomb. */
const MAX_NODES = 20_000;
const MAX_DEPTH = 64;
/** A name with its value is up to ten of them: indent, name, colon, blank, value, line end, comment. */
const MAX_LEXEMES = 10 * MAX_NODES;

/** Reads variables from YAML 1.2; nested maps become dotted names, scalars keep their spelling. */
export function readYaml(text: string, label: string): Entry[] {
  const file = new YamlFile(text, label);
  const { entries } = new Collector(file.document(), file);
  refuseDuplicates(entries, label);
  return entries;
}

/** Where the library found a fault. */
type ErrorSource = number | readonly number[] | { readonly offset: number };

function offsetIn(source: ErrorSource): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : (source[0] ?? 0);
}

/** The text, and where things stand in it. */
class YamlFile {
  readonly #lines = new LineCounter();
  #first: { readonly offset: number; readonly problem: string } | undefined;

  constructor(
    readonly text: string,
    readonly label: string,
  ) {}

  line(offset: number): number {
    return this.#lines.linePos(offset).line;
  }

  /** The text around the fault may be a secret: only its position is told. */
  fail(offset: number, problem: string): never {
    const { line, col } = this.#lines.linePos(offset);
    throw new OAuthProfileError('data_invalid', `${this.label}:${line}:${col}: ${problem}`, {
      advice:
        'write variables such as graph.type: microsoft; a value with : or # in it, or *, & or ! in front, needs quotes',
    });
  }

  document(): Document {
    // Pretty errors quote the line at fault. The library's search for keys that stand twice takes time by the square of their number.
    const composer = new Composer({ prettyErrors: false, uniqueKeys: false });
    // By itself the library makes an error of each fault, and a file can be made of nothing else.
    const onError = (source: ErrorSource, code: ErrorCode, _message: string, warning?: boolean): void => {
      // To the library a tag that means nothing deserves a warning only, but `password: !abc` would become an empty text.
      if (warning !== true || code === 'TAG_RESOLVE_FAILED') this.#note(offsetIn(source), code);
    };
    Object.assign(composer, { onError });
    const [document, second] = composer.compose(this.#tokens(), true, this.text.length);
    const error = document?.errors[0];
    if (error !== undefined) this.#note(error.pos[0], error.code);
    if (this.#first !== undefined) this.fail(this.#first.offset, this.#first.problem);
    if (second !== undefined) this.fail(second.range[0], 'holds a second document');
    return document as Document;
  }

  #note(offset: number, code: string): void {
    this.#first ??= { offset, problem: `is not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})` };
  }

  /** Reads on only while the nesting is sane: the library builds its tree by recursion, which would exhaust the stack. */
  *#tokens(): Generator<CST.Token> {
    const parser = new Parser(this.#lines.addNewLine);
    this.#lines.addNewLine(0);
    let lexemes = 0;
    let ended = false;
    for (const lexeme of new Lexer().lex(this.text)) {
      if (++lexemes > MAX_LEXEMES) this.fail(parser.offset, `has more than ${MAX_LEXEMES} pieces`);
      for (const token of parser.next(lexeme)) {
        if (token.type === 'error' || (token.type === 'doc-end' && ended)) {
          return this.#note(token.offset, 'UNEXPECTED_TOKEN');
        }
        ended ||= token.type === 'doc-end';
        yield token;
      }
      if (parser.stack.length > 2 * MAX_DEPTH) this.fail(parser.offset, `is nested deeper than ${MAX_DEPTH} levels`);
    }
    yield* parser.end();
  }
}

class Collector {
  readonly entries: Entry[] = [];
  readonly #anchored: Map<Alias, Node>;
  #nodes = 0;

  constructor(
    document: Document,
    readonly file: YamlFile,
  ) {
    this.#anchored = findAnchors(document);
    const root = this.#follow(document.contents, 0);
    if (isMap(root)) this.#collect(this.#pairs(root, 0), '', 0);
    else if (root !== null && !(isScalar(root) && root.value === null)) this.#fail(root, 'holds no map of variables');
  }

  #fail(node: unknown, problem: string): never {
    return this.file.fail(offsetOf(node) ?? 0, problem);
  }

  #count(node: unknown, depth: number): void {
    if (++this.#nodes > MAX_NODES || depth > MAX_DEPTH) {
      this.#fail(node, `unfolds to more than ${MAX_NODES} values or ${MAX_DEPTH} levels`);
    }
  }

  #follow(node: unknown, depth: number): Node | null {
    this.#count(node, depth);
    if (!isAlias(node)) return (node ?? null) as Node | null;
    return this.#anchored.get(node) ?? this.#fail(node, 'has an alias (*) of nothing');
  }

  #collect(pairs: readonly Pair[], prefix: string, depth: number): void {
    for (const { key, value } of pairs) {
      const name = nameOf(prefix, this.#key(key));
      const node = this.#follow(value, depth);
      if (isMap(node)) this.#collect(this.#pairs(node, depth + 1), `${name}.`, depth + 1);
      else {
        const offset = offsetOf(key);
        const line = offset === undefined ? undefined : this.file.line(offset);
        this.entries.push({ name, value: this.#value(node, depth), line });
      }
    }
  }

  #key(key: unknown): string {
    if (!isScalar(key)) this.#fail(key, 'has a name that is not plain text');
    return key.source ?? String(key.value);
  }

  /** A map's pairs, those that a merge key (`<<`) brings in front, unless the map has its own. */
  #pairs(map: Node | null, depth: number): Pair[] {
    if (!isMap(map)) this.#fail(map, 'merges something that is no map');
    const own = map.items.filter((pair) => !isMerge(pair));
    const taken = new Set<string>();
    for (const { key } of own) {
      const name = this.#key(key);
      if (taken.has(name)) this.#fail(key, `${name} is defined twice`);
      taken.add(name);
    }
    const merged: Pair[] = [];
    for (const pair of map.items.filter(isMerge)) {
      const source = this.#follow(pair.value, depth + 1);
      for (const item of isSeq(source) ? source.items : [source]) {
        for (const found of this.#pairs(this.#follow(item, depth + 1), depth + 1)) {
          this.#count(found.key, depth);
          const name = this.#key(found.key);
          if (!taken.has(name)) merged.push(found);
          taken.add(name);
        }
      }
    }
    return [...merged, ...own];
  }

  #value(node: Node | null, depth: number): Value {
    const inside = (item: unknown): Value => this.#value(this.#follow(item, depth + 1), depth + 1);
    if (isSeq(node)) return node.items.map(inside);
    if (isMap(node)) {
      return Object.fromEntries(this.#pairs(node, depth).map(({ key, value }) => [this.#key(key), inside(value)]));
    }
    if (!isScalar(node) || node.value === null) return null;
    const { value, source } = node;
    if (typeof value === 'number' || typeof value === 'boolean') return asWritten(source ?? String(value), value);
    // Dates and bytes, which only a directive or a tag asks for, are texts here as well.
    return typeof value === 'string' ? value : (source ?? String(value));
  }
}

function offsetOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

/** What each alias stands for: the last node before it with that anchor. The library's own search goes through the document every time. */
function findAnchors(document: Document): Map<Alias, Node> {
  const byName = new Map<string, Node>();
  const found = new Map<Alias, Node>();
  visit(document, {
    Alias(_, alias) {
      const node = byName.get(alias.source);
      if (node !== undefined) found.set(alias, node);
    },
    Value(_, node) {
      if (node.anchor !== undefined) byName.set(node.anchor, node);
    },
  });
  return found;
}
