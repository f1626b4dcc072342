import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { blocksOf, pages, root } from './blocks.ts';

describe('programs in the documentation', () => {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-programs-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const programs = pages
    .flatMap((page) => blocksOf(page))
    .filter(({ language }) => language === 'ts')
    .map((block, index) => ({ ...block, name: join(directory, `block-${index + 1}.mts`) }));
  for (const { name, text } of programs) writeFileSync(name, text);
  // Loading the types of test runners would take longer than everything else.
  const stubs = join(directory, 'stubs.d.ts');
  writeFileSync(
    stubs,
    `declare module 'vitest';
    declare module '@playwright/test' {
      interface Test { (...parts: any[]): void; extend<A, B>(fixtures: any): Test }
      export const test: Test;
      export const expect: any;
      export const defineConfig: <A, B>(config: any) => any;
    }`,
  );
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(root, join(directory, 'node_modules', 'oauth-profile'));

  it('have no type errors', () => {
    const program = ts.createProgram([stubs, ...programs.map(({ name }) => name)], {
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleDetection: ts.ModuleDetectionKind.Force,
      strict: true,
      noImplicitAny: false,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
    });
    const issues = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
      const place = programs.find(({ name }) => name === file?.fileName)?.place;
      const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
      return `${place}, line ${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(issues).toEqual([]);
  });

  it('run without errors', () => {
    const running = programs.filter(({ runs }) => runs);
    for (const { name, text } of running) {
      const { outputText } = ts.transpileModule(text, {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      });
      writeFileSync(`${name}.mjs`, outputText);
    }
    const all = running.map(({ name }) => `await import(${JSON.stringify(`${name}.mjs`)});\n`).join('');
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', all], {
      cwd: directory,
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(running.length).toBeGreaterThanOrEqual(3);
  });
});
