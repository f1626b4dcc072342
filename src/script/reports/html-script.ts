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
    return { element, name, steps: all('.step', element).map((step) => ({ step, state: step.classList[1] })) };
  });

  function apply() {
    const wanted = body.dataset.show;
    const words = search.value.toLowerCase().trim();
    let shown = 0;
    for (const { element, name, steps } of scripts) {
      let hits = 0;
      let here = 0;
      const whole = name.includes(words);
      for (const one of steps) {
        const hit = words === '' || whole || (one.text ??= one.step.textContent.toLowerCase()).includes(words);
        one.step.classList.toggle('miss', !hit);
        if (!hit) continue;
        hits++;
        if (wanted === 'all' || one.state === wanted) here++;
      }
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
    const step = /^s[0-9]+-[0-9]+$/.test(name) ? document.getElementById(name) : null;
    if (step === null) return show(buttons.some((button) => button.dataset.show === name) ? name : 'all');
    search.value = '';
    show('all');
    step.closest('.script').open = true;
    step.open = true;
    step.firstElementChild.focus({ preventScroll: true });
    step.scrollIntoView();
  }

  for (const button of buttons) button.addEventListener('click', () => { location.hash = button.dataset.show; show(button.dataset.show); });
  search.addEventListener('input', apply);
  search.addEventListener('keydown', (event) => { if (event.key === 'Escape') { search.value = ''; apply(); } });
  fold.addEventListener('click', () => {
    const open = fold.dataset.open !== 'true';
    fold.dataset.open = String(open);
    fold.textContent = open ? 'Collapse all' : 'Expand all';
    for (const { element, steps } of scripts) {
      if (open) element.open = true;
      for (const { step } of steps) step.open = open;
    }
  });
  addEventListener('beforeprint', () => { for (const details of all('.step.failed, .script.has-failed')) details.open = true; });
  addEventListener('hashchange', follow);
  // The browser moves the focus once more when it scrolls to the step in the URL's fragment.
  if (location.hash.startsWith('#s')) addEventListener('load', follow);
  controls.hidden = false;
  follow();
})();
`;
