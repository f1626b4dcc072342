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
});
