/* calltree.js - the view of stacks as a tree of rows that open and close: the same as the flame graph, in text. */

let model = null;
let body = null;
let rows = []; /* of the rows that are shown: {node, element, isOpen} */
let focused = 0;

const HEAVY = 0.5; /* of its caller: such a callee is opened together with it */
const CHILDREN = 400;

function row(node) {
  const {all} = model.summed();
  const hasChildren = node.children.length > 0;
  const found = model.matches()?.isMatch[node.group];
  const name = pp.el('span', {class: found ? 'found' : null}, pp.cut(model.name(node.group), 300));
  const cell = pp.el('td', {class: 'text grows', role: 'gridcell'}, pp.el('span', {class: 'twist', 'aria-hidden': 'true'}), name);
  cell.firstChild.style.marginLeft = `${Math.min(node.depth - 1, 60) * 14}px`;
  const number = text => pp.el('td', {role: 'gridcell'}, text);
  const figures = model.isDiff
    ? [number(pp.format.percent(node.a, all.a)), number(pp.format.percent(node.b, all.b))]
    : [number(pp.format.percent(node.w, all.w)), number(pp.format.percent(node.self, all.w)), number(pp.format.count(node.n))];
  const element = pp.el('tr', {role: 'row', tabindex: '-1', 'aria-level': node.depth, 'aria-expanded': hasChildren ? 'false' : null},
    ...figures, cell, pp.el('td', {class: 'text', role: 'gridcell'}, pp.cut(pp.safe(model.text(model.groups.object[node.group])), 60)));
  return {node, element, isOpen: false};
}

function open(index) {
  const at = rows[index];
  if (at.isOpen || !at.node.children.length)
    return;
  at.isOpen = true;
  at.element.setAttribute('aria-expanded', 'true');
  const made = at.node.children.slice(0, CHILDREN).map(row);
  at.element.after(...made.map(r => r.element));
  rows.splice(index + 1, 0, ...made);
}

function close(index) {
  const at = rows[index];
  if (!at.isOpen)
    return;
  let end = index + 1;
  while (end < rows.length && rows[end].node.depth > at.node.depth)
    rows[end++].element.remove();
  rows.splice(index + 1, end - index - 1);
  at.isOpen = false;
  at.element.setAttribute('aria-expanded', 'false');
}

/* Down the path of what is most of its caller. */
function openHeavy(index) {
  for (let i = index; i < rows.length; i++) {
    open(i);
    const [first] = rows[i].node.children;
    if (!first || first.w < rows[i].node.w * HEAVY)
      break;
  }
}

function focus(index) {
  rows[focused]?.element.setAttribute('tabindex', '-1');
  focused = Math.max(0, Math.min(rows.length - 1, index));
  rows[focused]?.element.setAttribute('tabindex', '0');
  rows[focused]?.element.focus();
}

function key(event) {
  const at = rows[focused];
  if (!at || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const moves = {
    ArrowDown: () => focus(focused + 1),
    ArrowUp: () => focus(focused - 1),
    ArrowRight: () => at.isOpen ? focus(focused + 1) : open(focused),
    ArrowLeft: () => at.isOpen ? close(focused) : focus(rows.findIndex(r => r.node === at.node.parent)),
    Home: () => focus(0),
    End: () => focus(rows.length - 1),
    '*': () => openHeavy(focused),
    Enter: () => pp.state.set({selected: at.node.group}),
  };
  if (!moves[event.key])
    return;
  moves[event.key]();
  event.preventDefault();
  event.stopPropagation();
}

function build() {
  const root = pp.state.get('inverted') ? pp.tree.callers(model) : pp.tree.callees(model);
  rows = root.children.slice(0, CHILDREN).map(row);
  body.replaceChildren(...rows.map(r => r.element));
  focused = 0;
  if (!rows.length)
    return;
  rows[0].element.setAttribute('tabindex', '0');
  if (!pp.state.get('inverted'))
    openHeavy(0);
}

pp.views.register({
  id: 'tree',
  title: 'Call tree',
  key: 'c',

  mount(element, theModel) {
    model = theModel;
    body = pp.el('tbody', {onkeydown: key, onclick: event => {
      const index = rows.findIndex(r => r.element === event.target.closest('tr'));
      if (index < 0)
        return;
      focus(index);
      pp.state.set({selected: rows[index].node.group});
      if (rows[index].isOpen)
        close(index);
      else
        open(index);
    }});
    const titles = model.isDiff ? ['Before', 'After'] : ['Total', 'Self', 'Samples'];
    this.direction = pp.toggle('inverted', 'Direction', {false: 'Callers first', true: 'Leaves first'}, {zoom: []});
    element.append(pp.el('div', {class: 'bar'}, this.direction.element),
      pp.el('div', {class: 'scroll'}, pp.el('table', {class: 'functions calltree', role: 'treegrid', 'aria-label': 'Call tree'},
        pp.el('thead', {role: 'rowgroup'}, pp.el('tr', {role: 'row'}, [...titles, 'Function', 'Object'].map((title, i) =>
          pp.el('th', {scope: 'col', role: 'columnheader', class: i >= titles.length ? 'text' : null}, title)))), body)));
  },

  update(changed) {
    this.direction.update();
    if (['view', 'inverted', 'search', 'event', 'from', 'to', 'threads'].some(name => changed.has(name)))
      build();
  },
});
