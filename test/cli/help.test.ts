import { expect, it } from 'vitest';
import { commands } from '../../src/cli/command-definitions.ts';
import { helpText } from '../../src/cli/help.ts';
import { styleFor } from '../../src/cli/style.ts';

it.each(commands.map((command) => [command.name, command] as const))(
  'the help of %s fits on a screen and has two or three examples',
  (name, command) => {
    const text = helpText(command, styleFor({ isTerminal: false }, {}));
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect([2, 3]).toContain(command.examples.length);
    for (const [line] of command.examples) expect(line).toContain('oauth-profile ');
    expect(command.examples.some(([line]) => line.includes(`oauth-profile ${name}`))).toBe(true);
  },
);
