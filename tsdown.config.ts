import { join } from 'node:path';
import { defineConfig } from 'tsdown';

const common = { target: 'node20', platform: 'node', fixedExtension: false, hash: false, logLevel: 'warn' } as const;

/** Files that are needed together go into one: each file that Node loads adds to every start. */
const together = (name: string, priority: number, files: string) => ({
  name,
  priority,
  // Declarations are bundled as files of their own, which must stay where they are.
  test: new RegExp(`/src/(?:${files})(?<!\\.d)\\.ts$`),
});

const CORE =
  'compose|session|errors|version|monotonic|data/(?!line-starts|read-(?:careful-|plain-)?yaml).+|(?:profile|providers|secret|token)/.+';
const groups = [
  // What reading a kept token takes, and the little of it that Redis needs too.
  together('vault', 1, 'store/(?:file|fingerprint|failure|folder|key|records|seal|turns)'),
  together('vault-writer', 1, 'store/(?!redis|memory|keychain|make-key|ask-df|ps-).+'),
  together(
    'send',
    1,
    'transport/(?:send|agents|attempt|byte-collector|host-of|proxy|time-limits|explain-network-error)',
  ),
  together('yaml', 1, 'data/(?:line-starts|read-(?:plain-)?yaml)'),
];

/** The parsers of YAML are part of every build: a little of js-yaml, and of yaml the code that prints nothing when the environment says so. */
const yaml = [/^yaml/, 'js-yaml'];
const alias = { yaml: join(import.meta.dirname, 'node_modules/yaml/browser/dist/index.js') };

export default defineConfig([
  {
    ...common,
    deps: { alwaysBundle: yaml },
    alias,
    entry: {
      index: 'src/index.ts',
      emulator: 'src/emulator.ts',
      scripting: 'src/scripting.ts',
      playwright: 'src/playwright.ts',
    },
    format: 'esm',
    dts: true,
    outputOptions: {
      codeSplitting: {
        groups: [together('core', 2, `${CORE}|library-session|token-source|oauth-profile|flows/.+`), ...groups],
      },
    },
  },
  {
    ...common,
    // As CommonJS the command line starts in two thirds of the time: Node need not set up its loader of ES modules.
    entry: { main: 'src/cli/main.ts' },
    format: 'cjs',
    dts: false,
    outDir: 'dist/cli',
    // Half the text is half the time to read it; a stack trace of the command line is for us alone.
    minify: true,
    // In one file instead of seventy, reading YAML loads in a third of the time; as ES modules, the parts can become one.
    deps: { alwaysBundle: [...yaml, 'oauth4webapi', 'jose', 'json-p3'] },
    alias,
    outputOptions: {
      // `import()` would set up the loader of ES modules after all.
      dynamicImportInCjs: false,
      codeSplitting: {
        groups: [
          together(
            'core',
            2,
            `${CORE}|flows/(?:acquire|ask|find-|flights|keep-token|kept|obtain|refresh|wish).*|cli/(?:command|context|emulation|help|output|parse-call|show-error|style|terminal|token|usage).*|emulator/fault`,
          ),
          ...groups,
        ],
      },
    },
  },
]);
