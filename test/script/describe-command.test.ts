import { describe, expect, it } from 'vitest';
import { type Command, defineCommand } from '../../src/script/command.ts';
import { commandDocs, describeCommand, exampleOf, listCommands } from '../../src/script/describe-command.ts';
import { Registry } from '../../src/script/registry.ts';

const get = defineCommand({
  group: 'ws',
  name: 'get',
  summary: 'Asks an API',
  parameters: [
    { name: 'url', kind: 'text', help: 'Where | to' },
    { name: 'var', kind: 'variable', help: 'The variable to write', optional: true },
  ],
  example: 'ws.get:\n  url: https://x\n  var: me\nif: a = b\n',
  run() {},
});
const reset: Command = defineCommand({
  group: 'ws',
  name: 'resetAll',
  summary: 'Forgets',
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

describe('the commands', () => {
  it('are listed in their groups, one line each', () => {
    expect(listCommands(registry)).toBe(`ws
  ws.get(url, [var])  Asks an API
  ws.resetAll()       Forgets

base
  base.save()         Saves
`);
  });

  it('are described with their parameters and an example', () => {
    expect(describeCommand(get)).toBe(`ws.get(url, [var])
  Asks an API

parameters
  url  Where | to (text)
  var  The variable to write (name of a variable, may be left out)

example
  - ws.get:
      url: https://x
      var: me
    if: a = b
`);
  });

  it('are described without parameters where they have none', () => {
    expect(describeCommand(reset)).toBe('ws.resetAll()\n  Forgets\n\nexample\n  - ws.resetAll:\n');
  });

  it('have examples as they stand in a list of steps', () => {
    expect(exampleOf(get)).toBe('- ws.get:\n    url: https://x\n    var: me\n  if: a = b');
  });

  it('have a page in Markdown', () => {
    const page = commandDocs(registry);
    expect(page).toContain('- **ws**: [get](#wsget), [resetAll](#wsresetall)\n- **base**: [save](#basesave)\n');
    expect(page).toContain(`## ws

### ws.get

\`ws.get(url, [var])\`

Asks an API.

| parameter | is | |
|---|---|---|
| \`url\` | text | Where \\| to |
| \`var\` | name of a variable, may be left out | The variable to write |

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
