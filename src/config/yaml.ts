import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar as ScalarNode,
  visit,
  type YAMLMap,
} from 'yaml';
import { dataError } from '../errors.ts';
import { type ConfigNode, type Member, type Position, toEntries } from './node.ts';
import { parseScalar, type Scalar } from './value.ts';
import type { Entry } from './variables.ts';
import { explainErrors, type YamlIssue } from './yaml-errors.ts';

/** Start and end offset of a node in the text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A parsed YAML document. Aliases and merge keys are resolved; numbers and booleans keep their spelling. */
export interface YamlDocument {
  /** `undefined` if the text is not valid YAML or exceeds a limit. */
  readonly root: ConfigNode<Span> | undefined;
  readonly issues: readonly YamlIssue[];
  positionOf(offset: number): Position;
}

/** The library needs seconds for a large file of errors. */
const MAX_VARIABLES_LENGTH = 262_144;
const MAX_VARIABLES = 20_000;
const MAX_DEPTH = 64;
const QUOTE_AMPERSAND = 'put a value that starts with & in quotes';
const WRITE_VARIABLES =
  'write variables such as graph.type: microsoft; put a value that contains : or #, or starts with *, & or !, in quotes';

/** Reads variables from YAML 1.2: nested maps become dotted names. The first error is thrown. */
export function readYaml(text: string, label: string): Entry[] {
  if (text.length > MAX_VARIABLES_LENGTH) {
    throw dataError(`${label}: longer than ${MAX_VARIABLES_LENGTH} characters`, 'check the path, or split the file');
  }
  const { root, issues, positionOf } = parseYaml(text, MAX_VARIABLES);
  const fail = ({ offset, message, hint = WRITE_VARIABLES }: YamlIssue): never => {
    const { line, column } = positionOf(offset);
    throw dataError(`${label}:${line}:${column}: ${message}`, hint);
  };
  if (issues[0] !== undefined) return fail(issues[0]);
  if (root === undefined || (root.kind === 'scalar' && root.value === null)) return [];
  if (root.kind !== 'map') return fail({ offset: root.at.start, message: 'expected a map of variables' });
  return toEntries(root, ({ start }) => positionOf(start).line, label);
}

/** Parses one YAML 1.2 document. More than `maxValues` values, aliases expanded, are an issue: an alias bomb multiplies them. */
export function parseYaml(text: string, maxValues: number): YamlDocument {
  const issues: YamlIssue[] = [];
  let root: ConfigNode<Span> | undefined;
  try {
    // `prettyErrors` would quote the text. `uniqueKeys` compares every two keys of a map, in quadratic time.
    const composer = new Composer({ prettyErrors: false, uniqueKeys: false });
    const [document, second] = composer.compose(tokensOf(text), true, text.length);
    issues.push(...explainErrors(text, document as Document));
    if (second !== undefined) {
      const hint = 'remove the --- or ... before it';
      issues.push({ offset: second.range[0], message: 'the file contains a second YAML document', hint });
    }
    if (issues.length === 0) root = buildTree(document as Document, maxValues, issues);
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    const message = `more than ${maxValues} values or ${MAX_DEPTH} levels`;
    issues.push({ offset: error.offset, message, hint: 'split the file, or use fewer aliases (*)' });
  }
  // Not filled by the parser, which misses line ends in some invalid strings.
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  return { root, issues, positionOf };
}

class LimitExceeded extends Error {
  constructor(readonly offset: number) {
    super();
  }
}

/** Stops at a nesting that would overflow the stack of the composer, which is recursive. V8 may abort the process on overflow. */
function* tokensOf(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > 2 * MAX_DEPTH) throw new LimitExceeded(parser.offset);
  }
  yield* parser.end();
}

