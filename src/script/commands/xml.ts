import type { Value } from '../../config/value.ts';
import { commandGroup, parameter } from '../command.ts';
import { isSameValue } from '../compare.ts';
import { assertStep } from '../step-context.ts';
import { queryXml, type Selection } from './xml-document.ts';

const group = commandGroup('xml');
const xml = parameter('xml', 'text', 'XML document');
const path = parameter(
  'xpath',
  'text',
  'XPath 1.0 with the prefixes of the document; _ is the prefix of its default namespace',
);

/** The xml commands. */
export const xmlCommands = [
  group('assertValue', 'Asserts that the value at an XPath equals a value; several matches are compared as a list', {
    parameters: [xml, path, parameter('expected', 'value', 'Expected value')],
    example: 'xml.assertValue: ["${order.body}", "/order/line[1]/@sku", A-7]',
    async run({ xml, xpath, expected }, context) {
      const actual = singleOrList(await queryXml(xml, xpath, context), xpath, expected);
      assertStep(isSameValue(expected, actual), `${xpath} differs`, { expected, actual });
    },
  }),
  group('assertElementPresent', 'Asserts that an XPath matches an element, an attribute or another node', {
    parameters: [xml, path],
    example: 'xml.assertElementPresent: ["${order.body}", "//line[qty > 1]"]',
    async run({ xml, xpath }, context) {
      const selection = await queryXml(xml, xpath, context);
      assertStep(selection.areNodes, `${xpath} returns a value, not nodes`);
      singleOrList(selection, xpath);
    },
  }),
  group('storeValue', 'Saves the value at an XPath, several matches as a list; fails if nothing matches', {
    parameters: [xml, path, parameter('var', 'variable', 'Variable to set')],
    example: 'xml.storeValue: ["${order.body}", "count(//line)", lines]',
    async run({ xml, xpath, ...args }, context) {
      context.set(args.var, singleOrList(await queryXml(xml, xpath, context), xpath));
    },
  }),
];

function singleOrList({ values }: Selection, xpath: unknown, expected?: Value): Value {
  const [first] = values;
  assertStep(first !== undefined, `${xpath} matches nothing`, { expected });
  return values.length === 1 ? first : values;
}
