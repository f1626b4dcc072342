import assert from 'node:assert/strict';
import { readEnv } from '../../src/config/dotenv.ts';
import { parseJson, readJson } from '../../src/config/json.ts';
import { readProperties } from '../../src/config/properties.ts';
import {
  escapeReferences,
  parsePath,
  parseTemplate,
  ReferenceSyntaxError,
  type Template,
} from '../../src/config/reference.ts';
import { Resolver } from '../../src/config/resolver.ts';
import { isCollection, toText, type Value } from '../../src/config/value.ts';
import { type Entry, Variables } from '../../src/config/variables.ts';
import { readYaml } from '../../src/config/yaml.ts';
import { callTwice, itHolds, printedForms, yamlTokens } from './mutated-input.ts';

/** A made-up secret, the value of a secret field in seeds. No error may contain it. */
const CANARY = 'c4n4ry0fTh3M1ne';
const MAX_TEXT = 1_048_576;

/** Formats a template as source. */
function format(template: Template): string {
  return template
    .map((part) => {
      if (typeof part === 'string') return escapeReferences(part);
      const { kind, text, fallback } = part;
      assert.ok(kind === 'variable' || text.startsWith(`${kind}:`));
      return `\${${text}${fallback === undefined ? '' : `:-${format(fallback)}`}}`;
    })
    .join('');
}

const referenceTokens = [
  ...['${', '}', '$${', ':-', '[0]', '["', '"]', "['", "']", '.', 'env:', 'file:', '${a}', '${a.b[0]["c"]}'],
  ...['${env:HOME:-x}', '${file:a.txt}', '${a:-${b:-c}}', '\\u0041', '[999999999]', '[0123]'],
];

itHolds('parses any reference, or reports a position inside the input', {
  seeds: [
    'a ${name} b',
    '${name.path[0]["odd key"].x}',
    '${env:NAME:-${other:-$${x}}}',
    "${a['b'][12].c:-d}",
    'a.b[0]',
  ],
  tokens: referenceTokens,
  check(input) {
    const { value, error } = callTwice(() => parseTemplate(input), ReferenceSyntaxError);
    if (error !== undefined) {
      const { offset } = error as ReferenceSyntaxError;
      assert.ok(offset >= 0 && offset <= input.length, 'the position is outside the input');
    } else {
      assert.deepEqual(parseTemplate(format(value)), value, 'the formatted template is parsed differently');
    }
    assert.deepEqual(parseTemplate(escapeReferences(input)), input === '' ? [] : [input], 'an escaped string changes');
    callTwice(() => parsePath(input), ReferenceSyntaxError);
  },
});

/** Reads lines of `name=value`. Every line is valid, so that only references can be invalid. */
function linesOf(input: string): Entry[] {
  return input.split('\n').map((line) => {
    const at = line.indexOf('=');
    return { name: at < 0 ? line : line.slice(0, at), value: at < 0 ? '' : line.slice(at + 1) };
  });
}

itHolds('resolves any variables within the size limit, without secrets in errors', {
  runs: 60,
  seeds: [
    'a=1\nb=${a}${a}\nc=${b}${b}',
    'a=${b}\nb=${a}',
    'a.client_secret=${env:SECRET}\nb=x ${a.client_secret}\nc=${a}',
    'x=${file:token.txt}\ny=${x:-${env:NONE:-z}}\nz=${list[1].k}',
    'p.password=abc${q}def\nq=${missing}',
  ],
  tokens: [...referenceTokens, '=', '\n', 'a=', 'b=${a}', 'client_secret', 'password', '${list[0]}', '${list}'],
  check(input) {
    const source = { label: 'data', directory: '', trust: 'given' } as const;
    const list: Entry = { name: 'list', value: ['one', { k: 'two' }] };
    const variables = new Variables().add([list, ...linesOf(input)], source);
    const external = {
      env: (name: string) => (name === 'SECRET' ? CANARY : name === 'NAME' ? 'ada' : undefined),
      readFileInside: (path: string) => (path.endsWith('.txt') ? `${CANARY}\n` : undefined),
    };
    for (const variable of variables) {
      const { value, error } = callTwice(() => new Resolver(variables, external).resolve(variable));
      if (error === undefined) assert.ok(lengthOf(value as Value) <= MAX_TEXT, 'a value exceeds the size limit');
      else assert.ok(!printedForms(error).includes(CANARY), 'an error contains a secret');
    }
  },
});

function lengthOf(value: Value): number {
  if (!isCollection(value)) return toText(value).length;
  return Object.values(value).reduce((sum: number, part: Value) => sum + lengthOf(part), 0);
}

/** Whether the canary only occurs as the value of a secret field. */
function isHidden(input: string, before: RegExp): boolean {
  return input.split(CANARY).every((text, index, all) => index === all.length - 1 || before.test(text));
}

