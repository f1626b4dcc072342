import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'tsdown';

/** Packages that are bundled, by the file that contains them. docs/dependencies.md explains why. */
const bundled: Record<string, string[]> = {
  yaml: ['yaml'],
  ioredis: ['ioredis', '@ioredis/commands', 'cluster-key-slot', 'denque', 'redis-errors', 'standard-as-callback'],
};

/** The licences of the packages in a file. */
function licences(file: string): string {
  return (bundled[file] ?? [])
    .map((name) => `/*!\n${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}*/\n`)
    .join('');
}

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    script: 'src/script.ts',
    emulator: 'src/emulator.ts',
    playwright: 'src/playwright.ts',
    proxy: 'src/proxy.ts',
    credential: 'src/credential.ts',
    cli: 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
  hash: false,
  sourcemap: true,
  dts: {
    entry: [
      'src/index.ts',
      'src/script.ts',
      'src/emulator.ts',
      'src/playwright.ts',
      'src/proxy.ts',
      'src/credential.ts',
    ],
  },
  logLevel: 'warn',
  // The pages of the emulator's console are served as they are.
  copy: [{ from: 'src/emulator/console', to: 'dist' }],
  alias: {
    // The build for Node prints every token of a file, secrets included, if LOG_TOKENS or LOG_STREAM is set.
    yaml: resolve('node_modules/yaml/browser/index.js'),
    debug: resolve('tools/no-debug.cjs'),
  },
  deps: { alwaysBundle: [...Object.values(bundled).flat(), 'debug'] },
  checks: { pluginTimings: false },
  outputOptions: {
    banner: ({ name }) => licences(name),
    // The sources are in the repository; in the package they would double its size.
    sourcemapExcludeSources: true,
    codeSplitting: {
      // Every token request needs these modules, and Node loads one file faster than forty. Type declarations are not grouped.
      groups: [
        {
          name: 'core',
          test: /\/src\/(?:errors|version|client|get-token|ports|redaction\/|providers\/(?!catalogue\/)|config\/(?!yaml)|profile\/(?!issuer-endpoints|login-profile)|oauth\/(?!login\/|discovery|dpop|id-token|inspection|metadata|revocation)|files\/(?!find-scripts|project)|flows\/(?!auto-refresh|discard-token|discover-endpoints|inspect-token|read-metadata)[^/]+\.ts).*(?<!\.d\.ts)$/,
        },
        {
          name: 'command-line',
          test: /\/src\/cli\/(?:args|command-definitions|context|main|output|render-error|style|terminal|with-client|commands\/token)\.ts$/,
        },
        { name: 'yaml', test: /\/(?:src\/config\/yaml|node_modules\/yaml\/).*(?<!\.d\.ts)$/ },
        { name: 'ioredis', test: /\/node_modules\/(?!yaml\/)|no-debug/ },
        { name: 'store', test: /\/src\/store\/(?!redis\/).*(?<!\.d\.ts)$/ },
        {
          name: 'http',
          test: /\/src\/http\/(?!call-api|client-assertion|assertion-source|grants\/|inspect-certificate|fetch).*(?<!\.d\.ts)$/,
        },
        { name: 'script-engine', test: /\/src\/script\/(?!reports\/).*(?<!\.d\.ts)$/ },
        { name: 'reports', test: /\/src\/script\/reports\/.*(?<!\.d\.ts)$/ },
      ],
    },
  },
});
