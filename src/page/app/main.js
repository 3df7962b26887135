/* main.js - reads the profile and starts the views. */

/* Pictures are drawn anew for paper: light, and with all rows. */
function print(on) {
  if (document.documentElement.hasAttribute('data-print') === on)
    return;
  document.documentElement.toggleAttribute('data-print', on);
  pp.colours.print(on);
  pp.views.update(new Set(['theme']));
}

async function start() {
  const model = new pp.Model(await pp.block('main'));
  document.title = model.titles().map(title => pp.cut(title, 60)).join(' → ') + ' – polyperf';
  pp.colours.start(model);
  pp.head.start(model);
  pp.views.start(model);
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  matchMedia('print').addEventListener('change', event => print(event.matches));
  requestAnimationFrame(() => {
    performance.mark('polyperf-picture');
    document.documentElement.dataset.ready = 'yes';
  });
}

start().catch(error => {
  document.getElementById('view').replaceChildren(
    pp.el('p', {class: 'fault', role: 'alert'}, `The profile in this page cannot be read: ${error.message}`));
  throw error;
});
