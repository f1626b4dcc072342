import { describe, expect, it } from 'vitest';
import { InvalidScriptError } from '../../../src/errors.ts';
import { parseScriptObject } from '../../../src/script/parser/object.ts';
import { renderIssues } from '../../../src/script/parser/render-issues.ts';
import { readScript } from '../../../src/script/parser/yaml.ts';
import { sampleRegistry, sampleSource } from '../sample-commands.ts';

const errorOf = (read: () => unknown): InvalidScriptError => {
  try {
    read();
  } catch (error) {
    if (error instanceof InvalidScriptError) return error;
    throw error;
  }
  throw new Error('no issue was reported');
};
const rendered = (text: string) => renderIssues(errorOf(() => readScript(text, sampleSource, sampleRegistry)));

describe('Rendered issues', () => {
  it('show the position, the source line with a caret, and the hint', () => {
    expect(
      rendered('nmae: x\nsteps:\n  - ws.gett: [a]\n  - base.waitFor: soon\n'),
    ).toBe(`tests/me.yaml:1:1: unknown key nmae
    nmae: ••••
    ^
  → did you mean name?
tests/me.yaml:3:5: unknown command ws.gett
      - ws.gett: [a]
        ^
  → did you mean ws.get?
tests/me.yaml:4:19: waitMs must be a non-negative integer
      - base.waitFor: soon
                      ^
`);
  });

  it.each([
    ['{name: "日本", ws.rset: }', 23],
    ['{name: "😀", ws.rset: }', 21],
    ['{name: "e\u0301", ws.rset: }', 20],
    ['{name: "한글ab", ws.rset: }', 25],
    ['{name:\t"a", ws.rset: }', 20],
  ])('have the caret below the right column of %s', (step, width) => {
    expect(rendered(`steps:\n  - ${step}`).split('\n')[2]).toBe(`${' '.repeat(width)}^`);
  });

  it('have no source line for an empty file', () => {
    expect(rendered('')).toBe(
      'tests/me.yaml:1:1: the script has no steps\n  → write steps: and a list of commands below it, such as - base.verbose: hello\n',
    );
  });

  it('have a path if the script is an object', () => {
    const error = errorOf(() => parseScriptObject({ steps: [{ 'ws.rset': [] }] }, sampleSource, sampleRegistry));
    expect(renderIssues(error)).toBe(
      'tests/me.yaml: steps[0].ws.rset: unknown command ws.rset\n  → did you mean ws.reset?\n',
    );
  });

  it('can be coloured', () => {
    const style = {
      bold: (text: string) => `<b>${text}</b>`,
      red: (text: string) => `<r>${text}</r>`,
      cyan: (text: string) => `<c>${text}</c>`,
    };
    const error = errorOf(() => readScript('steps: [{ws.rset: }]', sampleSource, sampleRegistry));
    expect(renderIssues(error, style)).toBe(
      '<b>tests/me.yaml:1:10:</b> unknown command ws.rset\n    steps: [{ws.rset: }]\n             <r>^</r>\n  <c>→</c> did you mean ws.reset?\n',
    );
  });

  it('escape control characters in names', () => {
    expect(rendered('"a\\e[31m.b\\r": x')).not.toMatch(/[\u001b\r]/);
    expect(rendered('steps: [{"a\\e[31m.b\\r": x}]')).not.toMatch(/[\u001b\r]/);
  });
});
