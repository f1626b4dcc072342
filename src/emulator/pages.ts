/** Escapes text for HTML elements and attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const css = `
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fff; --line: #c9d3dd; --deep: #0b5cad; --wash: #f1f5f9; --warn: #7a4b00; --warnwash: #fff3d6 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --paper: #1a222b; --line: #3a4754; --deep: #6db3ff; --wash: #10161c; --warn: #ffd88a; --warnwash: #3a2c0c } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--wash) }
main { width: 100%; max-width: 26rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; overflow: hidden }
.notice { margin: 0; padding: .6rem 1.5rem; font-size: .85rem; color: var(--warn); background: var(--warnwash); border-bottom: 1px solid var(--line) }
.inside { padding: 1.5rem }
h1 { margin: 0 0 .25rem; font-size: 1.35rem; line-height: 1.25 }
.provider { margin: 0 0 1rem; font-size: .9rem; opacity: .8 }
label { display: block; margin: .9rem 0 .25rem; font-weight: 600 }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .4rem }
input.code { font-family: ui-monospace, monospace; font-size: 1.3rem; letter-spacing: .1em; text-transform: uppercase }
button { margin: 1.25rem .5rem 0 0; padding: .6rem 1.2rem; font: inherit; font-weight: 600; border: 1px solid var(--deep); border-radius: .4rem; color: var(--paper); background: var(--deep); cursor: pointer }
button.second { color: var(--deep); background: transparent }
:focus-visible { outline: 3px solid var(--deep); outline-offset: 2px }
.error { margin: .75rem 0 0; padding: .6rem .8rem; border-left: 4px solid #c22; background: var(--wash) }
ul { padding-left: 1.2rem; margin: .5rem 0 }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
.hint { margin: 1.25rem 0 0; font-size: .85rem; opacity: .85 }
`;

/** A page with the notice that it is emulated. `body` is HTML. */
export function page(title: string, provider: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)} · oauth-profile emulator</title><style>${css}</style></head>
<body><main>
<p class="notice" role="note"><strong>Emulator.</strong> This is not ${escapeHtml(provider)}: nothing leaves this machine.</p>
<div class="inside"><h1>${escapeHtml(title)}</h1>
<p class="provider">${escapeHtml(provider)}, emulated</p>
${body}
</div></main></body></html>
`;
}

/** A form that posts to its own URL. */
export function form(hidden: Readonly<Record<string, string>>, inside: string): string {
  const fields = Object.entries(hidden).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post">${fields.join('')}${inside}</form>`;
}

/** The fields of the sign-in form. */
export function signInFields(user: string, error: string | undefined, hint: string): string {
  return `<label for="username">User name</label>
<input id="username" name="username" value="${escapeHtml(user)}" autocomplete="off" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="off" required>
${error === undefined ? '' : `<p class="error" role="alert">${escapeHtml(error)}</p>`}
<button name="step" value="sign-in">Sign in</button>
<p class="hint">${hint}</p>`;
}

/** The fields of the consent form. */
export function consentFields(clientId: string, user: string, scope: string): string {
  const scopes = scope.split(' ').filter((one) => one !== '');
  const list =
    scopes.length === 0
      ? '<p>the default scopes</p>'
      : `<ul>${scopes.map((one) => `<li><code>${escapeHtml(one)}</code></li>`).join('')}</ul>`;
  return `<p>Signed in as <strong>${escapeHtml(user)}</strong>. The application <code>${escapeHtml(clientId)}</code> requests access to:</p>
${list}
<button name="step" value="allow">Allow</button><button class="second" name="step" value="deny">Deny</button>`;
}
