// `npm run bench`: prints the tables; `-- --write` puts them into README.md beside this file too.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from './child.js';
import { measureEmulator } from './measure-emulator.js';
import { measureRequests } from './measure-requests.js';
import { measureRotation } from './measure-rotation.js';
import { measureStarts } from './measure-starts.js';
import { measureSteps } from './measure-steps.js';
import { render } from './render.js';

const server = await startChild('token-server.js', []);
const url = String(server.firstMessage);
try {
  console.error('token requests …');
  const requests = await measureRequests(url);
  console.error('whole processes …');
  const starts = measureStarts(url);
  console.error('the emulator …');
  const servers = await measureEmulator();
  console.error('steps of scripts …');
  const steps = await measureSteps();
  console.error('rotating tokens …');
  const report = render(requests, starts, servers, steps, await measureRotation(url));
  console.log(report);
  if (process.argv.includes('--write')) write(report);
} finally {
  server.end();
}

/** @param {string} report */
function write(report) {
  const file = join(import.meta.dirname, 'README.md');
  const text = readFileSync(file, 'utf8');
  const markers = /(<!-- results -->\n)[\s\S]*(<!-- \/results -->)/;
  if (!markers.test(text)) throw new Error(`${file} has no place for the results`);
  writeFileSync(
    file,
    text.replace(markers, (_, begin, end) => `${begin}\n${report}\n${end}`),
  );
}
