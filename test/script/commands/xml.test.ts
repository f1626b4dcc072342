import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Value } from '../../../src/config/value.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { runStep, runSteps } from '../run-steps.ts';

const order = `<?xml version="1.0" encoding="UTF-8"?>
<order id="7" state="open">
  <line sku="a">2</line>
  <line sku="b"><![CDATA[<3>]]></line>
  <note>Tom &amp; Ada &#x1F600;</note>
  <access_token>tok-0123456789</access_token>
</order>`;

const namespaces = `<s:Envelope xmlns:s="urn:soap" xmlns="urn:default">
  <s:Body><i:item xmlns:i="urn:item" i:id="1">x</i:item><plain>y</plain></s:Body>
</s:Envelope>`;

const evaluate = async (xml: Value, xpath: string) =>
  (await runStep(['xml.storeValue', [xml, xpath, 'found']])).saved('found');
const failureOf = async (xml: Value, xpath = '/*') =>
  (await runStep(['xml.storeValue', [xml, xpath, 'found']])).step.failure?.message;

describe('xml.storeValue', () => {
  it.each<[xpath: string, value: unknown]>([
    ['/order/@id', '7'],
    ['/', expect.stringContaining('Tom & Ada')],
    ['/order/line[1]', '2'],
    ['/order/line', ['2', '<3>']],
    ['//line[2]/@sku | //line[1]/@sku', ['a', 'b']],
    ['//note/text()', 'Tom & Ada 😀'],
    ['string(//line[@sku = "b"])', '<3>'],
    ['count(//line)', 2],
    ['count(//line) = 2', true],
    ['//access_token', { secret: 'tok-0123456789' }],
  ])('saves the value of %s', async (xpath, value) => {
    expect(await evaluate(order, xpath)).toEqual(value);
  });

  it('D2 fails and does not set the variable if nothing matches', async () => {
    const { saved, step } = await runStep(['xml.storeValue', [order, '//none', 'found']]);
    expect([step.state, saved('found')]).toEqual(['failed', undefined]);
  });

  it('wraps everything from a secret document, and quotes nothing of it', async () => {
    expect(await evaluate(new Secret(order), '/order/@state')).toEqual({ secret: 'open' });
    expect(await failureOf(new Secret('<hunter22hunter>'))).toBe('xml is not valid XML');
  });

  it('does not resolve ${ in the document', async () => {
    const { saved } = await runSteps([
      ['base.save', ['doc', { xml: '<a>$${env:HOME}</a>' }]],
      ['xml.storeValue', ['${doc.xml}', '/a', 'found']],
      ['base.save', ['copy', '${found}']],
    ]);
    expect(saved('copy')).toBe('${env:HOME}');
  });
});

describe('xml.assertValue', () => {
  it.each<[xpath: string, expected: Value, state: string]>([
    ['/order/@id', 7, 'passed'],
    ['//line', ['2', '<3>'], 'passed'],
    ['count(//line)', '2', 'passed'],
    ['/order/@id', '8', 'failed'],
    ['//none', '', 'failed'],
  ])('of %s with %j has %s', async (xpath, expected, state) => {
    expect((await runStep(['xml.assertValue', [order, xpath, expected]])).step.state).toBe(state);
  });

  it('reports the expected and the actual value', async () => {
    const { step } = await runStep(['xml.assertValue', [order, '/order/@state', 'shipped']]);
    expect(step.failure).toMatchObject({ expected: 'shipped', actual: 'open' });
  });
});

describe('xml.assertElementPresent', () => {
  it.each<[xpath: string, state: string]>([
    ['//line[@sku = "b"]', 'passed'],
    ['/order/@id', 'passed'],
    ['//none', 'failed'],
    // A value is not a node, even if it is 0 or false.
    ['count(//none)', 'failed'],
    ['boolean(//line)', 'failed'],
  ])('of %s has %s', async (xpath, state) => {
    expect((await runStep(['xml.assertElementPresent', [order, xpath]])).step.state).toBe(state);
  });
});

