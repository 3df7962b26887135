/* sandwich.js - the view of functions: a table of all, and for the selected one who called it and what it called.
 * Of a recursive function the outermost call counts, so that each sample is in both pictures once.
 */

let model = null;
let table = null;
const parts = {};
const panes = {};

const zooms = {callers: null, callees: null};

function pane(name, title, upward) {
  const host = pp.el('section', {class: 'pane', 'aria-label': title});
  host.append(pp.el('h2', {}, title));
  panes[name] = {host, upward, flame: new pp.Flame(host, model, {
    label: `${title} of the selected function`,
    zoom: node => {
      zooms[name] = node === panes[name].flame.at ? node.parent ?? node : node;
      drawPane(name);
    },
  })};
  return host;
}

function drawPane(name) {
  const {flame, root, upward} = panes[name];
  flame.show(root, {at: zooms[name] ?? root, upward});
}

function select(group) {
  pp.state.set({selected: group});
}

/* The heaviest by the chosen order, where nobody has chosen. */
function selected() {
  const chosen = pp.state.get('selected');
  if (chosen >= 0 && chosen < model.groupCount)
    return chosen;
  const {self} = model.summed().groups;
  return self.w.reduce((best, w, g) => w > self.w[best] ? g : best, 0);
}

function showSelected() {
  const group = selected();
  parts.details.show(group);
  zooms.callers = zooms.callees = null;
  panes.callers.root = pp.tree.callers(model, group);
  panes.callees.root = pp.tree.callees(model, group);
  drawPane('callers');
  drawPane('callees');
}

pp.views.register({
  id: 'functions',
  title: 'Functions',
  key: 's',

  mount(element, theModel) {
    model = theModel;
    const left = pp.el('div', {class: 'left'});
    parts.details = pp.details(model, {links: {function: 'Versions, lines, code'}});
    parts.colour = pp.colourChoice(model);
    const right = pp.el('div', {class: 'right'}, pp.el('div', {class: 'bar'}, parts.colour.element),
      pane('callers', 'Callers', true), parts.details.element, pane('callees', 'Callees', false));
    element.append(pp.el('div', {class: 'sandwich'}, left, right));
    table = new pp.Table(left, model, {select});
  },

  update(changed) {
    if (!['size', 'theme', 'colour'].some(name => changed.has(name) && changed.size === 1))
      table.update();
    parts.colour.update();
    showSelected();
  },
});
