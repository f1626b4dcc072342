import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

/** The root directory of the repository. */
export const root = join(import.meta.dirname, '..', '..');

/** Our package.json. */
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
};

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** An empty project in which the packed package is installed, with an empty home directory. */
export class InstalledPackage {
  // The real path: the compiler resolves types by it.
  readonly project = realpathSync(mkdtempSync(join(tmpdir(), 'oauth-profile-installed-')));
  readonly directory = join(this.project, 'node_modules', 'oauth-profile');
  readonly packed: Packed;

  constructor() {
    // `prepack` would rebuild dist/ while other tests use it.
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', this.project];
    const json = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [packed] = Object.values(JSON.parse(json) as Packed[]);
    if (packed === undefined) throw new Error('npm pack returned no package');
    this.packed = packed;
    mkdirSync(this.directory, { recursive: true });
    execFileSync('tar', ['-xzf', join(this.project, packed.filename), '--strip-components=1', '-C', this.directory]);
    // Without the optional dependencies, as on a platform that has none.
    for (const name of [...Object.keys(manifest.dependencies), '@types/node', '@playwright/test']) {
      const link = join(this.project, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), link);
    }
    mkdirSync(join(this.project, 'node_modules', '.bin'));
    const bin = join('..', 'oauth-profile', manifest.bin['oauth-profile'] ?? '');
    symlinkSync(bin, join(this.project, 'node_modules', '.bin', 'oauth-profile'));
  }

  /** The files of the package. */
  get paths(): string[] {
    return this.packed.files.map(({ path }) => path);
  }

  /** The mode and a hash of each file in the directory of the package. */
  contents(): Record<string, string> {
    const paths = readdirSync(this.directory, { recursive: true, encoding: 'utf8' });
    const summary = (path: string): string => {
      const stats = lstatSync(join(this.directory, path));
      const content = stats.isFile() ? readFileSync(join(this.directory, path)) : '';
      return `${stats.mode.toString(8)} ${createHash('sha256').update(content).digest('hex')}`;
    };
    return Object.fromEntries(paths.sort().map((path) => [path, summary(path)]));
  }

  /** Runs a program in the project. */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    return promisify(execFile)(command, [...args], {
      cwd: this.project,
      env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: this.project, ...env },
      signal: controller.signal,
    });
  }

  /** Evaluates an ES module in the project. */
  evaluate(source: string) {
    return this.run(process.execPath, ['--no-warnings', '--input-type=module', '--eval', source]);
  }

  remove(): void {
    rmSync(this.project, { recursive: true });
  }
}