describe('An XPath', () => {
  it.each([
    ['//s:Body/*', ['x', 'y']],
    ['//i:item/@i:id', '1'],
    ['//_:plain', 'y'],
    ["//*[local-name() = 'plain']", 'y'],
  ])('%s uses the namespaces of the document', async (xpath, value) => {
    expect(await evaluate(namespaces, xpath)).toEqual(value);
  });

  it.each(['//[', 'nothing()', '$x', '//unknown:item', ''])('%j that is invalid is a failure', async (xpath) => {
    expect(await failureOf(order, xpath)).toContain('cannot be evaluated');
  });

  it('must not be a secret', async () => {
    const { step } = await runStep(['xml.storeValue', [order, new Secret('//hunter22hunter'), 'found']]);
    expect(step.failure?.message).toBe('xpath must not be a secret');
  });

  it('returns 2,000 siblings in the order of the document', async () => {
    const count = 2_000;
    const xml = `<r>${Array.from({ length: count }, (_, index) => `<i>${index}</i>`).join('')}</r>`;
    expect(await evaluate(xml, '//i')).toEqual(Array.from({ length: count }, (_, index) => String(index)));
  });
});

describe('XML', () => {
  it.each<[xml: string, position: string]>([
    ['', '1:1'],
    ['text', '1:1'],
    ['<a>', '1:1'],
    ['<a>\n <b></a>', '2:2'],
    ['<a/><b/>', '1:5'],
    ['<a/>x', '1:1'],
    ['<a b=1/>', '1:1'],
    ['<a b="1" b="2"/>', '1:1'],
    ['<a><x:b/></a>', '1:4'],
    ['<a>\n1 & 2</a>', '2:3'],
    ['<a b="&"/>', '1:7'],
    ['<a>&nbsp;</a>', '1:1'],
    ['<a>\u0001</a>', '1:4'],
    ['<a>&#0;</a>', '1:4'],
    ['<a>&#xD800;</a>', '1:4'],
    ['<a>\ud800</a>', '1:4'],
  ])('%j that is malformed is a failure with a position', async (xml, position) => {
    expect(await failureOf(xml)).toMatch(new RegExp(`^xml:${position}: .`));
  });

  it.each([
    '\ufeff<a>1</a>',
    '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a>1</a>',
    '<a><!-- & --><![CDATA[1]]><?p & ?></a>',
  ])('%j is accepted', async (xml) => {
    expect(await evaluate(xml, '/a')).toBe('1');
  });

  it.each([
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>',
    '<!DOCTYPE a [<!ENTITY b "1"><!ENTITY c "&b;&b;&b;"><!ENTITY d "&c;&c;&c;">]><a>&d;</a>',
  ])('%j does not expand entities', async (xml) => {
    expect(await failureOf(xml)).toMatch(/^xml:1:\d+: /);
  });

  it('that is nested too deeply is a failure', async () => {
    const depth = 20_000;
    const xml = `${'<a>'.repeat(depth)}1${'</a>'.repeat(depth)}`;
    expect(await failureOf(xml, 'string(/a)')).toContain('nested too deeply');
  });

  it('returns any string that was escaped', async () => {
    const entities: Readonly<Record<string, string>> = {
      '&': '&amp;',
      '<': '&lt;',
      '>': '&gt;',
      '"': '&quot;',
      "'": '&apos;',
    };
    const escapeXml = (text: string) =>
      text.replace(/[&<>"'\s]/g, (char) => entities[char] ?? `&#${char.charCodeAt(0)};`);
    const character = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 1 })
      .filter((char) => !/[\0-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(char));
    const anyText = fc
      .array(fc.oneof(character, fc.constantFrom('&', '<', ']]>', '&amp;', '${', ' ', '\n', '\r')))
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const xml = `<a b="${escapeXml(text)}">${escapeXml(text)}</a>`;
        const { saved } = await runStep(['xml.storeValue', ['${doc.xml}', '/a | /a/@b', 'found']], {
          data: { doc: { xml: xml.replaceAll('${', () => '$${') } },
        });
        expect(saved('found')).toEqual([text, text]);
      }),
    );
  });
});
