import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { OAuthProfileError } from '../errors.ts';
import { refuseDuplicates } from './flatten.ts';
import { asWritten, type Value } from './value.ts';
import type { Entry } from './variables.ts';

/** Files of variables are small; what unfolds to more is an alias bomb. */
const MAX_NODES = 20_000;
const MAX_DEPTH = 32;

/** Reads variables from YAML 1.2; nested maps become dotted names, scalars keep their spelling. */
export function readYaml(text: string, label: string): Entry[] {
  const lines = new LineCounter();
  // The library's pretty errors quote the line at fault, which may hold a secret.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    const problem = error.code.toLowerCase().replaceAll('_', ' ');
    throw new OAuthProfileError('data_invalid', `${label}:${line}:${col}: is not valid YAML (${problem})`, {
      advice: 'correct the file there; a value with : or # in it needs quotes',
    });
  }
  return new Collector(document, lines, label).entries;
}

class Collector {
  readonly entries: Entry[] = [];
  #nodes = 0;

  constructor(
    readonly document: Document,
    readonly lines: LineCounter,
    readonly label: string,
  ) {
    const root = this.#follow(document.contents, 0);
    if (isMap(root)) this.#collect(this.#pairs(root, 0), '', 0);
    else if (root !== null && !(isScalar(root) && root.value === null)) this.#fail(root, 'holds no map of variables');
    refuseDuplicates(this.entries, label);
  }

  #fail(node: Node | null, problem: string): never {
    const line = this.#line(node);
    throw new OAuthProfileError('data_invalid', `${this.label}${line === undefined ? '' : `:${line}`}: ${problem}`, {
      advice: 'write one variable a line, such as graph.type: microsoft',
    });
  }

  #line(node: unknown): number | undefined {
    const range = (node as Node | null)?.range;
    return range ? this.lines.linePos(range[0]).line : undefined;
  }

  #follow(node: unknown, depth: number): Node | null {
    if (++this.#nodes > MAX_NODES || depth > MAX_DEPTH) {
      this.#fail(null, `unfolds to more than ${MAX_NODES} values or ${MAX_DEPTH} levels`);
    }
    return ((isAlias(node) ? node.resolve(this.document) : node) ?? null) as Node | null;
  }

  #collect(pairs: readonly Pair[], prefix: string, depth: number): void {
    for (const { key, value } of pairs) {
      const name = prefix + this.#key(key);
      const node = this.#follow(value, depth);
      if (isMap(node)) this.#collect(this.#pairs(node, depth + 1), `${name}.`, depth + 1);
      else this.entries.push({ name, value: this.#value(node, depth), line: this.#line(key) });
    }
  }

  #key(key: unknown): string {
    if (!isScalar(key)) this.#fail(key as Node, 'has a name that is not plain text');
    return key.source ?? String(key.value);
  }

  /** A map's pairs, those that a merge key (`<<`) brings in front, unless the map has its own. */
  #pairs(map: Node, depth: number): Pair[] {
    if (!isMap(map)) this.#fail(map, 'merges something that is no map');
    const own = map.items.filter((pair) => !isMerge(pair));
    const taken = new Set(own.map(({ key }) => this.#key(key)));
    const merged: Pair[] = [];
    for (const pair of map.items.filter(isMerge)) {
      const source = this.#follow(pair.value, depth + 1);
      for (const item of isSeq(source) ? source.items : [source]) {
        for (const found of this.#pairs(this.#follow(item, depth + 1) as Node, depth + 1)) {
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
    return String(value);
  }
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}
