import { describe, expect, it } from 'vitest';
import { type Command, defineCommand, Registry } from '../../src/script/command.ts';
import { commandDocs, describeCommand, exampleOf, listCommands } from '../../src/script/describe-command.ts';

const get = defineCommand({
  group: 'ws',
  name: 'get',
  summary: 'Calls an API',
  parameters: [
    { name: 'url', kind: 'text', help: 'Where | to' },
    { name: 'var', kind: 'variable', help: 'Variable to set', optional: true },
  ],
  example: 'ws.get:\n  url: https://x\n  var: me\nif: a = b\n',
  run() {},
});
const reset: Command = defineCommand({
  group: 'ws',
  name: 'resetAll',
  summary: 'Resets',
  parameters: [],
  example: 'ws.resetAll:',
  run() {},
});
const save: Command = defineCommand({
  group: 'base',
  name: 'save',
  summary: 'Saves',
  parameters: [],
  example: 'base.save:',
  run() {},
});
const registry = new Registry([get, reset, save]);

describe('The reference of the commands', () => {
  it('lists the commands by group, one line each', () => {
    expect(listCommands(registry)).toBe(`ws
  ws.get(url, [var])  Calls an API
  ws.resetAll()       Resets

base
  base.save()         Saves
`);
  });

  it('describes a command with its parameters and an example', () => {
    expect(describeCommand(get)).toBe(`ws.get(url, [var])
  Calls an API

parameters
  url  Where | to (string)
  var  Variable to set (variable name, optional)

example
  - ws.get:
      url: https://x
      var: me
    if: a = b
`);
  });

  it('describes a command without parameters', () => {
    expect(describeCommand(reset)).toBe('ws.resetAll()\n  Resets\n\nexample\n  - ws.resetAll:\n');
  });

  it('formats the example as an item of a list of steps', () => {
    expect(exampleOf(get)).toBe('- ws.get:\n    url: https://x\n    var: me\n  if: a = b');
  });

  it('is a page in Markdown', () => {
    const page = commandDocs(registry);
    expect(page).toContain('- **ws**: [get](#wsget), [resetAll](#wsresetall)\n- **base**: [save](#basesave)\n');
    expect(page).toContain(`## ws

### ws.get

\`ws.get(url, [var])\`

Calls an API.

| parameter | type | description |
|---|---|---|
| \`url\` | string | Where \\| to |
| \`var\` | variable name, optional | Variable to set |

\`\`\`yaml
- ws.get:
    url: https://x
    var: me
  if: a = b
\`\`\`

### ws.resetAll
`);
    expect(page.endsWith('- base.save:\n```\n')).toBe(true);
  });
});
