/** Filters, searches and unfolds the HTML report in the browser. The page stays readable without it. */
export const pageScript = `
(() => {
  'use strict';
  const { body } = document;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const [controls, search, fold, status] = all('#controls, #search, #fold, #status');
  const buttons = all('button[data-show]');
  const scripts = all('.script').map((element) => {
    const name = element.firstElementChild.textContent.toLowerCase();
    const steps = all('.step', element).map((step) => ({ step, state: step.classList[1] }));
    return { element, name, steps, groups: all('.group', element) };
  });

  function apply() {
    const wanted = body.dataset.show;
    const words = search.value.toLowerCase().trim();
    let shown = 0;
    for (const { element, name, steps, groups } of scripts) {
      let hits = 0;
      let here = 0;
      const filled = new Set();
      const whole = name.includes(words);
      for (const one of steps) {
        const hit = words === '' || whole || (one.text ??= one.step.textContent.toLowerCase()).includes(words);
        one.step.classList.toggle('miss', !hit);
        if (!hit) continue;
        hits++;
        if (wanted !== 'all' && one.state !== wanted) continue;
        here++;
        for (let at = one.step.parentElement; at !== element && !filled.has(at); at = at.parentElement) filled.add(at);
      }
      for (const group of groups) group.classList.toggle('miss', !filled.has(group));
      element.classList.toggle('miss', words !== '' && hits === 0 && !whole);
      if (here > 0 && (words !== '' || wanted !== 'all')) element.open = true;
      shown += here;
    }
    body.classList.toggle('empty', shown === 0);
    status.textContent = shown === 1 ? '1 step' : shown.toLocaleString('en') + ' steps';
  }

  function show(state) {
    body.dataset.show = state;
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.show === state));
    apply();
  }

  function follow() {
    const name = location.hash.slice(1);
    const target = /^s[0-9]+-[0-9]+(-[0-9]+)?$/.test(name) ? document.getElementById(name) : null;
    if (target === null) return show(buttons.some((button) => button.dataset.show === name) ? name : 'all');
    search.value = '';
    show('all');
    for (let at = target; at !== body; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    (target.matches('.step') ? target.firstElementChild : target).focus({ preventScroll: true });
    target.scrollIntoView();
  }

  async function copy(button) {
    const text = button.closest('.exchange').querySelector('.curl pre').textContent;
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page that was loaded over http has no clipboard: show the command to copy.
      copied = false;
      const curl = button.closest('.exchange').querySelector('.curl');
      curl.open = true;
      getSelection().selectAllChildren(curl.querySelector('pre'));
    }
    button.textContent = copied ? 'Copied' : 'Copy the selected text';
  }

  for (const button of buttons) button.addEventListener('click', () => { location.hash = button.dataset.show; show(button.dataset.show); });
  body.addEventListener('click', ({ target }) => { if (target.matches('.copy')) copy(target); });
  search.addEventListener('input', apply);
  search.addEventListener('keydown', (event) => { if (event.key === 'Escape') { search.value = ''; apply(); } });
  fold.addEventListener('click', () => {
    const open = fold.dataset.open !== 'true';
    fold.dataset.open = String(open);
    fold.textContent = open ? 'Collapse all' : 'Expand all';
    for (const { element, steps, groups } of scripts) {
      if (open) for (const outer of [element, ...groups]) outer.open = true;
      for (const { step } of steps) step.open = open;
    }
  });
  addEventListener('beforeprint', () => { for (const details of all('.step.failed, .group.failed, .script.has-failed')) details.open = true; });
  addEventListener('hashchange', follow);
  // The browser moves the focus once more when it scrolls to the step in the URL's fragment.
  if (location.hash.startsWith('#s')) addEventListener('load', follow);
  controls.hidden = false;
  body.classList.add('js');
  follow();
})();
`;
