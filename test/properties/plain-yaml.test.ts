import assert from 'node:assert/strict';
import { toValue, variablesIn } from '../../src/config/node.ts';
import { readPlainYaml } from '../../src/config/plain-yaml.ts';
import { isCollection, mapCollection, RawScalar, type Value } from '../../src/config/value.ts';
import { readYamlDocument } from '../../src/config/yaml-document.ts';
import { callTwice, itHolds } from '../support/mutated-input.ts';
import { yamlTokens } from '../support/yaml-tokens.ts';

const MAX_VALUES = 2_000;

/** One reader returns numbers of more than 308 digits as strings, the other as infinite; both preserve the digits. */
function withoutInfinity(value: Value): Value {
  if (isCollection(value)) return mapCollection(value, (part) => withoutInfinity(part));
  return value instanceof RawScalar && /^[-+]?\d{300,}$/.test(value.text) ? value.text : value;
}

itHolds('the fast YAML reader and the complete one read the same', {
  runs: 150,
  seeds: [
    'graph:\n  type: microsoft\n  scope: [a, b]\n  n: 007\nother.type: custom\n',
    'base: &b\n  type: okta\nmine:\n  <<: *b\n  k: "x\\ty"\nlist: [1, {a: b}]\n',
    '# c\na: 1\n"b c": [x, "y\\u0041", \'it\'\'s\']\nd:\n- e: {f: ~, g: }\n- |\n  text\n',
    'a: b\n c\nd: >\n\n  e\n   f\n\ng: 0o17\nh: -.inf\ni: 1e3 # x\n',
  ],
  tokens: yamlTokens,
  check(input) {
    const { value: plain } = callTwice(() => readPlainYaml(input, MAX_VALUES));
    // Everything but a map is left to the complete reader.
    if (plain?.root.kind !== 'map') return;
    const { root } = plain;
    const complete = readYamlDocument(input, MAX_VALUES);
    // The complete reader rejects some valid YAML: a scalar below an empty line and a comment.
    if (complete.problems.length > 0) return;
    assert.ok(complete.root?.kind === 'map');
    assert.deepEqual(
      withoutInfinity(toValue(root)),
      withoutInfinity(toValue(complete.root)),
      'the two readers return different values',
    );
    // Both readers reject a name that is too long.
    const lines = (map: typeof root, { positionOf }: Pick<typeof complete, 'positionOf'>): number[] | undefined =>
      callTwice(() => Array.from(variablesIn(map), ({ at }) => positionOf(at.start).line)).value;
    const found = lines(root, { positionOf: (offset) => plain.positionOf(offset) });
    const expected = lines(complete.root, { positionOf: (offset) => complete.positionOf(offset) });
    assert.deepEqual(found, expected, 'the two readers report different lines');
  },
});
