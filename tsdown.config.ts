import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'tsdown';

const yaml = resolve('node_modules/yaml');

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
  // The pages of the emulator's console are served as they are.
  copy: [{ from: 'src/emulator/console', to: 'dist' }],
  // The build of yaml for Node prints every token of a file, secrets included, if the environment variable LOG_TOKENS or
  // LOG_STREAM is set. The build for browsers does not, but Node cannot import it, so it is bundled.
  alias: { yaml: `${yaml}/browser/index.js` },
  deps: { alwaysBundle: ['yaml'] },
  checks: { pluginTimings: false },
  outputOptions: {
    banner: ({ name }) => (name === 'yaml' ? `/*!\nyaml\n\n${readFileSync(`${yaml}/LICENSE`)}*/` : ''),
    // The sources are in the repository; in the package they would double its size.
    sourcemapExcludeSources: true,
    codeSplitting: {
      // Every token request needs these modules, and Node loads one file faster than forty. Type declarations are not grouped.
      groups: [
        {
          name: 'core',
          test: /\/src\/(?:errors|version|client|get-token|ports|redaction\/|providers\/|config\/(?!yaml)|profile\/|oauth\/(?!account)|files\/|flows\/[^/]+\.ts).*(?<!\.d\.ts)$/,
        },
        { name: 'yaml', test: /\/(?:src\/config\/yaml|node_modules\/yaml\/).*(?<!\.d\.ts)$/ },
        { name: 'store', test: /\/src\/store\/(?!redis\/).*(?<!\.d\.ts)$/ },
        { name: 'http', test: /\/src\/http\/(?!client-assertion|inspect-certificate|fetch).*(?<!\.d\.ts)$/ },
        { name: 'script-engine', test: /\/src\/script\/(?!reports\/).*(?<!\.d\.ts)$/ },
        { name: 'reports', test: /\/src\/script\/reports\/.*(?<!\.d\.ts)$/ },
      ],
    },
  },
});
