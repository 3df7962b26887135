/* views.js - the views of the page: those with a tab, one of which is shown, and those above the tabs.
 *
 *   pp.views.register({
 *     id: 'tiers', title: 'Tiers', key: 't',       the key that opens it
 *     place: 'top',                                above the tabs, always shown; left out: a tab of its own
 *     isThere: model => true,                      optional: whether the profile has anything for it
 *     mount(root, model) {},                       once, when it is first shown: fills the empty element
 *     update(changed) {},                          when it is shown, and when the state changes while it is;
 *   });                                            `changed` has the names of the changed fields
 *
 * `changed` also has 'theme' when colours have to be read anew, and 'size' when the window's size changed.
 */

const all = [];
const mounted = new Map(); /* id: element */
let model = null;

const tabs = () => all.filter(view => view.place !== 'top' && (view.isThere?.(model) ?? true));
const current = () => tabs().find(view => view.id === pp.state.get('view')) ?? tabs()[0];

function mount(view, parent) {
  let root = mounted.get(view.id);
  if (!root) {
    root = pp.el('section', {id: 'view-' + view.id, class: 'view', 'aria-label': view.title});
    mounted.set(view.id, root);
    parent.append(root);
    view.mount(root, model);
  }
  return root;
}

function showTabs() {
  const nav = document.getElementById('tabs');
  nav.replaceChildren(...tabs().map(view => pp.el('button', {
    type: 'button',
    class: 'tab',
    'aria-current': view === current() ? 'page' : null,
    title: `${view.title} (${view.key})`,
    onclick: () => pp.views.open(view.id),
  }, view.title)));
}

function show() {
  const view = current();
  const main = document.getElementById('view');
  const root = mount(view, main);
  for (const element of mounted.values())
    if (element.parentElement === main)
      element.hidden = element !== root;
  showTabs();
  view.update(new Set(['view']));
}

pp.views = {
  register: view => all.push(view),
  has: id => tabs().some(view => view.id === id),
  open: (id, patch = {}) => pp.state.set({view: id, ...patch}, {step: true}),
  list: () => tabs(),

  start(theModel) {
    model = theModel;
    document.getElementById('view').replaceChildren();
    for (const view of all.filter(v => v.place === 'top' && (v.isThere?.(model) ?? true))) {
      mount(view, document.getElementById('top'));
      view.update(new Set(['view']));
    }
    show();
    pp.state.on(changed => this.update(changed));
    addEventListener('resize', pp.later(() => this.update(new Set(['size']))));
  },

  update(changed) {
    for (const view of all)
      if (view.place === 'top' && mounted.has(view.id))
        view.update(changed);
    if (changed.has('view'))
      show();
    else
      current().update(changed);
  },
};
