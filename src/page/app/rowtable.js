/* rowtable.js - rows of any things as a table, the first of them at once, the others when they are asked for.
 *
 *   const table = new pp.RowTable(host, {
 *     label: 'Events', none: 'Nothing happened.',
 *     columns: [{title: 'Time', of: row => 'text or element', text: true, grows: true, bar: row => 0.5}],
 *     group: row => 3,                  optional: the function that is opened by the row's button; -1: none
 *   });
 *   table.show(rows);
 */

const STEP = 200;

pp.RowTable = class RowTable {
  constructor(parent, {label, none, columns, group}) {
    Object.assign(this, {columns, group, none, limit: STEP});
    this.body = pp.el('tbody');
    this.note = pp.el('p', {class: 'note'});
    this.more = pp.el('button', {type: 'button', class: 'more', onclick: () => {
      this.limit += this.limit < 1000 ? STEP * 4 : Infinity;
      this.show(this.rows);
    }});
    this.host = pp.el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label},
      pp.el('table', {class: 'functions rows'},
        pp.el('thead', {}, pp.el('tr', {}, columns.map(({title, text}) => pp.el('th', {scope: 'col', class: text ? 'text' : null}, title)))),
        this.body), this.note, this.more);
    parent.append(this.host);
  }

  cell(column, row) {
    const value = column.of(row);
    const cell = pp.el('td', {class: [column.text && 'text', column.grows && 'grows', column.bar && 'bar-cell'].filter(Boolean).join(' ') || null,
      title: column.text && typeof value === 'string' ? pp.cut(value, 600) : null});
    const group = column.grows && this.group ? this.group(row) : -1;
    if (group >= 0)
      cell.append(pp.el('button', {type: 'button', class: 'name', onclick: () => pp.views.open('function', {selected: group})}, pp.cut(value, 300)));
    else
      cell.append(typeof value === 'string' ? pp.cut(value, 300) : value);
    if (column.bar)
      cell.style.backgroundSize = `${Math.min(100, column.bar(row) * 100)}% 100%`;
    return cell;
  }

  show(rows) {
    this.rows = rows;
    this.body.replaceChildren(...rows.slice(0, this.limit).map(row => pp.el('tr', {}, this.columns.map(column => this.cell(column, row)))));
    this.note.textContent = rows.length ? '' : this.none;
    this.more.hidden = rows.length <= this.limit;
    this.more.textContent = `Show more of ${pp.format.count(rows.length)}`;
  }
};
