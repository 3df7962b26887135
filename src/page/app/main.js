/* main.js - reads the profile and starts the views. */

async function start() {
  const model = new pp.Model(await pp.block('main'));
  document.title = model.meta.sides.map(side => pp.cut(pp.safe(side.name), 60)).join(' → ') + ' – polyperf';
  pp.colours.start(model);
  pp.head.start(model);
  pp.views.start(model);
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
