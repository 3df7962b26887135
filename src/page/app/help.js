/* help.js - keys, and the dialog that tells of them. */

const KEYS = [
  ['/', 'search'], ['?', 'this help'], ['i', 'callers first, or leaves first'], ['o', 'icicle, or flame'],
  ['d', 'dark, light, or as the system'], ['k', 'next meaning of colours'], ['u', 'zoom out, take filters off'],
  ['← ↑ → ↓', 'move between boxes and rows'], ['Enter', 'zoom into the box'], ['Esc', 'zoom out'],
];

let dialog = null;

function made() {
  const rows = [...pp.views.list().map(view => [view.key, view.title]), ...KEYS];
  return document.body.appendChild(pp.el('dialog', {id: 'keys', 'aria-labelledby': 'keys-title'},
    pp.el('h2', {id: 'keys-title'}, 'Keyboard'),
    pp.el('dl', {}, rows.map(([key, what]) => [pp.el('dt', {}, pp.el('kbd', {}, key)), pp.el('dd', {}, what)])),
    pp.el('form', {method: 'dialog'}, pp.el('button', {}, 'Close'))));
}

const next = (values, value) => values[(values.indexOf(value) + 1) % values.length];

const actions = {
  '?': () => pp.help.open(),
  '/': () => document.getElementById('search').select(),
  i: () => pp.state.set({inverted: !pp.state.get('inverted'), zoom: []}),
  o: () => pp.state.set({icicle: !pp.state.get('icicle')}),
  d: () => pp.state.set({theme: next(['auto', 'dark', 'light'], pp.state.get('theme'))}),
  k: () => pp.state.set({colour: next(Object.keys(pp.colours.modes()), pp.colours.mode())}),
  u: () => pp.state.reset('zoom', 'from', 'to', 'threads', 'search'),
  Escape: () => pp.state.get('zoom').length && pp.state.set({zoom: pp.state.get('zoom').slice(0, -1)}, {step: true}),
};

addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
    return;
  if (event.target.matches?.('input, select, textarea')) {
    if (event.key === 'Escape')
      event.target.blur();
    return;
  }
  if (dialog?.open)
    return;
  const view = pp.views.list().find(v => v.key === event.key);
  if (!view && !actions[event.key])
    return;
  event.preventDefault();
  if (view)
    pp.views.open(view.id);
  else
    actions[event.key]();
});

pp.help = {
  open() {
    dialog ??= made();
    dialog.showModal();
  },
};
