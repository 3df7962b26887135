/* graph.js - the view with the flame graph of everything, and what its colours mean. */

let model = null;
let flame = null;
let tree = null;
const parts = {};

/* The trees are made anew when the filters change. */
function root() {
  const key = [pp.state.get('inverted'), ...['event', 'from', 'to', 'threads'].map(name => pp.state.get(name))].join();
  if (tree?.key !== key)
    tree = {key, root: pp.state.get('inverted') ? pp.tree.callers(model) : pp.tree.callees(model)};
  return tree.root;
}

function toggle(name, title, values) {
  const button = value => pp.el('button', {type: 'button', 'data-value': value, onclick: () => {
    pp.state.set(name === 'inverted' ? {inverted: value === 'true', zoom: []} : {[name]: value === 'true'});
  }}, values[value]);
  return pp.el('span', {class: 'choice', role: 'group', 'aria-label': title, 'data-name': name}, Object.keys(values).map(button));
}

function press(group) {
  for (const button of group.children)
    button.setAttribute('aria-pressed', String(button.dataset.value === String(pp.state.get(group.dataset.name))));
}

pp.views.register({
  id: 'flame',
  title: 'Flame graph',
  key: 'f',

  mount(element, theModel) {
    model = theModel;
    parts.direction = toggle('inverted', 'Direction', {false: 'Callers first', true: 'Leaves first'});
    parts.layout = toggle('icicle', 'Layout', {true: 'Icicle', false: 'Flame'});
    parts.colour = pp.colourChoice(model);
    element.append(pp.el('div', {class: 'bar'}, parts.direction, parts.layout, parts.colour.element));
    flame = new pp.Flame(element, model, {
      label: 'Flame graph. Arrow keys move, Enter zooms, Escape shows all. The functions are also a table in the next view.',
      zoom: node => pp.state.set({zoom: node === flame.at ? node.parent?.path ?? [] : node.path}, {step: true}),
      focus: node => node.group >= 0 && pp.state.set({selected: node.group}),
    });
  },

  update(changed) {
    press(parts.direction);
    press(parts.layout);
    parts.colour.update();
    if (changed.has('colour') || changed.has('theme'))
      tree = null;
    const top = root();
    flame.show(top, {at: pp.tree.find(top, pp.state.get('zoom')), upward: !pp.state.get('icicle')});
  },
});
