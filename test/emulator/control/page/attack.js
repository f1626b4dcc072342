// Runs in the browser, in a page of another origin: tries to read and to use the control API at a URL.

/** @param {string} api @returns what the page learns from each attempt */
async function attack(api) {
  /** @param {string} path @param {RequestInit} [init] */
  const read = (path, init = {}) =>
    fetch(`${api}${path}`, init).then(
      async (response) => (response.type === 'opaque' ? 'opaque' : `${response.status} ${await response.text()}`),
      () => 'failed',
    );
  const faults = JSON.stringify({ faults: [{ kind: '500' }] });
  const headers = { 'Content-Type': 'application/json' };
  const events = new EventSource(`${api}/events`);
  const stream = new Promise((resolve) => {
    events.onopen = () => resolve('open');
    events.onerror = () => resolve('failed');
  });
  const script = new Promise((resolve) => {
    const element = Object.assign(document.createElement('script'), { src: `${api}/console.js`, type: 'module' });
    element.onload = () => resolve('loaded');
    element.onerror = () => resolve('failed');
    document.body.append(element);
  });
  // A form is a simple request: the browser sends it without a preflight request.
  const frame = Object.assign(document.createElement('iframe'), { name: 'target' });
  const form = Object.assign(document.createElement('form'), {
    action: `${api}/reset`,
    method: 'POST',
    enctype: 'text/plain',
    target: 'target',
  });
  document.body.append(frame, form);
  const submitted = new Promise((resolve) => {
    frame.onload = () => resolve('sent');
  });
  form.submit();
  return {
    get: await read('/requests'),
    put: await read('/faults', { method: 'PUT', body: faults, headers }),
    post: await read('/tokens/expire', { method: 'POST', mode: 'no-cors', body: '{}' }),
    reset: await read('/reset', { method: 'POST', mode: 'no-cors' }),
    remove: await read('/clients/c', { method: 'DELETE' }),
    events: await stream,
    script: await script,
    form: await submitted,
  };
}

Object.assign(globalThis, { attack });
