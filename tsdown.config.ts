import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    script: 'src/script.ts',
    emulator: 'src/emulator.ts',
    playwright: 'src/playwright.ts',
    cli: 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
  hash: false,
  sourcemap: true,
  dts: { entry: ['src/index.ts', 'src/script.ts', 'src/emulator.ts', 'src/playwright.ts'] },
  logLevel: 'warn',
  checks: { pluginTimings: false },
  outputOptions: {
    // The sources are in the repository; in the package they would double its size.
    sourcemapExcludeSources: true,
    codeSplitting: {
      // What every token request needs is one file: Node loads one file faster than forty. Declarations (.d.ts) are not grouped: they would
      // end up in the JavaScript file.
      groups: [
        {
          name: 'core',
          test: /\/src\/(?!.*\.d\.ts$)(?:errors|version|client|get-token|ports|redaction\/|providers\/|config\/(?!yaml)|profile\/|oauth\/|files\/|flows\/[^/]+\.ts)/,
        },
        { name: 'yaml', test: /\/src\/(?!.*\.d\.ts$)config\/yaml/ },
        { name: 'store', test: /\/src\/(?!.*\.d\.ts$)store\/(?!redis\/)/ },
        { name: 'http', test: /\/src\/(?!.*\.d\.ts$)http\/(?!client-assertion|inspect-certificate|fetch)/ },
        { name: 'script-engine', test: /\/src\/(?!.*\.d\.ts$)script\/(?!reports\/)/ },
        { name: 'reports', test: /\/src\/(?!.*\.d\.ts$)script\/reports\// },
      ],
    },
  },
});
