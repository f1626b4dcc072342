import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: { index: 'src/index.ts', emulator: 'src/emulator.ts', cli: 'src/cli/main.ts' },
  format: 'esm',
  target: 'node20',
  platform: 'node',
  dts: true,
  fixedExtension: false,
  hash: false,
  logLevel: 'warn',
});
