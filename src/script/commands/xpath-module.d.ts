// The part of the package xpath that is used. Its own declarations would add the globals of browsers to the whole program.
import type { Node } from '@xmldom/xmldom';

export declare function useNamespaces(
  uris: Readonly<Record<string, string>>,
): (expression: string, node: Node) => Node[] | string | number | boolean;
