import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InstalledPackage, manifest, root } from './installed-package.ts';

/** Size of the tarball in bytes, its files, and the packages that come with ours on every platform. Raise them only on purpose. */
const MAX_PACKED_BYTES = 520_000;
const MAX_FILES = 110;
const MAX_PACKAGES = 20;

interface Locked {
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> };
const runtimePackages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);

let installed: InstalledPackage;
beforeAll(() => {
  installed = new InstalledPackage();
}, 120_000);
afterAll(() => installed.remove());

describe('the tarball', () => {
  it('contains the program, the schemas and the licence, and nothing else', () => {
    const { paths, packed } = installed;
    const required = [
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'SECURITY.md',
      'profiles.schema.json',
      'script.schema.json',
      'dist/cli.js',
    ];
    expect(paths).toEqual(expect.arrayContaining(required));
    const known =
      /^dist\/[\w.-]+\.(?:js|js\.map|d\.ts)$|^dist\/console\/[\w.-]+$|^bin\/oauth-profile\.js$|^(?:package|(?:profiles|script)\.schema|docs\/report\.schema)\.json$|^[A-Z]+(?:\.md)?$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
    const executables = packed.files.filter(({ mode }) => mode & 0o111).map(({ path }) => path);
    expect(executables).toEqual(Object.values(manifest.bin));
  });

  it('has no script that npm runs or reports when the package is installed', () => {
    const reported = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];
    expect(Object.keys(manifest.scripts).filter((script) => reported.includes(script))).toEqual([]);
  });

  it('contains a source map for each file of its own', () => {
    const bundled = ['dist/yaml.js', 'dist/ioredis.js', 'dist/rolldown-runtime.js'];
    const own = installed.paths.filter((path) => /^dist\/[\w-]+\.js$/.test(path) && !bundled.includes(path));
    const code = own.filter((path) =>
      readFileSync(join(installed.directory, path), 'utf8').includes('sourceMappingURL'),
    );
    expect(code.length).toBeGreaterThan(30);
    expect(code.filter((path) => !installed.paths.includes(`${path}.map`))).toEqual([]);
    expect(own.filter((path) => !code.includes(path) && installed.paths.includes(`${path}.map`))).toEqual([]);
  });

  it('does not load the command line in a program that uses the library', () => {
    const imports = (path: string): string[] =>
      [...readFileSync(join(installed.directory, 'dist', path), 'utf8').matchAll(/["']\.\/([\w-]+\.js)["']/g)].map(
        ([, name = '']) => name,
      );
    const entries = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [] : (target['default'] ?? []),
    );
    const loaded = new Set(entries.map((path) => path.replace('./dist/', '')));
    // A set also visits the elements that are added meanwhile.
    for (const path of loaded) for (const name of imports(path)) loaded.add(name);
    expect(loaded).toContain('core.js');
    expect(loaded).not.toContain('command-line.js');
  });

  it('contains every file that package.json refers to', () => {
    const targets = [...Object.values(manifest.exports), ...Object.values(manifest.bin)].flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    );
    expect(targets.filter((target) => !installed.paths.includes(target.replace('./', '')))).toEqual([]);
  });

  it('contains no key, no token and no path of the build machine', () => {
    const secret =
      /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[\w+/]{20}|\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|glpat-[\w-]{20}|npm_[A-Za-z0-9]{36}|xox[bp]-\d{8})/;
    for (const path of installed.paths) {
      const content = readFileSync(join(installed.directory, path), 'utf8');
      expect(secret.exec(content)?.[0], path).toBeUndefined();
      expect(content.includes(root), `${path} contains ${root}`).toBe(false);
    }
  });

  it('imports only its declared dependencies', () => {
    const declared = new Set([...Object.keys(manifest.dependencies), '@napi-rs/keyring', '@playwright/test']);
    for (const path of installed.paths.filter((one) => one.endsWith('.js'))) {
      const content = readFileSync(join(installed.directory, path), 'utf8');
      const imports = [...content.matchAll(/(?:^import .*?from |^import |\bimport\()["']([^"'.][^"']*)["']/gm)];
      const names = imports.map(([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
      const external = names.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
      expect(external.filter((name) => !declared.has(name))).toEqual([]);
    }
  });

  it('links only to files of the repository', () => {
    for (const page of installed.paths.filter((path) => path.endsWith('.md'))) {
      const links = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map(
        ([, link = '']) => link,
      );
      const files = links.filter((link) => !/^[a-z]+:/.test(link));
      expect(files.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
    }
  });

  it('is small, with few dependencies', () => {
    expect(installed.packed.size).toBeLessThan(MAX_PACKED_BYTES);
    expect(installed.paths.length).toBeLessThanOrEqual(MAX_FILES);
    // One native package of each optional dependency is installed, that of the platform.
    expect(runtimePackages.filter(([, { os }]) => os === undefined).length).toBeLessThanOrEqual(MAX_PACKAGES);
  });

  it('runs no install script, its own or of a dependency', () => {
    expect(Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?install$/.test(name))).toEqual([]);
    expect(runtimePackages.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  });

  it('has only dependencies with permissive licences', () => {
    const permissive = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'];
    expect(runtimePackages.filter(([, { license }]) => !permissive.includes(license ?? ''))).toEqual([]);
  });
});

describe('the installed package', () => {
  it('provides tokens, the emulator, scripts, fixtures and schemas to a program', async () => {
    const { stdout } = await installed.evaluate(`
      import { readFileSync } from 'node:fs';
      import { createTokenSource, oauthProfile } from 'oauth-profile';
      import { startEmulator } from 'oauth-profile/emulator';
      import { oauthFixtures } from 'oauth-profile/playwright';
      import { runScript } from 'oauth-profile/script';
      const schema = (name) => JSON.parse(readFileSync(new URL(import.meta.resolve('oauth-profile/' + name)), 'utf8')).$schema;
      const lab = { type: 'gitlab', username: 'ada', password: 'a made-up password' };
      const emulator = await startEmulator({ profiles: { lab } });
      const options = { data: { lab }, emulator };
      const { token_type } = await oauthProfile('lab', options);
      const { access_token } = await createTokenSource('lab', options).get();
      const { state } = await runScript({ data: { lab }, steps: [{ 'ws.oauthProfile': ['token', 'lab'] }] }, { emulator });
      await emulator.close();
      console.log(JSON.stringify([token_type, typeof access_token, state, Object.keys(oauthFixtures), schema('profiles.schema.json'), schema('script.schema.json'), schema('report.schema.json')]));`);
    const draft = 'https://json-schema.org/draft/2020-12/schema';
    expect(JSON.parse(stdout)).toEqual(['Bearer', 'string', 'passed', ['oauthOptions', 'oauth'], draft, draft, draft]);
  });

  it('prints a token in a shell', async () => {
    const fields = ['type=twitter', 'client_id=me', 'client_secret=${env:SECRET}'].map((field) => `--set=x.${field}`);
    const program = join('node_modules', '.bin', 'oauth-profile');
    const { stdout } = await installed.run(program, ['token', 'x', '--emulate', ...fields], {
      SECRET: 'a made-up secret',
    });
    expect(stdout).toMatch(/^[!-~]{20,}\n$/);
  });

  it('writes nothing into its own directory, whatever the umask, and if it is killed', {
    timeout: 120_000,
  }, async () => {
    const program = join('node_modules', '.bin', 'oauth-profile');
    const set = ['type=twitter', 'client_id=me', 'client_secret=made-up'].map((field) => `--set=x.${field}`).join(' ');
    const temporary = join(installed.project, 'tmp');
    mkdirSync(temporary);
    const before = installed.contents();
    const shell = (line: string) => installed.run('/bin/bash', ['-c', line], { TMPDIR: temporary });
    for (const umask of ['000', '022']) {
      await shell(`umask ${umask}; ${program} --version; ${program} token x --emulate ${set}; ${program} list`);
      for (const seconds of ['0.02', '0.08', '0.2']) {
        await shell(`umask ${umask}; timeout -s KILL ${seconds} ${program} token x --emulate ${set}; true`);
      }
      const library = `import { oauthProfile } from 'oauth-profile'; import 'oauth-profile/script'; import 'oauth-profile/emulator';`;
      await shell(`umask ${umask}; '${process.execPath}' --no-warnings --input-type=module --eval "${library}"`);
    }
    expect(installed.contents()).toEqual(before);
    // No compiled code in a directory that other users can write to.
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('can be imported and required in the same process', async () => {
    if (!process.features.require_module) return;
    const { stdout } = await installed.evaluate(`
      import * as library from 'oauth-profile';
      import { OAuthProfileError } from 'oauth-profile/script';
      import { createRequire } from 'node:module';
      const required = createRequire(import.meta.url)('oauth-profile');
      console.log(OAuthProfileError === library.OAuthProfileError, required.oauthProfile === library.oauthProfile);`);
    expect(stdout).toBe('true true\n');
  });

  it('shows its own functions in stack traces', async () => {
    const { stdout } = await installed.evaluate(
      `import { oauthProfile } from 'oauth-profile'; oauthProfile('x', { data: {} }).catch(({ stack }) => console.log(stack));`,
    );
    expect(stdout).toMatch(/\n {4}at (?:async )?[\w.]+ \(/);
    expect(stdout.length).toBeLessThan(3_000);
  });

  it('shows the lines of its sources in stack traces with --enable-source-maps', async () => {
    const program = `import { oauthProfile } from 'oauth-profile'; oauthProfile(7).catch(({ stack }) => console.log(stack));`;
    writeFileSync(join(installed.project, 'trace.mjs'), program);
    const { stdout } = await installed.run(process.execPath, ['--enable-source-maps', 'trace.mjs']);
    const [, line] = /src\/oauth-profile\.ts:(\d+):/.exec(stdout) ?? [];
    const source = readFileSync(join(root, 'src', 'oauth-profile.ts'), 'utf8').split('\n');
    expect(source[Number(line) - 1]).toContain("typeof profile !== 'string'");
  });

  it('can be bundled', { timeout: 120_000 }, async () => {
    writeFileSync(
      join(installed.project, 'app.mjs'),
      `import { oauthProfile } from 'oauth-profile'; import { startEmulator } from 'oauth-profile/emulator';
      const lab = { type: 'gitlab', username: 'ada', password: 'a made-up password' };
      const emulator = await startEmulator({ profiles: { lab } });
      console.log((await oauthProfile('lab', { data: { lab }, emulator })).token_type);
      await emulator.close();`,
    );
    const outDir = join(installed.project, 'bundle');
    await build({
      root: installed.project,
      configFile: false,
      logLevel: 'error',
      ssr: { noExternal: true },
      build: { ssr: 'app.mjs', outDir },
    });
    const main = readdirSync(outDir).find((file) => file.startsWith('app')) ?? '';
    expect((await installed.run(process.execPath, [join(outDir, main)])).stdout).toBe('Bearer\n');
  });

  it('can be bundled by esbuild without settings, and runs without its dependencies', async () => {
    const file = join(installed.project, 'bundled.mjs');
    const data = `{ x: { type: 'twitter', client_id: 'a', client_secret: 'b' } }`;
    writeFileSync(
      file,
      `import { createTokenSource } from 'oauth-profile';
import { startEmulator } from 'oauth-profile/emulator';
const data = ${data};
const emulator = await startEmulator({ profiles: data });
console.log((await createTokenSource('x', { data, emulator }).get()).token_type);
await emulator.close();
`,
    );
    const outfile = join(installed.directory, '..', 'bundle.mjs');
    const esbuild = join(root, 'node_modules', '.bin', 'esbuild');
    await installed.run(esbuild, [
      file,
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--log-level=error',
      `--outfile=${outfile}`,
    ]);
    expect((await installed.run(process.execPath, [outfile])).stdout).toMatch(/^bearer\n$/i);
  });

  it('works if Node may only read the project', async () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const flag = major > 22 || (major === 22 && minor >= 13) ? '--permission' : '--experimental-permission';
    const file = join(installed.project, 'permission.mjs');
    writeFileSync(
      file,
      `import { oauthProfile } from 'oauth-profile'; oauthProfile('x', { data: {} }).catch(({ code }) => console.log(code));`,
    );
    const args = ['--no-warnings', flag, `--allow-fs-read=${installed.project}/*`, file];
    expect((await installed.run(process.execPath, args)).stdout).toBe('profile_not_found\n');
  });
});
