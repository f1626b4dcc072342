import { readFile } from 'node:fs/promises';
import type { EmulatorResponse } from './messages.ts';

const files: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['page.html', 'text/html; charset=utf-8'],
  '/console.css': ['console.css', 'text/css; charset=utf-8'],
  '/console.js': ['console.js', 'text/javascript; charset=utf-8'],
};

/** Only the files of the console and the control API can be loaded, and no other page can frame it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A file of the console. */
export async function consoleFile(path: string): Promise<EmulatorResponse | undefined> {
  const [name, type] = files[path] ?? [];
  if (name === undefined || type === undefined) return undefined;
  return {
    status: 200,
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
    body: await readFile(new URL(`./console/${name}`, import.meta.url)),
  };
}