/** Converts a document of the library. Issues are appended to `issues`. */
function buildTree(document: Document, maxValues: number, issues: YamlIssue[]): ConfigNode<Span> {
  const targets = findTargets(document);
  let values = 0;
  return toNode(document.contents, 0, 0);

  function count(offset: number, depth: number): void {
    if (++values > maxValues || depth > MAX_DEPTH) throw new LimitExceeded(offset);
  }

  /** `near` is the offset of a node that has no location of its own. */
  function toNode(node: unknown, near: number, depth: number): ConfigNode<Span> {
    const found = resolve(node, near, depth);
    const at = spanOf(found, near);
    if (isSeq(found)) {
      return { kind: 'list', at, items: found.items.map((item) => toNode(item, at.start, depth + 1)) };
    }
    // Usually a value that starts with &, such as a password, which would become empty.
    if (isScalar(found) && found === node && found.anchor && found.value === null && found.source === '') {
      const offset = at.start - found.anchor.length - 1;
      issues.push({ offset, message: 'an anchor (&) without a value', hint: QUOTE_AMPERSAND });
    }
    if (!isMap(found)) return { kind: 'scalar', at, value: isScalar(found) ? scalarOf(found) : null };
    const members = pairsOf(found, at.start, depth).map(({ key, value }): Member<Span> => {
      const keyAt = spanOf(key, at.start);
      return { name: nameOf(key), at: keyAt, node: toNode(value, keyAt.end, depth + 1) };
    });
    return { kind: 'map', at, members };
  }

  function resolve(node: unknown, near: number, depth: number): unknown {
    const offset = spanOf(node, near).start;
    count(offset, depth);
    if (!isAlias(node)) return node;
    const target = targets.get(node);
    if (target === undefined) {
      const hint = 'put a value that starts with * in quotes';
      issues.push({ offset, message: 'no anchor (&) of this name before the alias (*)', hint });
    }
    return target;
  }

  /** Returns the pairs of a map; those that a merge key (`<<`) adds come first, unless the map overrides them. */
  function pairsOf(map: YAMLMap, near: number, depth: number): Pair<ScalarNode>[] {
    const own = new Map<string, Pair<ScalarNode>>();
    const merged = new Map<string, Pair<ScalarNode>>();
    for (const pair of map.items) {
      if (isMergePair(pair)) continue;
      const offset = spanOf(pair.key, near).start;
      if (!hasScalarKey(pair)) {
        issues.push({ offset, message: 'a name must be a string', hint: 'put the name in quotes' });
      } else if (own.has(nameOf(pair.key))) {
        const hint = 'remove one of the two definitions';
        issues.push({ offset, message: `${nameOf(pair.key)} is defined twice`, hint });
      } else own.set(nameOf(pair.key), pair);
    }
    for (const { key, value } of map.items.filter(isMergePair)) {
      const offset = spanOf(key, near).end;
      const source = resolve(value, offset, depth + 1);
      for (const item of isSeq(source) ? source.items : [source]) {
        for (const pair of mergedPairs(item, offset, depth + 1)) {
          const name = nameOf(pair.key);
          count(spanOf(pair.key, near).start, depth);
          if (!own.has(name) && !merged.has(name)) merged.set(name, pair);
        }
      }
    }
    return [...merged.values(), ...own.values()];
  }

  function mergedPairs(node: unknown, near: number, depth: number): Pair<ScalarNode>[] {
    const found = resolve(node, near, depth);
    if (isMap(found)) return pairsOf(found, near, depth);
    issues.push({
      offset: spanOf(found, near).start,
      message: 'the value of << must be a map',
      hint: 'write <<: *name, where &name is the anchor of a map',
    });
    return [];
  }
}

/** Finds the node of each alias: the last one before it with that anchor. `alias.resolve()` would search the document every time. */
function findTargets(document: Document): Map<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias(_, alias) {
      const target = anchors.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function spanOf(node: unknown, near: number): Span {
  const range = (node as Node | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : { start: near, end: near };
}

function hasScalarKey(pair: Pair): pair is Pair<ScalarNode> {
  return isScalar(pair.key);
}

function isMergePair({ key }: Pair): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

function nameOf({ source, value }: ScalarNode): string {
  return source ?? String(value);
}

function scalarOf({ value, source }: ScalarNode): Scalar {
  if (value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return parseScalar(source ?? String(value), value);
  // Dates and binary data, which need a tag or a directive, stay strings.
  return typeof value === 'string' ? value : (source ?? String(value));
}
