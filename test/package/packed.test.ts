import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { costOf, pack, runtimePackages } from '../../tools/package-budget.js';

type Packed = ReturnType<typeof pack>;

const root = join(import.meta.dirname, '..', '..');
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  bin: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
};
// Its real name: the compiler looks for types by it.
const project = realpathSync(mkdtempSync(join(tmpdir(), 'oauth-profile-stranger-')));
const installed = join(project, 'node_modules', 'oauth-profile');
let packed: Packed;
let paths: string[];

/** A stranger's project: the tarball in node_modules, beside what it depends on; the optional keychain could not be installed. */
beforeAll(() => {
  packed = pack(root, ['--pack-destination', project]);
  paths = packed.files.map(({ path }) => path);
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(project, packed.filename), '--strip-components=1', '-C', installed]);
  for (const name of [...Object.keys(own.dependencies), '@types/node', '@playwright/test']) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  mkdirSync(join(project, 'node_modules', '.bin'));
  symlinkSync(
    join('..', 'oauth-profile', own.bin['oauth-profile'] ?? ''),
    join(project, 'node_modules', '.bin', 'oauth-profile'),
  );
});
afterAll(() => rmSync(project, { recursive: true }));

/** Runs a program of the stranger's, whose home is empty. */
function run(command: string, args: string[], env: Record<string, string> = {}) {
  return promisify(execFile)(command, args, {
    cwd: project,
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: project, ...env },
  });
}

describe('the tarball', () => {
  it('holds the program, the schemas and the licences, and nothing of the workshop', () => {
    expect(paths).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'CHANGELOG.md',
        'LICENSE',
        'SECURITY.md',
        'THIRD-PARTY.md',
        'script.schema.json',
        'docs/report.schema.json',
        'bin/package.json',
        'bin/oauth-profile.js',
        'dist/cli/main.cjs',
        'dist/node/index.cjs',
      ]),
    );
    const known =
      /^(?:bin|dist|dist\/(?:cli|esm|node))\/[\w.-]+\.(?:js|cjs|d\.ts)$|^(?:bin\/package|package|script\.schema|docs\/report\.schema)\.json$|^[A-Z-]+(?:\.md)?$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
    expect(packed.files.filter(({ mode }) => mode & 0o111).map(({ path }) => path)).toEqual(Object.values(own.bin));
  });

  it('holds every file that package.json points to', () => {
    const named = Object.values(own.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    );
    expect([...named, ...Object.values(own.bin)].filter((target) => !paths.includes(target.replace('./', '')))).toEqual(
      [],
    );
  });

  it('holds no key, no token and no path of the machine that built it', () => {
    const secret =
      /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[\w+/]{20}|\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|glpat-[\w-]{20}|npm_[A-Za-z0-9]{36}|xox[bp]-\d{8})/;
    for (const path of paths) {
      const text = readFileSync(join(installed, path), 'utf8');
      expect(secret.exec(text)?.[0], path).toBeUndefined();
      expect(text.includes(root), `${path} names ${root}`).toBe(false);
    }
  });

  it('links from its pages only to files that the repository has', () => {
    for (const page of paths.filter((path) => path.endsWith('.md'))) {
      const links = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map(
        ([, link]) => link ?? '',
      );
      const files = links.filter((link) => !/^[a-z]+:/.test(link));
      expect(files.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
    }
  });
});

describe('installing', () => {
  it('runs no script, neither ours nor of anything that comes along, on any platform', () => {
    expect(Object.keys(own.scripts).filter((name) => /^(?:pre|post)?install$/.test(name))).toEqual([]);
    const packages = runtimePackages(root);
    expect(packages.length).toBeGreaterThan(10);
    expect(packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([folder]) => folder)).toEqual([]);
  });

  it('brings only licences that ask for no more than their mention', () => {
    const free = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'];
    expect(runtimePackages(root).filter(([, { license }]) => !free.includes(license ?? ''))).toEqual([]);
  });

  it('costs no more than the budget', () => {
    const budget = JSON.parse(readFileSync(join(root, 'tools', 'package-budget.json'), 'utf8')) as Record<
      string,
      { limit: number }
    >;
    const cost: Record<string, number> = costOf(root, packed);
    expect(Object.keys(budget)).toEqual(Object.keys(cost));
    const over = Object.keys(cost).filter((name) => !((cost[name] ?? Number.NaN) <= (budget[name]?.limit ?? 0)));
    expect(over.map((name) => `${name} is ${cost[name]}, more than ${budget[name]?.limit}`)).toEqual([]);
  });
});

