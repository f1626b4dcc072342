import { join } from 'node:path';
import { defineConfig, type Rolldown } from 'tsdown';

const common = {
  target: 'node20',
  platform: 'node',
  fixedExtension: false,
  hash: false,
  logLevel: 'warn',
  // Whoever installs a clone has no use for the time that each part of the build took.
  checks: { pluginTimings: false },
} as const;

/** A file goes into one with all that it imports, and that is in no earlier one: each file that Node loads adds to every start. */
const together = (name: string, ...files: string[]) => ({
  name,
  // Declarations are bundled as files of their own, which must stay where they are.
  test: new RegExp(`/src/(?:${files.join('|')})(?<!\\.d)\\.ts$`),
});

const groups = [
  // Redis needs the turns too, and little else of all this.
  together('vault', 'store/file', 'store/turns'),
  together('vault-writer', 'store/vault-writer'),
  together('asking', 'flows/asking', 'transport/send'),
  together('yaml', 'data/read-yaml'),
];

/** The parsers of YAML are part of every build: a little of js-yaml, and of yaml the code that prints nothing when the environment says so. */
const yaml = [/^yaml/, 'js-yaml'];
const alias = { yaml: join(import.meta.dirname, 'node_modules/yaml/browser/dist/index.js') };

/** Of js-yaml only the parser of events is used. All else that it prepares is told to be without effect, so that it is left out. */
const slimYaml: Rolldown.Plugin = {
  name: 'slim-yaml',
  transform: {
    filter: { id: /\/js-yaml\.mjs$/ },
    handler(code) {
      const variables = this.parse(code).body.flatMap((node) =>
        node.type === 'VariableDeclaration' ? node.declarations : [],
      );
      return variables.reduceRight((slim, { init }) => {
        if (init === null || ['Literal', 'UnaryExpression'].includes(init.type)) return slim;
        const { start, end } = init;
        return `${slim.slice(0, start)}/* @__PURE__ */ prepare(() => (${code.slice(start, end)}))${slim.slice(end)}`;
      }, `${code}\nfunction prepare(make) { return make(); }`);
    },
  },
};

/** Text in ASCII needs no decoding, and half the memory. */
const inAscii = (code: string) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** What the bundler needs itself becomes part of the file that is loaded first, instead of one of its own. */
const quickStart = (first: string, helpers: string, use: (code: string, isFirst: boolean, helpers: string) => string) =>
  ({
    name: 'quick-start',
    generateBundle(_, bundle) {
      const part = bundle[helpers];
      if (part?.type !== 'chunk' || bundle[first] === undefined) throw new Error(`the bundler made no ${helpers}`);
      for (const chunk of Object.values(bundle)) {
        // Declarations are for people too.
        if (chunk.type === 'chunk' && !chunk.fileName.endsWith('.d.ts'))
          chunk.code = inAscii(use(chunk.code, chunk.fileName === first, part.code));
      }
      delete bundle[helpers];
    },
  }) satisfies Rolldown.Plugin;

const quickLibrary = quickStart('core.js', 'rolldown-runtime.js', (code, isFirst, helpers) =>
  isFirst
    ? code + helpers.replace('__exportAll as t', '__exportAll as helper')
    : code.replace('{ t as __exportAll } from "./rolldown-runtime.js"', '{ helper as __exportAll } from "./core.js"'),
);

/** The files of the program are functions, as `bin/oauth-profile.js` calls them: it compiles the text as it is, without a copy. */
const quickProgram = quickStart('main.cjs', 'rolldown-runtime.cjs', (code, isFirst, helpers) => {
  const whole = code.replace(/(require\(.\.\/)rolldown-runtime(\.cjs.\))/, (_, start, end) =>
    isFirst ? `(exports=>{${helpers};return exports})(exports.helpers={})` : `${start}main${end}.helpers`,
  );
  return `(function(exports,require){${whole}\n})`;
});

export default defineConfig([
  {
    ...common,
    deps: { alwaysBundle: yaml },
    plugins: [slimYaml, quickLibrary],
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
        groups: [together('core', 'index', 'monotonic'), ...groups],
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
    plugins: [slimYaml, quickProgram],
    // What others need of the first file, it exports too, instead of becoming one more file.
    inputOptions: { preserveEntrySignatures: 'allow-extension' },
    // Half the text is half the time to read it; a stack trace of the command line is for us alone.
    minify: true,
    // In one file instead of seventy, reading YAML loads in a third of the time; as ES modules, the parts can become one.
    deps: { alwaysBundle: [...yaml, 'oauth4webapi', 'jose', 'json-p3'] },
    alias,
    outputOptions: {
      // `import()` would set up the loader of ES modules after all.
      dynamicImportInCjs: false,
      codeSplitting: {
        groups: [together('main', 'cli/main', 'monotonic'), ...groups],
      },
    },
  },
]);
