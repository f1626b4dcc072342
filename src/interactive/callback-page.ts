import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';

/** What a person's browser shows after a sign-in, or in place of one. */
export type PageKind = 'signed-in' | 'refused' | 'failed' | 'stranger';

const pages: Readonly<Record<PageKind, { status: number; sign: string; title: string; text: string }>> = {
  'signed-in': {
    status: 200,
    sign: '✓',
    title: 'You are signed in',
    text: 'Go back to the terminal. You can close this window.',
  },
  refused: {
    status: 200,
    sign: '✕',
    title: 'Nobody was signed in',
    text: 'The provider refused, or you said no. The terminal tells more. You can close this window.',
  },
  failed: {
    status: 200,
    sign: '✕',
    title: 'The sign-in did not work',
    text: 'The terminal tells why. You can close this window.',
  },
  stranger: {
    status: 400,
    sign: '?',
    title: 'This is not the sign-in that was begun',
    text: 'The address belongs to another sign-in, or is incomplete. Nothing was done with it. Use the window that the terminal opened, or begin again there.',
  },
};

const css = `
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fff; --line: #c9d3dd; --wash: #f1f5f9; --good: #17703a; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --paper: #1a222b; --line: #3a4754; --wash: #10161c; --good: #6fd394; --bad: #ff9c93 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--wash) }
main { width: 100%; max-width: 26rem; padding: 2rem 1.5rem; text-align: center; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem }
.sign { margin: 0 auto 1rem; width: 3.5rem; height: 3.5rem; font-size: 1.75rem; line-height: 3.25rem; border: 2px solid currentColor; border-radius: 50%; color: var(--bad) }
.signed-in .sign { color: var(--good) }
h1 { margin: 0 0 .5rem; font-size: 1.35rem; line-height: 1.25 }
p { margin: 0 }
.by { margin-top: 1.5rem; font-size: .85rem; opacity: .75 }
`;

const styleHash = createHash('sha256').update(css).digest('base64');

/** Nothing may be loaded, run, framed, kept or told to others. */
const headers: OutgoingHttpHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  Connection: 'close',
};

/** A page for a person; nothing that a browser sent is on it. */
export function callbackPage(kind: PageKind): { status: number; headers: OutgoingHttpHeaders; body: string } {
  const { status, sign, title, text } = pages[kind];
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · oauth-profile</title><style>${css}</style></head>
<body><main class="${kind}">
<div class="sign" aria-hidden="true">${sign}</div>
<h1>${title}</h1>
<p>${text}</p>
<p class="by">oauth-profile</p>
</main></body></html>
`;
  return { status, headers: { ...headers, 'Content-Length': Buffer.byteLength(body) }, body };
}