describe('an installed package', () => {
  it('gives tokens, emulated providers, scripts, fixtures and schemas to a program', async () => {
    writeFileSync(
      join(project, 'use.mjs'),
      `import { readFileSync } from 'node:fs';
      import { createTokenSource, oauthProfile } from 'oauth-profile';
      import { startEmulator } from 'oauth-profile/emulator';
      import { oauthFixtures } from 'oauth-profile/playwright';
      import { runScript } from 'oauth-profile/script';
      const schema = (name) => JSON.parse(readFileSync(new URL(import.meta.resolve('oauth-profile/' + name)), 'utf8')).$schema;
      const lab = { type: 'gitlab', username: 'ada', password: 'a made-up password' };
      const emulator = await startEmulator({ profiles: { lab } });
      const options = { data: { lab }, emulator };
      const { token_type } = await oauthProfile('lab', options);
      const source = createTokenSource('lab', options);
      const { state } = await runScript({ data: { lab }, steps: [{ 'ws.oauthProfile': ['token', 'lab'] }] }, { emulator });
      const got = typeof (await source.get()).access_token;
      await emulator.close();
      console.log(JSON.stringify([token_type, got, state, Object.keys(oauthFixtures), schema('script.schema.json'), schema('report.schema.json')]));`,
    );
    const { stdout } = await run(process.execPath, ['use.mjs']);
    const draft = 'https://json-schema.org/draft/2020-12/schema';
    expect(JSON.parse(stdout)).toEqual(['Bearer', 'string', 'passed', ['oauthOptions', 'oauth'], draft, draft]);
  });

  it('gives a token to a shell', async () => {
    const settings = ['type=twitter', 'client_id=me', 'client_secret=${env:SECRET}'].map((field) => `--set=x.${field}`);
    const args = ['token', 'x', '--emulate', ...settings];
    const { stdout } = await run(join('node_modules', '.bin', 'oauth-profile'), args, { SECRET: 'a made-up secret' });
    expect(stdout).toMatch(/^[!-~]{20,}\n$/);
  });

  it('leaves compiled code beside itself once it has brought a token, but not for being imported, nor where Node is told to keep none', async () => {
    const left = () => readdirSync(join(installed, 'dist', 'node')).filter((file) => file.includes('.compiled'));
    for (const file of left()) rmSync(join(installed, 'dist', 'node', file));
    const use = (uptime = 0) => `
      import { oauthProfile } from 'oauth-profile';
      import { startEmulator } from 'oauth-profile/emulator';
      process.uptime = () => ${uptime};
      const lab = { type: 'gitlab', username: 'ada', password: 'a made-up password' };
      const emulator = await startEmulator({ profiles: { lab } });
      const { access_token } = await oauthProfile('lab', { data: { lab }, emulator });
      await emulator.close();
      console.log(access_token);`;
    const evaluate = (source: string, env = {}) =>
      run(process.execPath, ['--input-type=module', '--eval', source], { NODE_DISABLE_COMPILE_CACHE: '', ...env });
    await evaluate(`import 'oauth-profile'; import 'oauth-profile/script';`);
    await evaluate(use(), { NODE_DISABLE_COMPILE_CACHE: '1' });
    await evaluate(use(61));
    expect(left()).toEqual([]);
    const { stdout } = await evaluate(use());
    // Node before 20.19 knows nothing of the condition `module-sync`, and gets the ES modules.
    if (!process.features.require_module) return;
    const names = left().map((file) => file.split('.')[0]);
    expect(names).toEqual(expect.arrayContaining(['index', 'asking', 'emulator']));
    for (const file of left()) {
      const bytes = readFileSync(join(installed, 'dist', 'node', file));
      expect(bytes.includes(stdout.trim()) || bytes.includes('a made-up password'), file).toBe(false);
    }
    expect((await evaluate(use())).stderr).toBe('');
  });

  it('is one, from whichever entry point, imported or required', async () => {
    const source = `import * as library from 'oauth-profile'; import { createRequire } from 'node:module'; import { OAuthProfileError } from 'oauth-profile/script';
      const required = createRequire(import.meta.url)('oauth-profile');
      console.log(OAuthProfileError === library.OAuthProfileError, required.oauthProfile === library.oauthProfile);`;
    if (!process.features.require_module) return;
    const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '--eval', source]);
    expect(stdout).toBe('true true\n');
  });

  it.each(['index', 'emulator', 'script', 'playwright'])('gives Node the same names as bundlers: %s', async (entry) => {
    const names = async (file: string) => Object.keys(await import(join(installed, 'dist', file))).sort();
    expect(await names(`${entry}.js`)).toEqual(await names(join('esm', `${entry}.js`)));
  });

  it('is recognised by its errors where a process holds it twice', async () => {
    const load = (file: string): Promise<typeof import('../../src/index.ts')> => import(join(installed, 'dist', file));
    const [one, other] = [await load('index.js'), await load(join('esm', 'index.js'))];
    expect(one.OAuthProfileError).not.toBe(other.OAuthProfileError);
    const data = { x: { type: 'custom', url: 'http://127.0.0.1:1', 'options.timeout': '5s' } };
    const issues = await Promise.all(
      [one, other].flatMap(({ oauthProfile }) => [
        oauthProfile('x', { data: { x: { type: 'custom' } } }).catch((error: unknown) => error),
        oauthProfile('x', { data, store: 'memory' }).catch((error: unknown) => error),
      ]),
    );
    for (const { OAuthProfileError, InvalidProfileError, TransportError } of [one, other]) {
      expect(issues.map((fault) => fault instanceof OAuthProfileError)).toEqual([true, true, true, true]);
      expect(issues.map((fault) => fault instanceof InvalidProfileError)).toEqual([true, false, true, false]);
      expect(issues.map((fault) => fault instanceof TransportError)).toEqual([false, true, false, true]);
    }
  });

  it('prints no more than a screen where nobody catches its error', async () => {
    for (const flag of ['--no-warnings', '--no-experimental-require-module']) {
      if (flag.startsWith('--no-exp') && !process.allowedNodeEnvironmentFlags.has('--experimental-require-module'))
        continue;
      const source = `import { oauthProfile } from 'oauth-profile'; await oauthProfile('x', { data: {} });`;
      const { stderr } = await run(process.execPath, [flag, '--input-type=module', '--eval', source]).catch(
        (error: { stderr: string }) => error,
      );
      expect(stderr).toContain('OAuthProfileError');
      expect(stderr.length).toBeLessThan(3000);
    }
  });

  it('tells in a stack trace where it was', async () => {
    const source = `import { oauthProfile } from 'oauth-profile'; oauthProfile('x', { data: {} }).catch(({ stack }) => console.log(stack));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source]);
    expect(stdout).toMatch(/at (?:async )?(?:Session\.)?readProfile \(/);
  });

  it('can be bundled, without anything of what Node loads', async () => {
    writeFileSync(
      join(project, 'app.mjs'),
      `import { oauthProfile } from 'oauth-profile'; import { startEmulator } from 'oauth-profile/emulator';
      const lab = { type: 'gitlab', username: 'ada', password: 'a made-up password' };
      const emulator = await startEmulator({ profiles: { lab } });
      console.log((await oauthProfile('lab', { data: { lab }, emulator })).token_type);
      await emulator.close();`,
    );
    const outDir = join(project, 'bundle');
    await build({
      root: project,
      configFile: false,
      logLevel: 'error',
      ssr: { noExternal: true },
      // It is optional, and a bundler that does not find it wants to be told.
      build: { ssr: 'app.mjs', outDir, rollupOptions: { external: ['@napi-rs/keyring'] } },
    });
    const files = readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((file) => /\.m?js$/.test(file));
    for (const file of files)
      expect(readFileSync(join(outDir, file), 'utf8')).not.toMatch(/getBuiltinModule|cachedData/);
    const main = files.find((file) => file.startsWith('app')) as string;
    expect((await run(process.execPath, [join(outDir, main)])).stdout).toBe('Bearer\n');
  });

  it('can be used where Node may read nothing but the project', async () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const flag = major > 22 || (major === 22 && minor >= 13) ? '--permission' : '--experimental-permission';
    const source = `import { oauthProfile } from 'oauth-profile'; oauthProfile('x', { data: {} }).catch(({ code }) => console.log(code));`;
    writeFileSync(join(project, 'ask.mjs'), source);
    const args = ['--no-warnings', flag, `--allow-fs-read=${project}/*`, join(project, 'ask.mjs')];
    expect((await run(process.execPath, args)).stdout).toBe('profile_not_found\n');
  });

  it('can be required where Node can do that, and is refused in clear words where it cannot', async () => {
    const source = `try { console.log(typeof require('oauth-profile').oauthProfile) } catch (error) { console.log(error.code) }`;
    const { stdout } = await run(process.execPath, ['--no-warnings', '-e', source]);
    expect(stdout.trim()).toBe(process.features.require_module ? 'function' : 'ERR_REQUIRE_ESM');
  });

  it.each([
    ['as Node resolves', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
    ['as bundlers resolve', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ])('has types that hold %s, strictly, in its declarations too, and that find a misuse', (_, resolution) => {
    writeFileSync(
      join(project, 'right.mts'),
      `import { createTokenSource, errorCodes, InvalidProfileError, OAuthProfileError, oauthProfile } from 'oauth-profile';
      import { test as base } from '@playwright/test';
      import { type Emulator, startEmulator } from 'oauth-profile/emulator';
      import { oauthFixtures, type OAuthFixtures } from 'oauth-profile/playwright';
      import { defineCommand, type RunResult, runScript } from 'oauth-profile/script';
      const emulator: Emulator = await startEmulator({ profiles: { lab: { type: 'gitlab' } } });
      const token = await oauthProfile('lab', { data: { lab: { type: 'gitlab' } }, emulator, signal: AbortSignal.timeout(1) });
      export const text: string = token.access_token;
      export const reply: Promise<Response> = createTokenSource('lab', { origins: ['https://gitlab.com'] }).fetch('https://gitlab.com/');
      export const result: RunResult = await runScript('me.yaml');
      const test = base.extend<object, OAuthFixtures>(oauthFixtures);
      test.use({ oauthOptions: { store: 'memory' } });
      test('me', async ({ oauth }) => void ((await oauth('lab').get()).access_token satisfies string));
      export const define = defineCommand;
      export function statusOf(error: unknown): number {
        if (error instanceof InvalidProfileError) return error.issues.length;
        return error instanceof OAuthProfileError ? errorCodes[error.code] : 1;
      }`,
    );
    writeFileSync(join(project, 'wrong.mts'), `import { oauthProfile } from 'oauth-profile';\noauthProfile(7);\n`);
    const { issues, declarations } = checkTypes(['right.mts', 'wrong.mts'], resolution);
    expect(issues).toEqual([expect.stringMatching(/^wrong\.mts TS2345 /)]);
    expect(declarations).toEqual(paths.filter((path) => path.endsWith('.d.ts')).sort());
  });
});

const read = new Map<string, ts.SourceFile | undefined>();

/** What the compiler finds in the stranger's files and in our declarations; those of the language and of Node are not ours to check. */
function checkTypes(files: string[], resolution: ts.CompilerOptions): { issues: string[]; declarations: string[] } {
  const lib = ['lib.es2023.d.ts'];
  const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2023, lib, types: ['node'], ...resolution };
  const host = ts.createCompilerHost(options);
  host.getCurrentDirectory = () => project;
  const readSource = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => {
    if (!/\/(?:typescript|@types)\//.test(name)) return readSource(name, ...rest);
    if (!read.has(name)) read.set(name, readSource(name, ...rest));
    return read.get(name);
  };
  const names = files.map((file) => join(project, file));
  const program = ts.createProgram(names, options, host);
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => names.includes(fileName) || fileName.startsWith(`${installed}/`));
  const found = ours.flatMap((source) => [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ]);
  return {
    issues: [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...found].map(
      ({ file, code, messageText }) =>
        `${file && relative(project, file.fileName)} TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    ),
    declarations: ours
      .map(({ fileName }) => relative(installed, fileName))
      .filter((name) => !name.startsWith('..'))
      .sort(),
  };
}
