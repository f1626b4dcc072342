import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { defineConfig, type TsdownPlugin } from 'tsdown';

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

/** Source maps of lines instead of every name: a stack trace needs no more, and the package is a third smaller. */
const lineMaps: TsdownPlugin = {
  name: 'line-maps',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'asset' || !file.fileName.endsWith('.js.map')) continue;
      const map = JSON.parse(String(file.source));
      const lines = decode(map.mappings).map((segments) => segments.slice(0, 1).map((segment) => segment.slice(0, 4)));
      file.source = JSON.stringify({ ...map, names: [], mappings: encode(lines as ReturnType<typeof decode>) });
    }
  },
};

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
  plugins: [lineMaps],
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
    // JSDoc is in the type declarations.
    comments: { jsdoc: false },
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
        { name: 'diff-lines', test: /\/src\/script\/reports\/diff-lines\.ts$/ },
        { name: 'reports', test: /\/src\/script\/reports\/.*(?<!\.d\.ts)$/ },
        // Modules of some commands only. With a file for each, the package would contain twice as many files. A module that is imported by several of
        // these files comes first, so that no command loads another one.
        { name: 'child-process', test: /\/src\/(?:interactive\/browser|cli\/run-child)\.ts$/ },
        { name: 'read-line', test: /\/src\/cli\/read-line\.ts$/ },
        { name: 'emulator-messages', test: /\/src\/emulator\/(?:faults|messages)\.ts$/ },
        { name: 'id-token', test: /\/src\/oauth\/id-token\.ts$/ },
        {
          name: 'discovery',
          test: /\/src\/(?:flows\/(?:discover-endpoints|read-metadata)|oauth\/(?:discovery|metadata)|profile\/(?:issuer-endpoints|login-profile))\.ts$/,
        },
        {
          name: 'login',
          test: /\/src\/(?:flows\/(?:login\/|discard-token)|oauth\/(?:login\/|revocation)|interactive\/).*(?<!\.d\.ts)$/,
        },
        { name: 'login-commands', test: /\/src\/cli\/commands\/(?:forget|login|logout)\.ts$/ },
        { name: 'diagnosis', test: /\/src\/(?:flows\/diagnose\/|http\/inspect-certificate).*(?<!\.d\.ts)$/ },
        { name: 'information', test: /\/src\/cli\/commands\/(?:check|completion|explain|list|providers)\.ts$/ },
        { name: 'credential-protocols', test: /\/src\/credential\/.*(?<!\.d\.ts)$/ },
        {
          name: 'tools',
          test: /\/src\/cli\/(?:configure\/(?!kubectl)|commands\/(?:configure|credential)\.).*(?<!\.d\.ts)$/,
        },
        { name: 'script-files', test: /\/src\/files\/(?:find-scripts|project)\.ts$/ },
        { name: 'run', test: /\/src\/cli\/(?:select-scripts|watch|commands\/(?:commands|run))\.ts$/ },
        { name: 'start-proxy', test: /\/src\/proxy\/.*(?<!\.d\.ts)$/ },
        { name: 'proxy-commands', test: /\/src\/cli\/commands\/long-running\/(?:exec-)?proxy\.ts$/ },
        { name: 'emulation', test: /\/src\/cli\/(?:emulation|emulator-config|commands\/long-running\/emulate)\.ts$/ },
        { name: 'api', test: /\/src\/http\/(?:call-api|fetch)\.ts$/ },
        {
          name: 'assertions',
          test: /\/src\/http\/(?:assertion-source|grants\/(?:external-account|impersonation|installation))\.ts$/,
        },
      ],
    },
  },
});
