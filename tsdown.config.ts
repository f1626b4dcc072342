import { writeFileSync } from 'node:fs';
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
const yaml = ['yaml', 'js-yaml'];
const alias = { yaml: join(import.meta.dirname, 'node_modules/yaml/browser/dist/index.js') };

/** Packages that become part of a build; each has its licence in THIRD-PARTY.md. */
const bundle = (packages: string[]) => ({
  deps: { alwaysBundle: packages.map((name) => new RegExp(`^${name}`)), onlyBundle: packages },
});

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

/**
 * The files for Node are functions, as `Program` calls them: it compiles the text as it is, without a copy. What the bundler needs itself becomes part
 * of the file that is loaded first, instead of one of its own.
 */
const functions = (first: string): Rolldown.Plugin => ({
  name: 'functions',
  generateBundle(_, bundle) {
    const helpers = bundle['rolldown-runtime.cjs'];
    if (helpers?.type !== 'chunk') throw new Error('the bundler has made no file of its helpers');
    delete bundle[helpers.fileName];
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const code = chunk.code.replace(/(require\(.\.\/)rolldown-runtime(\.cjs.\))/, (_, start, end) =>
        chunk.name === first
          ? `(exports=>{${helpers.code};return exports})(exports.helpers={})`
          : `${start}${first}${end}.helpers`,
      );
      chunk.code = inAscii(`(function(exports,require){${code}\n})`);
    }
  },
});

/** What Node imports of the library: the names of each entry point, out of the files for Node. */
const nodeEntries: Rolldown.Plugin = {
  name: 'node-entries',
  writeBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk' || !chunk.isEntry || chunk.fileName.endsWith('.d.ts')) continue;
      const { name, exports } = chunk;
      const code = `import { load } from './load.js';\nexport const { ${exports.join(', ')} } = load('${name}.cjs');\n`;
      writeFileSync(join('dist', `${name}.js`), code);
      writeFileSync(join('dist', `${name}.d.ts`), `export * from './esm/${name}.js';\n`);
    }
  },
};

/** Names and lines stay, for whoever reads a stack trace; of an error that nobody catches Node prints the whole line. */
const minify = { compress: true, mangle: false, codegen: false };
const comments = { jsdoc: false };

const library = {
  index: 'src/index.ts',
  emulator: 'src/emulator.ts',
  scripting: 'src/scripting.ts',
  playwright: 'src/playwright.ts',
};

/** As CommonJS, what the program loads itself: Node's loader of ES modules takes longer for each file. */
const forNode = {
  ...common,
  format: 'cjs' as const,
  dts: false,
  // What others need of the first file, it exports too, instead of becoming one more file.
  inputOptions: { preserveEntrySignatures: 'allow-extension' as const },
  // In one file instead of seventy, reading YAML loads in a third of the time; as ES modules, the parts can become one.
  ...bundle([...yaml, 'oauth4webapi', 'jose', 'json-p3']),
  alias,
};

export default defineConfig([
  {
    ...common,
    // For whoever bundles the library, or does not know the condition `module-sync`: nothing but ES modules.
    entry: library,
    format: 'esm',
    dts: true,
    outDir: 'dist/esm',
    minify,
    ...bundle(yaml),
    plugins: [slimYaml, nodeEntries],
    alias,
    outputOptions: { comments, codeSplitting: { groups: [together('core', 'index', 'monotonic'), ...groups] } },
  },
  {
    ...forNode,
    entry: library,
    outDir: 'dist/node',
    minify,
    plugins: [slimYaml, functions('index')],
    outputOptions: {
      comments,
      // `import()` would go past our own way of loading.
      dynamicImportInCjs: false,
      codeSplitting: { groups: [together('index', 'index', 'monotonic'), ...groups] },
    },
  },
  {
    ...forNode,
    entry: { main: 'src/cli/main.ts' },
    outDir: 'dist/cli',
    // Half the text is half the time to read it, and a stack trace of the command line is for us alone.
    minify: true,
    plugins: [slimYaml, functions('main')],
    outputOptions: {
      dynamicImportInCjs: false,
      codeSplitting: { groups: [together('main', 'cli/main', 'monotonic'), ...groups] },
    },
  },
  // What loads those files: a module for the entry points of the library, and the command itself.
  { ...common, entry: { load: 'src/load.ts' }, format: 'esm', dts: false, minify: true },
  {
    ...common,
    entry: { 'oauth-profile': 'src/cli/start.ts' },
    format: 'cjs',
    dts: false,
    minify: true,
    outDir: 'bin',
    // Another file there says that it is CommonJS.
    clean: false,
    outputOptions: { entryFileNames: '[name].js' },
  },
]);
