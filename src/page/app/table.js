/* table.js - functions as a table: sorted by any column, one of them selected.
 *
 *   const table = new pp.Table(element, model, {select: group => {}});
 *   table.update();                reads the filters, the search and the selection anew
 *
 * Only the first rows are made; a button makes the rest.
 */

const FIRST_ROWS = 200;

const share = (part, whole) => whole ? part / whole : 0;

/* {id, title, text: whether it is text, of(group): what is sorted by, show(group): what is shown}. */
function columnsOf(model) {
  const {all, groups} = model.summed();
  const name = {id: 'name', title: 'Function', text: true, of: g => model.name(g)};
  const object = {id: 'object', title: 'Object', text: true, of: g => pp.safe(model.text(model.groups.object[g]))};
  const tier = {id: 'tier', title: 'Tier', text: true, of: g => model.tiers(g)};
  if (!model.isDiff) {
    const {self, total} = groups;
    const percent = (id, title, of) => ({id, title, of: g => of.w[g], show: g => pp.format.percent(of.w[g], all.w), bar: true});
    const count = (id, title, of) => ({id, title, of: g => of.n[g], show: g => pp.format.count(of.n[g])});
    return [percent('self', 'Self', self), count('selfn', 'Samples', self), percent('total', 'Total', total),
      count('totaln', 'Samples', total), name, tier, object];
  }
  const noise = model.noise();
  const made = [];
  for (const [id, title, of] of [['self', 'Self', groups.self], ['total', 'Total', groups.total]]) {
    const change = g => share(of.b[g], all.b) - share(of.a[g], all.a);
    const isNoise = g => Boolean(noise) && change(g) !== 0 && Math.abs(change(g)) <= noise[id][g];
    made.push({id, title: `${title} change`, of: g => Math.abs(change(g)), change, isNoise,
      show: g => (isNoise(g) ? '≈ ' : '') + pp.format.points(change(g)),
      hint: g => noise && `By chance alone up to ± ${pp.format.percent(noise[id][g], 1)}`},
    {id: id + 'a', title: 'before', of: g => of.a[g], show: g => pp.format.percent(of.a[g], all.a)},
    {id: id + 'b', title: 'after', of: g => of.b[g], show: g => pp.format.percent(of.b[g], all.b)});
  }
  return [...made, name, object];
}

pp.state.define('sort', 'self');
pp.state.define('ascending', false);

pp.Table = class Table {
  constructor(parent, model, {select}) {
    this.model = model;
    this.select = select;
    this.limit = FIRST_ROWS;
    this.head = pp.el('tr');
    this.body = pp.el('tbody', {onclick: event => {
      const row = event.target.closest('tr');
      if (row)
        select(Number(row.dataset.group));
    }});
    this.more = pp.el('button', {type: 'button', class: 'more', onclick: () => {
      this.limit = Infinity;
      this.update();
    }});
    this.note = pp.el('p', {class: 'note'});
    this.host = pp.el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Functions',
      onkeydown: event => this.key(event)},
    pp.el('table', {class: 'functions'}, pp.el('thead', {}, this.head), this.body), this.note, this.more);
    parent.append(this.host);
  }

  header(column) {
    const isSorted = pp.state.get('sort') === column.id;
    const ascending = pp.state.get('ascending');
    return pp.el('th', {scope: 'col', class: column.text ? 'text' : null,
      'aria-sort': isSorted ? (ascending ? 'ascending' : 'descending') : null},
    pp.el('button', {type: 'button', onclick: () => pp.state.set(
      {sort: column.id, ascending: isSorted ? !ascending : Boolean(column.text)})},
    column.title, pp.el('span', {'aria-hidden': 'true'}, isSorted ? (ascending ? ' ▲' : ' ▼') : '')));
  }

  /* Groups to show, in their order. */
  sorted(columns) {
    const {groups} = this.model.summed();
    const matches = this.model.matches();
    const column = columns.find(c => c.id === pp.state.get('sort')) ?? columns.find(c => c.id === 'self');
    const rows = [];
    for (let g = 0; g < this.model.groupCount; g++)
      if (groups.total.n[g] && (!matches || matches.isMatch[g]))
        rows.push({g, key: column.of(g)});
    const sign = pp.state.get('ascending') ? 1 : -1;
    rows.sort((a, b) => sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
      || groups.total.w[b.g] - groups.total.w[a.g] || a.g - b.g);
    return rows.map(row => row.g);
  }

  row(columns, g) {
    const {all} = this.model.summed();
    const isSelected = g === pp.state.get('selected');
    const row = pp.el('tr', {'data-group': g, 'aria-current': isSelected ? 'true' : null});
    for (const column of columns) {
      const cell = pp.el('td', {class: column.text ? 'text' : null});
      if (column.text && column.id !== 'name')
        cell.title = pp.cut(column.of(g), 600);
      cell.classList.toggle('grows', column.id === 'name');
      if (column.id === 'name')
        cell.append(pp.el('button', {type: 'button', class: 'name', title: pp.cut(column.of(g), 600)}, pp.cut(column.of(g), 300)));
      else
        cell.textContent = pp.cut(column.show?.(g) ?? column.of(g), 120);
      if (column.bar)
        cell.style.backgroundSize = `${Math.min(100, share(column.of(g), all.w) * 100)}% 100%`;
      if (column.bar)
        cell.classList.add('bar-cell');
      if (column.hint)
        cell.title = column.hint(g) ?? '';
      if (column.change && Math.abs(column.change(g)) > 5e-5 && !column.isNoise(g))
        cell.classList.add(column.change(g) > 0 ? 'grew' : 'shrank');
      row.append(cell);
    }
    return row;
  }

  update() {
    const columns = columnsOf(this.model);
    const groups = this.sorted(columns);
    const focused = document.activeElement?.closest('tr')?.dataset.group;
    this.head.replaceChildren(...columns.map(column => this.header(column)));
    this.body.replaceChildren(...groups.slice(0, this.limit).map(g => this.row(columns, g)));
    this.note.textContent = !groups.length ? 'No function has samples here, or is found.'
      : this.model.noise() ? '≈ may be chance: so much differs between two equal runs.' : '';
    this.more.hidden = groups.length <= this.limit;
    this.more.textContent = `Show all ${pp.format.count(groups.length)} functions`;
    if (focused)
      this.body.querySelector(`tr[data-group="${Number(focused)}"] button`)?.focus();
  }

  key(event) {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')
      return;
    const rows = [...this.body.children];
    const at = rows.findIndex(row => Number(row.dataset.group) === pp.state.get('selected'));
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)))];
    if (!next)
      return;
    event.preventDefault();
    this.select(Number(next.dataset.group));
    const row = this.body.querySelector('[aria-current]');
    row?.querySelector('button').focus();
    row?.scrollIntoView({block: 'nearest'});
  }
};
