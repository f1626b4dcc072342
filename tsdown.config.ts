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
  'compose|session|errors|version|data/(?!line-starts|read-(?:careful-|plain-)?yaml).+|(?:profile|providers|secret|token)/.+|flows/(?:acquire|ask|find-|flights|keep-token|kept|obtain|refresh|wish).*';
/** What reading a kept token takes. */
const VAULT = 'store/(?:file|fingerprint|failure|folder|key|records|seal)';
const SEND = 'transport/(?:send|agents|attempt|byte-collector|proxy|time-limits|explain-network-error)';

/** The parsers of YAML are part of every build: a little of js-yaml, and of yaml the code that prints nothing when the environment says so. */
const yaml = {
  bundled: [/^yaml/, 'js-yaml'],
  alias: { yaml: join(import.meta.dirname, 'node_modules/yaml/browser/dist/index.js') },
};

/** In one file instead of ninety, ioredis loads in a third of the time. */
const redis = [
  /^@?ioredis/,
  'cluster-key-slot',
  'debug',
  'ms',
  'denque',
  /^lodash\./,
  /^redis-/,
  'standard-as-callback',
];
/** Colours for debug's messages, which nobody sees. */
const neverBundle = ['supports-color'];

export default defineConfig([
  {
    ...common,
    deps: { alwaysBundle: [...yaml.bundled, ...redis], neverBundle },
    alias: yaml.alias,
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
        groups: [
          together(
            'core',
            2,
            'compose|session|library-session|token-source|oauth-profile|errors|version|secret/.+|data/(?!line-starts|read-(?:careful-|plain-)?yaml).+|(?:profile|providers|token|flows)/.+',
          ),
          together('vault', 1, VAULT),
          together('vault-writer', 1, 'store/(?!redis|memory|keychain|make-key).+'),
          together('send', 1, SEND),
          together('yaml', 1, 'data/(?:line-starts|read-(?:plain-)?yaml)'),
        ],
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
    deps: { alwaysBundle: [...yaml.bundled, ...redis, 'oauth4webapi', 'jose', 'json-p3'], neverBundle },
    alias: yaml.alias,
    outputOptions: {
      // `import()` would set up the loader of ES modules after all.
      dynamicImportInCjs: false,
      codeSplitting: {
        groups: [
          together(
            'core',
            2,
            `${CORE}|cli/(?:command|context|emulation|help|output|parse-call|show-error|style|terminal|token|usage).*|emulator/fault`,
          ),
          together('vault', 1, VAULT),
          together('send', 1, SEND),
          together('yaml', 1, 'data/(?:line-starts|read-(?:plain-)?yaml)'),
        ],
      },
    },
  },
]);
