// The console of the emulator. Everything that requests contain is inserted as text, never as HTML.

/** @param {string} id @returns {any} */
const element = (id) => document.getElementById(id);

/**
 * Creates an element.
 * @param {string} tag @param {Record<string, unknown>} properties @param {(Node | string)[]} children
 */
function create(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** @param {string} text */
function announce(text) {
  element('message').textContent = text;
}

/**
 * Calls the control API. Shows the reason if that fails.
 * @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>}
 */
async function call(method, path, body) {
  const response = await fetch(`/_emulator${path}`, {
    method,
    ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const result = response.status === 204 ? undefined : await response.json();
  if (response.ok) return result;
  const reason = [result.error, ...(result.issues ?? [])].join(': ');
  announce(`Failed: ${reason}`);
  throw new Error(reason);
}

/** @param {() => string} text @param {string} label */
function copyButton(text, label) {
  const button = create('button', { type: 'button', textContent: 'Copy' });
  button.setAttribute('aria-label', `Copy ${label}`);
  button.addEventListener('click', () => copy(text()));
  return button;
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce('Copied.');
  } catch {
    announce('The browser did not allow copying: select the text instead.');
  }
}

/** @param {...(Node | string | undefined)} cells */
function row(...cells) {
  return create('tr', {}, ...cells.map((cell) => create('td', {}, cell ?? '')));
}

/** @param {unknown} value */
const pretty = (value) => create('pre', { textContent: JSON.stringify(value, null, 2) });

async function showStatus() {
  const { url, issuers } = await call('GET', '/status');
  element('issuers').replaceChildren(
    ...issuers.map((/** @type {any} */ issuer) => {
      const { profile, provider, loopback, production } = issuer;
      const code = create('code', { textContent: loopback ?? '(none: opaque tokens)' });
      const cell = create('span', {}, code);
      if (loopback !== undefined)
        cell.prepend(
          copyButton(() => loopback, `the issuer of ${profile}`),
          ' ',
        );
      return row(profile, provider, cell, production ?? '');
    }),
  );
  element('proxy-lines').textContent =
    `curl -s ${url}/_emulator/ca.pem > emulator-ca.pem\nexport HTTPS_PROXY=${url} NO_PROXY=localhost,127.0.0.1\nexport NODE_EXTRA_CA_CERTS=$PWD/emulator-ca.pem SSL_CERT_FILE=$PWD/emulator-ca.pem`;
  element('cli-line').textContent = `oauth-profile token ${issuers[0]?.profile ?? 'PROFILE'} --emulate=${url}`;
}

async function showDirectory() {
  const [{ users }, { clients }] = await Promise.all([call('GET', '/users'), call('GET', '/clients')]);
  element('users').replaceChildren(
    ...users.map((/** @type {any} */ user) =>
      row(user.login, user.name, (user.groups ?? []).join(', '), (user.roles ?? []).join(', ')),
    ),
  );
  element('clients').replaceChildren(
    ...clients.map((/** @type {any} */ client) =>
      row(client.client_id, client.provider, client.host, client.auth_methods.join(', ')),
    ),
  );
}

async function showFaults() {
  const { faults, kinds } = await call('GET', '/faults');
  if (element('fault-kind').options.length === 0)
    element('fault-kind').append(...kinds.map((/** @type {string} */ kind) => create('option', { textContent: kind })));
  const lines = faults.map((/** @type {any} */ { kind, at }) =>
    create('li', { textContent: at === undefined ? `${kind}, every request` : `${kind}, request number ${at}` }),
  );
  element('fault-list').replaceChildren(...(lines.length > 0 ? lines : [create('li', { textContent: 'none' })]));
  return faults;
}

/** @param {any} request */
function showRequest(request) {
  const { method, host, path, status, fault, time, authorization, form, response, tokens } = request;
  const isGood = status !== undefined && status < 400;
  const outcome = create('span', {
    className: `status ${isGood ? 'good' : 'bad'}`,
    textContent: status === undefined ? 'no response' : String(status),
  });
  const extra = fault === undefined ? '' : ` (fault ${fault})`;
  const summary = create('summary', {}, outcome, ` ${method} ${host}${path}${extra} `);
  summary.append(create('time', { dateTime: time, textContent: time.slice(11, 19) }));
  const details = create('details', {}, summary);
  if (authorization !== undefined) details.append(create('p', { textContent: `Authorization: ${authorization} ••••` }));
  if (form.length > 0) {
    const table = create('table', {}, create('caption', { textContent: 'Form fields' }));
    table.append(create('tbody', {}, ...form.map((/** @type {[string, string]} */ [name, value]) => row(name, value))));
    details.append(table);
  }
  if (response !== undefined) details.append(create('h3', { textContent: 'Response' }), pretty(response));
  for (const [name, { header, claims }] of Object.entries(/** @type {Record<string, any>} */ (tokens ?? {}))) {
    details.append(create('h3', { textContent: `${name}, decoded` }), pretty(header), pretty(claims));
  }
  const list = element('request-list');
  list.prepend(create('li', {}, details));
  // The browser shows as many requests as the emulator remembers.
  if (list.children.length > 1000) list.lastElementChild.remove();
  element('no-requests').hidden = true;
}

/** Highest id that is shown; events that arrive while the list is loaded are not shown twice. */
let shown = 0;

/** @param {any} request */
function showNewRequest(request) {
  if (request.id <= shown) return;
  shown = request.id;
  showRequest(request);
}

async function showRequests() {
  const { requests } = await call('GET', '/requests');
  for (const request of requests) showNewRequest(request);
}

function listen() {
  const events = new EventSource('/_emulator/events');
  /** @param {string} text */
  const state = (text) => {
    element('connection').textContent = text;
  };
  events.onopen = () => {
    state('live');
    void showRequests();
  };
  events.onerror = () => state('disconnected');
  events.onmessage = ({ data }) => showNewRequest(JSON.parse(data));
}

/** @param {string} id @param {() => Promise<string>} action */
function onClick(id, action) {
  element(id).addEventListener('click', async () => announce(await action()));
}

/** @param {string} id @param {(form: FormData) => Promise<void>} action */
function onSubmit(id, action) {
  element(id).addEventListener('submit', async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    await action(new FormData(element(id)));
  });
}

onClick('clear-requests', async () => {
  await call('DELETE', '/requests');
  element('request-list').replaceChildren();
  element('no-requests').hidden = false;
  return 'The requests are cleared.';
});
onClick('clear-faults', async () => {
  await call('DELETE', '/faults');
  await showFaults();
  return 'No faults are injected.';
});
onClick('expire-all', async () => {
  await call('POST', '/tokens/expire', {});
  return 'All access tokens are expired at the endpoints of the emulator. A JWT that an API checks by itself stays valid until its exp.';
});
onClick('rotate-keys', async () => {
  const { kid } = await call('POST', '/keys/rotate', {});
  return `New tokens are signed with the key ${kid}.`;
});
onClick('reset', async () => {
  await call('POST', '/reset');
  element('request-list').replaceChildren();
  element('no-requests').hidden = false;
  await Promise.all([showFaults(), showDirectory()]);
  return 'The emulator is reset.';
});
onSubmit('fault-form', async (form) => {
  const faults = await showFaults();
  const at = Number(form.get('at'));
  await call('PUT', '/faults', { faults: [...faults, { kind: form.get('kind'), ...(at > 0 && { at }) }] });
  await showFaults();
  announce(`The fault ${form.get('kind')} is injected.`);
});
onSubmit('inspect-form', async (form) => {
  const { header, claims, ...result } = await call('POST', '/tokens/inspect', {
    token: String(form.get('token')).trim(),
  });
  const verdict = create('p', {
    className: `status ${result.status === 'active' ? 'good' : 'bad'}`,
    textContent: `${result.format}: ${result.status.replace('_', ' ')}`,
  });
  const parts = [verdict, pretty(result)];
  if (header !== undefined) parts.push(create('h3', { textContent: 'Header' }), pretty(header));
  if (claims !== undefined) {
    parts.push(create('h3', { textContent: 'Claims' }), pretty(claims));
    for (const name of ['iat', 'nbf', 'exp', 'auth_time'])
      if (typeof claims[name] === 'number')
        parts.push(create('p', { textContent: `${name}: ${new Date(claims[name] * 1000).toISOString()}` }));
  }
  element('inspected').replaceChildren(...parts);
});
onSubmit('user-form', async (form) => {
  const groups = String(form.get('groups'))
    .split(',')
    .flatMap((group) => group.trim() || []);
  const login = String(form.get('login'));
  await call('PUT', `/users/${encodeURIComponent(login)}`, { password: form.get('password'), groups });
  element('user-form').reset();
  await showDirectory();
  announce(`The user ${login} is added.`);
});
for (const button of document.querySelectorAll('[data-copy]'))
  button.addEventListener('click', () => copy(element(button.getAttribute('data-copy') ?? '').textContent));

Promise.all([showStatus(), showFaults(), showDirectory()]).then(listen);
