import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import ts from 'typescript';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Program } from '../src/program.ts';

const require = createRequire(import.meta.url);
let folder: string;

beforeEach(() => {
  folder = `${mkdtempSync(join(tmpdir(), 'oauth-profile-program-'))}/`;
  write('first.cjs', `exports.second = require('./second.cjs'); exports.sep = require('node:path').sep;`);
  write('second.cjs', `exports.sum = (a, b) => a + b; exports.later = () => require('./third.cjs').name;`);
  write('third.cjs', `exports.name = 'third';`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const write = (name: string, body: string) =>
  writeFileSync(join(folder, name), `(function(exports,require){${body}\n})`);
const open = () => new Program(folder, require);
const compiled = () => readdirSync(folder).filter((file) => !file.endsWith('.cjs'));

interface First {
  readonly second: { sum(a: number, b: number): number; later(): string };
  readonly sep: string;
}

function use(program: Program): First {
  const first = program.load('first.cjs') as First;
  expect(first.second.sum(1, 2)).toBe(3);
  return first;
}

it('a file has its own files and those of Node and of packages, and is loaded once', () => {
  const program = open();
  const first = use(program);
  expect(first.sep).toBe(sep);
  expect(program.load('second.cjs')).toBe(first.second);
});

it('a file that failed is loaded again by whoever needs it next', () => {
  const program = open();
  const first = use(program);
  const text = readFileSync(join(folder, 'third.cjs'));
  write('third.cjs', `throw new RangeError('not now');`);
  expect(() => first.second.later()).toThrow(RangeError);
  writeFileSync(join(folder, 'third.cjs'), text);
  expect(first.second.later()).toBe('third');
});

it('in another realm than that of Node, a file belongs to that realm, and nothing is kept', () => {
  write('realm.cjs', 'exports.list = [];');
  const context = createContext({ process, Buffer });
  const { outputText } = ts.transpileModule(readFileSync(new URL('../src/program.ts', import.meta.url), 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const run = `(require, exports, folder) => { ${outputText}
    const program = new Program(folder, require);
    const { list } = program.load('realm.cjs');
    program.keepCompiled();
    return list instanceof Array; }`;
  expect(runInContext(run, context)(require, {}, folder)).toBe(true);
  expect(compiled()).toEqual([]);
});

it('what was compiled is kept when that is asked for, and told of until then', () => {
  const program = open();
  const told = vi.fn();
  const first = use(program);
  program.onCompiled = told;
  expect(first.second.later()).toBe('third');
  expect(first.second.later()).toBe('third');
  expect(told).toHaveBeenCalledTimes(1);
  expect(compiled()).toEqual([]);
  program.keepCompiled();
  expect(compiled()).toHaveLength(3);
  const next = open();
  next.onCompiled = told;
  expect(use(next).second.later()).toBe('third');
  expect(told).toHaveBeenCalledTimes(1);
});

it('with a file that nobody had compiled, the others are kept again too, with what they have gained', () => {
  const program = open();
  use(program);
  program.keepCompiled();
  const kept = compiled();
  const second = () => readFileSync(join(folder, kept.find((file) => file.startsWith('second')) as string));
  const before = second();
  const next = open();
  const first = use(next);
  next.keepCompiled();
  expect(second().equals(before)).toBe(true);
  first.second.later();
  next.keepCompiled();
  expect(compiled()).toHaveLength(3);
  expect(second().length).toBeGreaterThan(before.length);
});

it('code of another source is not used', () => {
  const program = open();
  use(program);
  program.keepCompiled();
  write('second.cjs', `exports.sum = (a, b) => a - b; exports.later = () => require('./third.cjs').name;`);
  expect((open().load('first.cjs') as First).second.sum(1, 2)).toBe(-1);
});

it.each([
  ['cut', (whole: Buffer) => whole.subarray(0, whole.length - 1)],
  ['empty', () => Buffer.alloc(0)],
  ['changed at its beginning', (whole: Buffer) => whole.map((byte, at) => (at === 50 ? byte ^ 1 : byte))],
  ['changed at its end', (whole: Buffer) => whole.map((byte, at) => (at === whole.length - 3 ? byte ^ 1 : byte))],
])('code that is %s is not used, and replaced', (_, spoil) => {
  const program = open();
  use(program);
  program.keepCompiled();
  for (const file of compiled()) writeFileSync(join(folder, file), spoil(readFileSync(join(folder, file))));
  const next = open();
  const told = vi.fn();
  next.onCompiled = told;
  use(next);
  expect(told).toHaveBeenCalledTimes(2);
  next.keepCompiled();
  const last = open();
  last.onCompiled = told;
  use(last);
  expect(told).toHaveBeenCalledTimes(2);
});

it('nothing is kept, nor used, where NODE_DISABLE_COMPILE_CACHE is set', () => {
  const program = open();
  use(program);
  program.keepCompiled();
  for (const file of compiled()) writeFileSync(join(folder, file), '');
  vi.stubEnv('NODE_DISABLE_COMPILE_CACHE', '1');
  const next = open();
  use(next);
  next.keepCompiled();
  expect(compiled().map((file) => readFileSync(join(folder, file), 'utf8'))).toEqual(['', '']);
});

it('nothing is kept where Node may not look at itself', () => {
  const { execPath } = process;
  process.execPath = '/nowhere/node';
  try {
    const program = open();
    use(program);
    program.keepCompiled();
  } finally {
    process.execPath = execPath;
  }
  expect(compiled()).toEqual([]);
});

it('what cannot be replaced leaves nothing else behind', () => {
  const program = open();
  use(program);
  program.keepCompiled();
  const left = compiled();
  for (const file of left) {
    rmSync(join(folder, file));
    mkdirSync(join(folder, file));
  }
  const next = open();
  use(next);
  next.keepCompiled();
  expect(compiled()).toEqual(left);
});
