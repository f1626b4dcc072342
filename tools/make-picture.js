// `npm run picture`: runs commands in a pseudo-terminal and writes their output as docs/images/terminal.svg.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmulator } from '../dist/emulator.js';
import { emulatedNetwork } from './emulated-network.js';

const root = join(import.meta.dirname, '..');
const COLUMNS = 110;
const commands = [
  'oauth-profile check',
  'oauth-profile explain graph',
  'TOKEN=$(oauth-profile token graph) && echo "a token of ${#TOKEN} characters"',
  'oauth-profile run me.yaml',
  'oauth-profile token drive',
  'oauth-profile token lab > /dev/null && oauth-profile list',
];

/** The colours that src/cli/style.ts uses. @type {Record<string, [kind: 'weight' | 'colour', name: string]>} */
const SGR = {
  1: ['weight', 'bold'],
  2: ['weight', 'dim'],
  22: ['weight', ''],
  31: ['colour', 'red'],
  32: ['colour', 'green'],
  33: ['colour', 'yellow'],
  36: ['colour', 'cyan'],
  39: ['colour', ''],
};

const graph = {
  type: 'microsoft',
  tenant_id: 'contoso.com',
  client_id: '1b2c3d4e-0000-4000-8000-123456789abc',
  client_secret: 'an example of a secret',
  grant_type: 'client_credentials',
  scope: 'https://graph.microsoft.com/.default',
};
const drive = {
  type: 'google',
  client_id: '42.apps.googleusercontent.com',
  client_secret: 'an example of a secret of drive',
  refresh_token: 'an example of a refresh token of drive',
};
const lab = { type: 'gitlab', client_id: '4ca1a5c0', refresh_token: 'an example of a refresh token' };
const ada = { username: 'ada@contoso.com', password: 'an example of a password' };
const me = { type: 'microsoft', tenant_id: graph.tenant_id, client_id: '9f8e7d6c', ...ada };

/** Files in the working directory. The secret of `drive` is wrong on purpose, to show an error. */
const files = {
  'oauth-profiles.yaml': yaml({ graph, lab, drive: { ...drive, client_secret: 'not-the-secret' } }),
  'me.yaml': `name: Who am I
data:
${yaml({ me }).replace(/^/gm, '  ')}
steps:
  - ws.oauthProfile: [token, me]
  - ws.header: [Authorization, "Bearer \${token.access_token}"]
  - ws.get: ["https://graph.microsoft.com/v1.0/me", "", me]
  - ws.assertReturnCode: [me, 200]
  - base.assertEqual: [Ada, "\${me.body.givenName}"]
`,
};

/** @param {Record<string, Record<string, string>>} profiles */
function yaml(profiles) {
  return Object.entries(profiles)
    .map(
      ([name, fields]) =>
        `${name}:\n${Object.entries(fields)
          .map(([field, value]) => `  ${field}: ${value}\n`)
          .join('')}`,
    )
    .join('')
    .trimEnd();
}

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-picture-'));
const emulator = await startEmulator({ profiles: { graph, lab, drive, me } });
const network = await emulatedNetwork(emulator, directory);
try {
  for (const name of ['home', 'work', 'bin']) mkdirSync(join(directory, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, 'work', name), text);
  const program = join(directory, 'bin', 'oauth-profile');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin', 'oauth-profile.js')}' "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
    HOME: join(directory, 'home'),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    // Colours, but no live display.
    CI: 'true',
    OAUTH_PROFILE_KEY: Buffer.alloc(32).toString('base64'),
    ...network.env,
  };
  let shown = '';
  for (const command of commands) {
    const recorded = await promisify(execFile)('script', ['-qec', `stty cols ${COLUMNS}; ${command}`, '/dev/null'], {
      cwd: join(directory, 'work'),
      env: { ...env, SHELL: '/bin/bash' },
      encoding: 'utf8',
    }).catch((/** @type {{stdout: string}} */ failed) => failed);
    shown += `\u001b[1m\u001b[32m$\u001b[0m \u001b[1m${command}\u001b[0m\n${recorded.stdout.replaceAll('\r', '')}\n`;
  }
  shown = shown.trimEnd().replaceAll(join(directory, 'home'), '/home/ada');
  if (/eyJ|example of a/.test(shown)) throw new Error('the recording contains a secret');
  mkdirSync(join(root, 'docs', 'images'), { recursive: true });
  writeFileSync(join(root, 'docs', 'images', 'terminal.svg'), toSvg(shown));
} finally {
  await network.close();
  rmSync(directory, { recursive: true });
}

/** Draws output with ANSI colours as a terminal window. @param {string} text */
function toSvg(text) {
  const [width, height, left, top] = [8.4, 20, 20, 56];
  const lines = text.split('\n').map(parseRuns);
  for (const runs of lines) {
    const line = runs.map(({ text: words }) => words).join('');
    if (line.length > COLUMNS) throw new Error(`longer than ${COLUMNS} columns: ${line}`);
  }
  const rows = lines.map((runs, row) => {
    let column = 0;
    return runs
      .map(({ classes, text: words }) => {
        const x = (left + column * width).toFixed(1);
        column += words.length;
        if (words.trim() === '') return '';
        // textLength keeps the columns aligned with any font.
        const length = (words.length * width).toFixed(1);
        return `<text x="${x}" y="${top + row * height}" textLength="${length}" class="${classes}">${escapeXml(words)}</text>`;
      })
      .join('');
  });
  const size = { width: Math.ceil(2 * left + COLUMNS * width), height: top + lines.length * height };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img">
<title>A terminal session of oauth-profile</title>
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6deeb; white-space: pre; }
.bold { font-weight: bold; } .dim { fill-opacity: .6; }
.red { fill: #ff7b72; } .green { fill: #7ee787; } .yellow { fill: #f2cc60; } .cyan { fill: #76d9e6; }
</style>
<rect x=".5" y=".5" width="${size.width - 1}" height="${size.height - 1}" rx="9.5" fill="#161b22" stroke="#57606a"/>
<circle cx="24" cy="20" r="6" fill="#ff5f57"/><circle cx="44" cy="20" r="6" fill="#febc2e"/><circle cx="64" cy="20" r="6" fill="#28c840"/>
${rows.filter((row) => row !== '').join('\n')}
</svg>
`;
}

/** @typedef {{classes: string, text: string}} Run */

/** Splits a line into runs of one colour. @param {string} line @returns {Run[]} */
function parseRuns(line) {
  let style = { weight: '', colour: '' };
  return line.split(/(\u001b\[[\d;]*m)/).flatMap((part) => {
    const code = /^\u001b\[(\d*)m$/.exec(part)?.[1];
    if (code === undefined)
      return part === '' ? [] : [{ classes: `${style.weight} ${style.colour}`.trim(), text: part }];
    const [kind, name] = SGR[code] ?? [];
    style = kind === undefined ? { weight: '', colour: '' } : { ...style, [kind]: name };
    return [];
  });
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
