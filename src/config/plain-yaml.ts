import {
  boolCoreTag,
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';
import { LineStarts, type Position } from './line-starts.ts';
import type { ConfigNode, MapNode, Member } from './node.ts';
import { parseScalar, type Scalar } from './value.ts';
import type { Span } from './yaml-document.ts';

/** YAML of maps, lists and scalars alone, as it was understood. */
export interface PlainYaml {
  readonly root: ConfigNode<Span>;
  positionOf(offset: number): Position;
}

/**
 * Anchors, aliases, types, merge keys, directives and marks of documents: what begins a word, or a line. And what the libraries disagree on: tabs
 * in front of a line, a block that tells its own indentation or keeps its empty lines, a mark of byte order,
 * a line end that is escaped.
 */
const RARE = /(?:^|[\s,:[{?-])(?:[&*!]|<<)|^(?:%| *(?:---|\.\.\.|\t))|[|>](?:-?\d|\+)|\r(?!\n)|\ufeff|\\\r?$/m;
const MAX_DEPTH = 64;

/**
 * Reads YAML of maps, lists and scalars alone, in an eighth of the time that the careful reader takes; `undefined` is no verdict: whatever is
 * rare or seems wrong is for the careful reader to understand or to explain.
 */
export function readPlainYaml(text: string, maxValues: number): PlainYaml | undefined {
  if (RARE.test(text)) return undefined;
  try {
    const root = new Builder(text, parseEvents(text, { maxDepth: MAX_DEPTH }), maxValues).document();
    const lines = new LineStarts(text);
    return { root, positionOf: (offset) => lines.positionOf(offset) };
  } catch {
    return undefined;
  }
}

class Builder {
  readonly #text: string;
  readonly #events: readonly Event[];
  #next = 0;
  #room: number;

  constructor(text: string, events: readonly Event[], maxValues: number) {
    this.#text = text;
    this.#events = events;
    this.#room = maxValues;
  }

  document(): ConfigNode<Span> {
    if (this.#take()?.type !== EVENT_ID.DOCUMENT) throw new SyntaxError('no document');
    const root = this.#part(0);
    if (this.#take()?.type !== EVENT_ID.POP || this.#take() !== undefined) throw new SyntaxError('a second document');
    return root;
  }

  #take(): Event | undefined {
    return this.#events[this.#next++];
  }

  /** Whether a collection ends here. */
  #ends(): boolean {
    if (this.#events[this.#next]?.type !== EVENT_ID.POP) return false;
    this.#next++;
    return true;
  }

  /** `near` is where something is that has no place of its own. */
  #part(near: number): ConfigNode<Span> {
    if (this.#room-- === 0) throw new RangeError('too many values');
    const event = this.#take();
    if (event?.type === EVENT_ID.SCALAR) {
      return { kind: 'scalar', at: spanOf(event, near), value: scalarOf(this.#text, event) };
    }
    if (event?.type === EVENT_ID.SEQUENCE) return this.#list(event.start);
    if (event?.type === EVENT_ID.MAPPING) return this.#map(event.start, event.style === COLLECTION_STYLE.BLOCK);
    throw new SyntaxError('neither a scalar nor a list nor a map');
  }

  #list(start: number): ConfigNode<Span> {
    const items: ConfigNode<Span>[] = [];
    let end = start;
    while (!this.#ends()) {
      const item = this.#part(end);
      items.push(item);
      end = item.at.end;
    }
    return { kind: 'list', at: { start, end }, items };
  }

  #map(start: number, block: boolean): MapNode<Span> {
    const members: Member<Span>[] = [];
    const names = new Set<string>();
    let end = start;
    while (!this.#ends()) {
      const key = this.#take();
      if (key?.type !== EVENT_ID.SCALAR || key.valueStart < 0) throw new SyntaxError('a name that is no text');
      if (key.style === SCALAR_STYLE.LITERAL_BLOCK || key.style === SCALAR_STYLE.FOLDED_BLOCK)
        throw new SyntaxError('a block as a name');
      const at = spanOf(key, end);
      if (block && !this.#beginsLine(at.start)) throw new SyntaxError('a name behind something else');
      const name = getScalarValue(this.#text, key);
      if (names.has(name)) throw new SyntaxError('a name that stands twice');
      names.add(name);
      const part = this.#part(at.end);
      members.push({ name, at, part });
      end = part.at.end;
    }
    return { kind: 'map', at: { start, end }, members };
  }

  /** Whether nothing stands before it but signs of the structure: the library takes what follows the last item of a list for a name. */
  #beginsLine(offset: number): boolean {
    const line = this.#text.lastIndexOf('\n', offset - 1) + 1;
    return /^[\s?:-]*$/.test(this.#text.slice(line, offset));
  }
}

/** With its quotes. */
function spanOf({ valueStart, valueEnd, style }: ScalarEvent, near: number): Span {
  if (valueStart < 0) return { start: near, end: near };
  const quote = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED ? 1 : 0;
  return { start: valueStart - quote, end: valueEnd + quote };
}

function scalarOf(text: string, event: ScalarEvent): Scalar {
  const source = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN) return source;
  if (nullCoreTag.resolve(source, false, nullCoreTag.tagName) !== NOT_RESOLVED) return null;
  for (const tag of [boolCoreTag, intCoreTag, floatCoreTag]) {
    const value = tag.resolve(source, false, tag.tagName);
    if (value !== NOT_RESOLVED) return parseScalar(source, value as number | boolean);
  }
  if (/^[-+.\d]+e[-+]?\d+$/i.test(source)) throw new RangeError('a number beyond all bounds');
  return source;
}
