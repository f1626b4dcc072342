import { defineConfig } from 'tsdown';

/** Files that are needed together go into one: each file that Node loads adds half a millisecond to every start. */
const together = (name: string, priority: number, files: string) => ({
  name,
  priority,
  // Declarations are bundled as files of their own, which must stay where they are.
  test: new RegExp(`/src/(?:${files})(?<!\\.d)\\.ts$`),
});

export default defineConfig({
  entry: { index: 'src/index.ts', emulator: 'src/emulator.ts', cli: 'src/cli/main.ts' },
  format: 'esm',
  target: 'node20',
  platform: 'node',
  dts: true,
  fixedExtension: false,
  hash: false,
  logLevel: 'warn',
  outputOptions: {
    codeSplitting: {
      groups: [
        together('base', 3, 'errors|version|secret/.+|data/nearest'),
        together('core', 2, 'compose|data/(?!read-yaml).+|(?:profile|providers|token|flows)/.+'),
        together('fault', 2, 'emulator/fault'),
        together('send', 1, 'transport/(?:send|agents|proxy|time-limits|explain-network-error)'),
        together('cli-base', 1, 'cli/(?:help|commands|parse-call|show-error|style|terminal|usage)'),
        together('cli-token', 1, 'cli/(?:token|context|emulation)'),
      ],
    },
  },
});
