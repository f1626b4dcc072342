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
  type Node,
  type Pair,
  Parser,
  type Scalar as ScalarNode,
  visit,
  type YAMLMap,
} from 'yaml';
import { LineStarts, type Position } from './line-starts.ts';
import type { ConfigNode, MapNode, Member } from './node.ts';
import { parseScalar, type Scalar } from './value.ts';

/** From where to where something stands in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Something that YAML, or our bounds, do not allow; the text around it may be a secret and is not quoted. */
export interface YamlProblem {
  readonly offset: number;
  readonly message: string;
  /** The library's own words on an error of the syntax; they may quote the text and are not to be shown. */
  readonly detail?: string;
  /** Where the quote was opened that is not closed. */
  readonly opened?: number | undefined;
}

/** A YAML text as it was understood: aliases and merge keys are followed, scalars keep their spelling. */
export interface YamlDocument {
  /** Missing where the text cannot be understood. */
  readonly root: ConfigNode<Span> | undefined;
  /** Everything that is wrong, in the order in which it was found. */
  readonly problems: readonly YamlProblem[];
  positionOf(offset: number): Position;
}

const MAX_DEPTH = 64;
const MAX_PROBLEMS = 50;
/** A name with its value is up to ten of them: indent, name, colon, blank, value, line end, comment. */
const LEXEMES_PER_VALUE = 10;

/** Where the library found a fault. */
type ErrorSource = number | readonly number[] | { readonly offset: number };

function offsetIn(source: ErrorSource): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : (source[0] ?? 0);
}

/** Reads one YAML 1.2 document; what unfolds to more than so many values is an alias bomb. */
export function readYamlDocument(text: string, maxValues: number): YamlDocument {
  return new Reader(text, maxValues);
}

/** Thrown where reading on makes no sense; the problem is already noted. */
class Halt extends Error {}

class Reader implements YamlDocument {
  readonly root: ConfigNode<Span> | undefined;
  readonly problems: YamlProblem[] = [];
  readonly #text: string;
  readonly #maxValues: number;
  #anchored: ReadonlyMap<Alias, Node> = new Map();
  #values = 0;
  #lines: LineStarts | undefined;
  #lastQuote: number | undefined;

  constructor(text: string, maxValues: number) {
    this.#text = text;
    this.#maxValues = maxValues;
    try {
      const document = this.#document();
      if (document === undefined) return;
      if (text.includes('*')) this.#anchored = findAnchors(document);
      this.root = this.#part(document.contents, 0, 0);
    } catch (error) {
      if (!(error instanceof Halt)) throw error;
    }
  }

  positionOf(offset: number): Position {
    this.#lines ??= new LineStarts(this.#text);
    return this.#lines.positionOf(offset);
  }