/** Reads a file of variables. An error must not quote a secret in it. */
function readFile(read: (text: string, label: string) => Entry[], input: string, before: RegExp): Entry[] | undefined {
  const { value, error } = callTwice(() => read(input, 'file'));
  if (error === undefined) {
    assert.equal(new Set(value.map(({ name }) => name)).size, value.length, 'a name is defined twice');
    return value;
  }
  assert.match(error.message, /^file[: ]|^the name of a variable/, 'an error does not name its file');
  if (isHidden(input, before)) assert.ok(!printedForms(error).includes(CANARY), 'an error contains a secret');
  return undefined;
}

itHolds('parses JSON like JSON.parse, or rejects it', {
  seeds: [
    `{"graph":{"type":"microsoft","client_secret":"${CANARY}","n":12345678901234567890,"l":[1.0,true,null,"\\u00e9"]}}`,
    '{"a.b": -0.5e-7, "c": {"d": {"e": []}}, "f": "x\\ny"}',
  ],
  tokens: ['{"', '":', '",', '[', ']', '{', '}', '\\u', '\\ud83d\\ude00', '1e5', '-', '"a":1,', 'null', '/*', '//'],
  check(input) {
    readFile(readJson, input, /"client_secret":\s*"$/);
    const { value, error } = callTwice(() => parseJson(input, 'file'));
    let standard: unknown;
    try {
      standard = JSON.parse(input);
    } catch {
      assert.ok(error !== undefined, 'invalid JSON is accepted');
      return;
    }
    if (error === undefined) {
      // JSON.stringify writes both 0 and -0 as 0.
      assert.equal(JSON.stringify(value), JSON.stringify(standard), 'JSON.parse returns another value');
    } else assert.match(error.message, /is defined twice|64 levels/, 'valid JSON is rejected');
  },
});

itHolds('reads any .properties file, or names the file in the error', {
  seeds: [
    `# a comment\ngraph.type=microsoft\ngraph.client_secret = ${CANARY}\nlong=a\\\n   b\nuni: \\u00e9\\t\n! more\nk v`,
    'a\\ b\\:c = d\\\\\nlast=x\\',
  ],
  tokens: ['\\u00', '\\u', '\\\n', '\\', '=', ':', ' ', '\f', '!', '#', '\r', 'a=b\n', '\\ '],
  check(input) {
    const entries = readFile(readProperties, input, /(?:^|\n)\s*\S*client_secret\s*[=:]\s*$/);
    if (entries === undefined) return;
    const escaped = (text: string): string =>
      [...text].map((char) => (/[A-Za-z0-9]/.test(char) ? char : unicode(char))).join('');
    const again = entries.map(({ name, value }) => `${escaped(name)}=${escaped(String(value))}`).join('\n');
    assert.deepEqual(
      contents(readProperties(again, 'file')),
      contents(entries),
      'the written file is read differently',
    );
  },
});

function unicode(char: string): string {
  return Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  );
}

function contents(entries: readonly Entry[]): [string, Value][] {
  return entries.map(({ name, value }) => [name, value]);
}

itHolds('reads any .env file, or names the file in the error', {
  seeds: [
    `# comment\nexport graph.type=microsoft\ngraph.client_secret="${CANARY}"  # why\nx='$\{no}'\ny=bare value # c\n`,
    'multi="a\nb\\n\\"c\\$d\\${e}"\r\nlast=',
  ],
  tokens: ['export ', '"', "'", '\\', '\\${', '#', ' #', '=', '\n', '\r\n', 'A=', '"a\nb"', '$'],
  check(input) {
    const entries = readFile(readEnv, input, /(?:^|\n)(?:export )?[\w.]*client_secret="?$/);
    if (entries === undefined) return;
    const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r')}"`;
    const again = entries.map(({ name, value }) => `${name}=${quoted(String(value))}`).join('\n');
    assert.deepEqual(contents(readEnv(again, 'file')), contents(entries), 'the written file is read differently');
  },
});

itHolds('reads any YAML file, or names the file in the error', {
  runs: 40,
  seeds: [
    `graph:\n  type: microsoft\n  client_secret: ${CANARY}\n  scope: [a, b]\n  n: 007\nother.type: custom\n`,
    'base: &b\n  type: okta\n  k: |\n    two\n    lines\nmine:\n  <<: *b\n  k: "x\\ty"\nlist: [1, {a: b}]\n',
    '%YAML 1.2\n---\n? a\n: b\n? "c d"\n: >-\n  folded\n  text\n...\n',
  ],
  tokens: yamlTokens,
  check(input) {
    const entries = readFile(readYaml, input, /(?:^|\n)\s*client_secret: $/);
    if (entries === undefined) return;
    const plain = entries.filter(({ name, value }) => typeof value === 'string' && name.length < 500);
    const again = plain.map(({ name, value }) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join('\n');
    assert.deepEqual(contents(readYaml(again, 'file')), contents(plain), 'the written file is read differently');
  },
});
