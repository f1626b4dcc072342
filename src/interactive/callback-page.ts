import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';

/** The pages that the loopback server shows: results of a login, or an unexpected redirect. */
export type PageKind = 'signed-in' | 'denied' | 'failed' | 'unexpected';

const pages: Readonly<Record<PageKind, { title: string; text: string }>> = {
  'signed-in': { title: 'You are logged in', text: 'You can close this window and return to the terminal.' },
  denied: {
    title: 'Login denied',
    text: 'You or the provider denied the request. See the terminal for details. You can close this window.',
  },
  failed: { title: 'Login failed', text: 'See the terminal for details. You can close this window.' },
  unexpected: {
    title: 'Unexpected login response',
    text: 'This URL is incomplete or belongs to another login, and was ignored. Use the window that the terminal opened, or start again.',
  },
};

const css = `
:root { color-scheme: light dark; --text: #1c2733; --card: #fff; --border: #c9d3dd; --page: #f1f5f9; --success: #17703a; --error: #b3261e }
@media (prefers-color-scheme: dark) { :root { --text: #e8edf2; --card: #1a222b; --border: #3a4754; --page: #10161c; --success: #6fd394; --error: #ff9c93 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--page) }
main { width: 100%; max-width: 26rem; padding: 2rem 1.5rem; text-align: center; background: var(--card); border: 1px solid var(--border); border-radius: .75rem }
.icon { margin: 0 auto 1rem; width: 3.5rem; height: 3.5rem; font-size: 1.75rem; line-height: 3.25rem; border: 2px solid currentColor; border-radius: 50%; color: var(--error) }
.signed-in .icon { color: var(--success) }
h1 { margin: 0 0 .5rem; font-size: 1.35rem; line-height: 1.25 }
p { margin: 0 }
.product { margin-top: 1.5rem; font-size: .85rem; opacity: .75 }
`;

/** Removes the authorization code and the state from the location bar. */
const script = "history.replaceState(null, '', location.pathname)";

const [cssHash, scriptHash] = [css, script].map((text) => createHash('sha256').update(text).digest('base64'));

/** The URL contains an authorization code: the page loads nothing, runs one script, and must not be framed, cached or sent as a referrer. */
const headers: OutgoingHttpHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${cssHash}'; script-src 'sha256-${scriptHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  Connection: 'close',
};

/** Returns a page for the user's browser. It contains nothing of the request. */
export function callbackPage(kind: PageKind): { status: number; headers: OutgoingHttpHeaders; body: string } {
  const { title, text } = pages[kind];
  const icon = { 'signed-in': '✓', denied: '✕', failed: '✕', unexpected: '?' }[kind];
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · oauth-profile</title><style>${css}</style><script>${script}</script></head>
<body><main class="${kind}">
<div class="icon" aria-hidden="true">${icon}</div>
<h1>${title}</h1>
<p>${text}</p>
<p class="product">oauth-profile</p>
</main></body></html>
`;
  return {
    status: kind === 'unexpected' ? 400 : 200,
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    body,
  };
}