  #halt(offset: number, message: string): never {
    this.problems.push({ offset, message });
    throw new Halt();
  }

  #document(): Document | undefined {
    // Pretty errors quote the line at fault. The library's search for keys that stand twice takes time by the square of their number.
    const composer = new Composer({ prettyErrors: false, uniqueKeys: false });
    // By itself the library makes an error of each fault, and a file can be made of nothing else.
    const onError = (source: ErrorSource, code: ErrorCode, detail: string, warning?: boolean): void => {
      // To the library a tag that means nothing deserves a warning only, but `password: !abc` would become an empty text.
      if (warning !== true || code === 'TAG_RESOLVE_FAILED') this.#note(offsetIn(source), code, detail);
    };
    Object.assign(composer, { onError });
    const [document, second] = composer.compose(this.#tokens(), true, this.#text.length);
    for (const { code, pos, message } of document?.errors ?? []) this.#note(pos[0], code, message);
    if (this.problems.length > 0) return undefined;
    if (second !== undefined) this.#halt(second.range[0], 'holds a second document');
    return document as Document;
  }

  #note(offset: number, code: string, detail: string): void {
    if (this.problems.length >= MAX_PROBLEMS) return;
    const message = `is not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`;
    const opened = detail.includes('closing') ? this.#lastQuote : undefined;
    this.problems.push({ offset, message, detail, opened });
  }

  /** Reads on only while the nesting is sane: the library builds its tree by recursion, which would exhaust the stack. */
  *#tokens(): Generator<CST.Token> {
    const parser = new Parser();
    const maxLexemes = LEXEMES_PER_VALUE * this.#maxValues;
    let lexemes = 0;
    let ended = false;
    for (const lexeme of new Lexer().lex(this.#text)) {
      if (++lexemes > maxLexemes) this.#halt(parser.offset, `has more than ${maxLexemes} pieces`);
      if (lexeme[0] === '"' || lexeme[0] === "'") this.#lastQuote = parser.offset;
      for (const token of parser.next(lexeme)) {
        if (token.type === 'error' || (token.type === 'doc-end' && ended)) {
          return this.#note(token.offset, 'UNEXPECTED_TOKEN', token.type === 'error' ? token.message : '');
        }
        ended ||= token.type === 'doc-end';
        yield token;
      }
      if (parser.stack.length > 2 * MAX_DEPTH) this.#halt(parser.offset, `is nested deeper than ${MAX_DEPTH} levels`);
    }
    yield* parser.end();
  }

  #count(offset: number, depth: number): void {
    if (++this.#values > this.#maxValues || depth > MAX_DEPTH) {
      this.#halt(offset, `unfolds to more than ${this.#maxValues} values or ${MAX_DEPTH} levels`);
    }
  }

  /** What stands at a node; `near` is where something is that has no place of its own. */
  #part(node: unknown, near: number, depth: number): ConfigNode<Span> {
    const found = this.#follow(node, near, depth);
    const at = spanOf(found, near);
    if (isSeq(found)) {
      return { kind: 'list', at, items: found.items.map((item) => this.#part(item, at.start, depth + 1)) };
    }
    if (isMap(found)) return this.#map(found, at, depth);
    return { kind: 'scalar', at, value: isScalar(found) ? scalarOf(found) : null };
  }

  #map(node: YAMLMap, at: Span, depth: number): MapNode<Span> {
    const members: Member<Span>[] = [];
    for (const { key, value } of this.#pairs(node, at.start, depth)) {
      const keyAt = spanOf(key, at.start);
      members.push({ name: nameIn(key), at: keyAt, part: this.#part(value, keyAt.end, depth + 1) });
    }
    return { kind: 'map', at, members };
  }

  #follow(node: unknown, near: number, depth: number): unknown {
    this.#count(spanOf(node, near).start, depth);
    if (!isAlias(node)) return node;
    const found = this.#anchored.get(node);
    if (found === undefined) {
      this.problems.push({ offset: spanOf(node, near).start, message: 'has an alias (*) of nothing' });
    }
    return found;
  }

  /** A map's pairs, those that a merge key (`<<`) brings in front, unless the map has its own. */
  #pairs(map: YAMLMap, near: number, depth: number): Pair<ScalarNode>[] {
    const own: Pair<ScalarNode>[] = [];
    const merged: Pair<ScalarNode>[] = [];
    const taken = new Set<string>();
    for (const pair of map.items) {
      const offset = spanOf(pair.key, near).start;
      if (isMerge(pair)) continue;
      if (!hasPlainKey(pair)) this.problems.push({ offset, message: 'has a name that is not plain text' });
      else {
        const name = nameIn(pair.key);
        if (taken.has(name)) this.problems.push({ offset, message: `${name} is defined twice` });
        else own.push(pair);
        taken.add(name);
      }
    }
    for (const { key, value } of map.items.filter(isMerge)) {
      const offset = spanOf(key, near).end;
      const source = this.#follow(value, offset, depth + 1);
      for (const item of isSeq(source) ? source.items : [source]) {
        for (const found of this.#mergedPairs(item, offset, depth + 1)) {
          this.#count(spanOf(found.key, near).start, depth);
          const name = nameIn(found.key);
          if (!taken.has(name)) merged.push(found);
          taken.add(name);
        }
      }
    }
    return [...merged, ...own];
  }

  #mergedPairs(node: unknown, near: number, depth: number): Pair<ScalarNode>[] {
    const found = this.#follow(node, near, depth);
    if (isMap(found)) return this.#pairs(found, near, depth);
    this.problems.push({ offset: spanOf(found, near).start, message: 'merges something that is no map' });
    return [];
  }
}

function spanOf(node: unknown, near: number): Span {
  const range = (node as Node | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : { start: near, end: near };
}

function hasPlainKey(pair: Pair): pair is Pair<ScalarNode> {
  return isScalar(pair.key);
}

function nameIn({ source, value }: ScalarNode): string {
  return source ?? String(value);
}

function scalarOf({ value, source }: ScalarNode): Scalar {
  if (value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return parseScalar(source ?? String(value), value);
  // Dates and bytes, which only a directive or a tag asks for, are texts here as well.
  return typeof value === 'string' ? value : (source ?? String(value));
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
