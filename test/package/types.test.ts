import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InstalledPackage } from './installed-package.ts';

let installed: InstalledPackage;
beforeAll(() => {
  installed = new InstalledPackage();
}, 120_000);
afterAll(() => installed.remove());

it.each([
  ['Node', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
  ['bundlers', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
])(
  'the declarations compile in strict mode with the module resolution of %s, and reject wrong calls',
  (_, resolution) => {
    writeFileSync(
      join(installed.project, 'right.mts'),
      `import { createTokenSource, errorCodes, InvalidProfileError, OAuthProfileError, oauthProfile, type Profile } from 'oauth-profile';
    import { test as base } from '@playwright/test';
    import { formatGitResponse, parseGitRequest, type ToolToken } from 'oauth-profile/credential';
    import { type Emulator, startEmulator } from 'oauth-profile/emulator';
    import { oauthFixtures, type OAuthFixtures } from 'oauth-profile/playwright';
    import { createProxy, type ProxiedRequest, type RunningProxy } from 'oauth-profile/proxy';
    import { defineCommand, htmlReport, type Report, type RunResult, runScript, runScripts } from 'oauth-profile/script';
    const emulator: Emulator = await startEmulator({ profiles: { lab: { type: 'gitlab' } } });
    const token = await oauthProfile('lab', { data: { lab: { type: 'gitlab' } }, emulator, signal: AbortSignal.timeout(1) });
    export const accessToken: string = token.access_token;
    export const response: Promise<Response> = createTokenSource('lab', { origins: ['https://gitlab.com'] }).fetch('https://gitlab.com/');
    export const result: RunResult = await runScript('me.yaml');
    export const report: Report = await runScripts(['smoke/'], { reports: [{ kind: 'junit', file: 'out.xml', cases: 'steps' }] });
    export const page: string = htmlReport(report);
    export const profile: Profile = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'a' };
    const onRequest = ({ status }: ProxiedRequest): void => void (status satisfies number | undefined);
    export const proxy: RunningProxy = await createProxy(['lab'], { mode: 'forward', only: true, onRequest });
    const test = base.extend<object, OAuthFixtures>(oauthFixtures);
    test.use({ oauthOptions: { store: 'memory' } });
    test('me', async ({ oauth }) => void ((await oauth('lab').get()).access_token satisfies string));
    export const define = defineCommand;
    export const forGit = (token: ToolToken): string => formatGitResponse(parseGitRequest(''), token, 'oauth2');
    export function exitStatus(error: unknown): number {
      if (error instanceof InvalidProfileError) return error.issues.length;
      return error instanceof OAuthProfileError ? errorCodes[error.code] : 1;
    }`,
    );
    writeFileSync(
      join(installed.project, 'wrong.mts'),
      `import { oauthProfile, type Profile } from 'oauth-profile';
oauthProfile(7);
export const profile: Profile = { type: 'microsoft', client_id: 'a' };
`,
    );
    const { diagnostics, declarations } = compile(['right.mts', 'wrong.mts'], resolution);
    expect(diagnostics).toEqual([
      expect.stringMatching(/^wrong\.mts TS2345 /),
      expect.stringMatching(/^wrong\.mts TS2322 .*tenant_id/),
    ]);
    expect(declarations).toEqual(installed.paths.filter((path) => path.endsWith('.d.ts')).sort());
  },
);

/** Compiles files of the project. Only these files and our declarations are checked, not those of Node. */
function compile(files: readonly string[], resolution: ts.CompilerOptions) {
  const { project, directory } = installed;
  const lib = ['lib.es2023.d.ts'];
  const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2023, lib, types: ['node'], ...resolution };
  const host = ts.createCompilerHost(options);
  host.getCurrentDirectory = () => project;
  const names = files.map((file) => join(project, file));
  const program = ts.createProgram(names, options, host);
  const checked = program
    .getSourceFiles()
    .filter(({ fileName }) => names.includes(fileName) || fileName.startsWith(`${directory}/`));
  const found = checked.flatMap((source) => [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ]);
  const diagnostics = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...found].map(
    ({ file, code, messageText }) =>
      `${file && relative(project, file.fileName)} TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
  );
  const declarations = checked
    .map(({ fileName }) => relative(directory, fileName))
    .filter((name) => !name.startsWith('..'))
    .sort();
  return { diagnostics, declarations };
}
