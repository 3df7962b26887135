/* graph.js - the view with the flame graph of everything. */

let model = null;
let flame = null;
let tree = null;
const parts = {};

/* The tree is made anew when what it shows changes. */
function root() {
  const key = ['inverted', 'event', 'from', 'to', 'threads'].map(name => pp.state.get(name)).join();
  if (tree?.key !== key)
    tree = {key, root: pp.state.get('inverted') ? pp.tree.callers(model) : pp.tree.callees(model)};
  return tree.root;
}

/* A click on what has the whole width zooms out by one. */
const zoom = node => pp.state.set({zoom: (node === flame.at ? node.parent ?? node : node).path}, {step: true});

pp.views.register({
  id: 'flame',
  title: 'Flame graph',
  key: 'f',

  mount(element, theModel) {
    model = theModel;
    parts.direction = pp.toggle('inverted', 'Direction', {false: 'Callers first', true: 'Leaves first'}, {zoom: []});
    parts.layout = pp.toggle('icicle', 'Layout', {true: 'Icicle', false: 'Flame'});
    parts.colour = pp.colourChoice(model);
    parts.details = pp.details(model, {links: {functions: 'Callers and callees', function: 'Versions, lines, code'}});
    element.append(pp.el('div', {class: 'bar'}, parts.direction.element, parts.layout.element, parts.colour.element));
    flame = new pp.Flame(element, model, {
      label: 'Flame graph. Arrow keys move, Enter zooms, Escape shows all. The call tree is the same as text.',
      zoom,
      focus: node => node.group >= 0 && pp.state.set({selected: node.group}),
    });
    element.append(parts.details.element);
  },

  update(changed) {
    for (const part of [parts.direction, parts.layout, parts.colour])
      part.update();
    parts.details.show(pp.state.get('selected'));
    if (changed.has('colour') || changed.has('theme'))
      tree = null; /* nodes keep their colours */
    const top = root();
    flame.show(top, {at: pp.tree.find(top, pp.state.get('zoom')), upward: !pp.state.get('icicle')});
  },
});
