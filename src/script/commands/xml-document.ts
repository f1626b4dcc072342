import type { DOMParser, Document, Element, Node } from '@xmldom/xmldom';
import type { Value } from '../../config/value.ts';
import { wrapSecret } from '../../config/variables.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import { testString } from '../compare.ts';
import { type StepContext, StepFailure } from '../step-context.ts';
import { runWithTimeLimit } from '../time-limit.ts';

/** Result of an XPath: the string value of each node, or one string, number or boolean. */
export interface Selection {
  readonly values: readonly Value[];
  readonly areNodes: boolean;
}

/** Evaluates an XPath 1.0 on an XML document. Values that are secrets are wrapped. */
export async function queryXml(
  xml: string | Secret,
  path: string | Secret,
  { apiSecrets }: StepContext,
): Promise<Selection> {
  if (path instanceof Secret) throw new StepFailure('xpath must not be a secret');
  const [{ DOMParser: Parser }, { useNamespaces }] = await Promise.all([import('@xmldom/xmldom'), import('xpath')]);
  const wrap = (value: string, name: string): Value => {
    if (xml instanceof Secret) return wrapSecret(value);
    return Object.values(apiSecrets.wrap({ [name]: value }, 'body') ?? {})[0];
  };
  let selection: Selection | undefined;
  const select = (clear: string): boolean => {
    const document = parseXml(clear.replace(/^\ufeff/, ''), Parser, xml instanceof Secret);
    const found = useNamespaces(indexNodes(document))(path, document);
    selection = Array.isArray(found)
      ? {
          areNodes: true,
          values: found.map((node) =>
            wrap(node.textContent ?? document.documentElement?.textContent ?? '', node.nodeName),
          ),
        }
      : { areNodes: false, values: [typeof found === 'string' ? wrap(found, '') : found] };
    return true;
  };
  try {
    runWithTimeLimit(`the XPath ${path}`, () => testString(xml, select));
  } catch (error) {
    if (error instanceof StepFailure) throw error;
    const why = error instanceof RangeError ? 'the document is nested too deeply' : (error as Error).message;
    throw new StepFailure(`the XPath ${path} cannot be evaluated: ${escapeControls(why)}`);
  }
  return selection ?? { areNodes: true, values: [] };
}

/** A comment, CDATA section or processing instruction; a reference; or a character that must not occur elsewhere. */
const PARTS =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|&#(?:x(?<hex>[\da-f]+)|(?<decimal>\d+));|&[^\s&;<#]+;|(?<invalid>[&\0-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Cs}])/giu;

/**
 * Parses XML; every deviation from the standard is a failure. The library loads no DTD and expands only the five predefined entities, so
 * external and nested entities are failures too.
 */
function parseXml(text: string, Parser: typeof DOMParser, isSecret: boolean): Document {
  let problem = '';
  const report = (line: number, column: number, what: string): never => {
    problem = `xml:${line}:${column}: ${what}`;
    throw new SyntaxError(problem);
  };
  try {
    for (const { index, 0: part, groups = {} } of text.matchAll(PARTS)) {
      const { hex, decimal, invalid } = groups;
      const code = hex === undefined ? Number(decimal ?? 32) : Number.parseInt(hex, 16);
      if (invalid === undefined && isCharacter(code)) continue;
      const before = text.slice(0, index).split('\n');
      const what = part === '&' ? 'write &amp; instead of &' : 'the character is not allowed in XML';
      report(before.length, (before.at(-1)?.length ?? 0) + 1, what);
    }
    return new Parser({
      // The parser reports some deviations as warnings.
      onError: (_level, message, { locator }) => report(locator?.lineNumber || 1, locator?.columnNumber ?? 1, message),
    }).parseFromString(text, 'text/xml');
  } catch (error) {
    if (problem === '') throw error;
    // The message can quote the document.
    throw new StepFailure(isSecret ? 'xml is not valid XML' : escapeControls(problem));
  }
}

/** Whether a character may occur in XML 1.0. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code < 0xd800 || (code >= 0xe000 && code < 0xfffe) || (code > 0xffff && code <= 0x10_ffff);
}

/**
 * Numbers all nodes, and returns the namespaces by prefix; `_` is the default namespace. If a prefix is declared twice, the first one counts.
 * The numbers replace the library's comparison of nodes, which takes 3 s to sort 2,000 siblings.
 */
function indexNodes(document: Document): Record<string, string> {
  const namespaces: Record<string, string> = Object.create(null);
  const numbers = new Map<Node, number>();
  const add = (node: Node): void => {
    const number = numbers.size;
    numbers.set(node, number);
    node.compareDocumentPosition = (other) => ((numbers.get(other) ?? 0) < number ? PRECEDING : FOLLOWING);
  };
  for (let node: Node | null = document; node !== null; node = nextNode(node)) {
    add(node);
    for (const attribute of (node as Partial<Element>).attributes ?? []) {
      add(attribute);
      if (attribute.name === 'xmlns') namespaces['_'] ??= attribute.value;
      if (attribute.prefix === 'xmlns') namespaces[attribute.localName ?? ''] ??= attribute.value;
    }
  }
  return namespaces;
}

/** `DOCUMENT_POSITION_PRECEDING` and `_FOLLOWING` of the DOM. */
const [PRECEDING, FOLLOWING] = [2, 4];

function nextNode(node: Node): Node | null {
  if (node.firstChild !== null) return node.firstChild;
  let last: Node | null = node;
  while (last !== null && last.nextSibling === null) last = last.parentNode;
  return last?.nextSibling ?? null;
}
