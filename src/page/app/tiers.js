/* tiers.js - in what kind of code the time went over the run, and when code was compiled, went, and fell back. */

const AXIS = 20;
const KIND_ROW = 14;
const KINDS = ['compiled', 'loaded', 'moved', 'unloaded', 'fell_back'];

let model = null;
let series = null;
let told = null;
let picture = null;
let brush = null;
let known = null; /* rows of the sum that they were made of */
const parts = {};
const tables = {};

pp.state.define('share', false);     /* areas fill the height */
pp.state.define('what', 'tiers');    /* the table: tiers, events, compiled, fell */
pp.state.define('kinds', []);        /* of events that are listed: numbers; none: all */

const shownThreads = side => {
  const chosen = pp.state.get('threads');
  return model.threads.filter(thread => thread.side === side && (!chosen.length || chosen.includes(thread.id))).map(thread => thread.id);
};

/* Kinds that there are any of. */
const kindRows = () => told ? KINDS.map(key => told.kindOf(key)).filter(kind => told.columns.get('sums.kind').includes(kind)) : [];

function draw(c, width, height) {
  const bin = series.bin(width);
  const sides = model.titles().map((_, side) => series.sums(shownThreads(side), bin));
  const rows = kindRows();
  const plot = height - AXIS - rows.length * KIND_ROW;
  const each = plot / sides.length;
  const share = pp.state.get('share');
  const most = sides.reduce((all, {all: values}) => Math.max(all, maximum(values)), 0);
  const scale = series.isTime() ? Math.max(most, series.scale(bin) / 4) : Math.max(1, most);
  sides.forEach((sums, side) => {
    pp.drawSeries(c, sums, {width, bottom: (side + 1) * each, height: each - 12, scale, share});
    c.fillStyle = pp.colours.css('--text');
    c.textBaseline = 'top';
    c.fillText(caption(scale, bin, share, side), 4, side * each);
  });
  rows.forEach((kind, i) => drawKind(c, kind, {bin, width, bottom: plot + (i + 1) * KIND_ROW}));
  drawAxis(c, width, height);
}

const maximum = values => values.reduce((most, value) => Math.max(most, value), 0);

function caption(scale, bin, share, side) {
  const name = model.isDiff ? ['before', 'after'][side] + ': ' : '';
  if (share)
    return name + '100 %';
  return name + (series.isTime() ? `${(scale / series.scale(bin)).toFixed(2)} processors` : model.formatWeight(scale));
}

/* Few and many are both seen: the height grows with the logarithm. */
function drawKind(c, kind, {bin, width, bottom}) {
  const sums = told.sums(kind, bin);
  const most = Math.log2(1 + maximum(sums));
  const step = width * bin / model.bucketCount;
  c.fillStyle = pp.colours.css(KINDS[kind] === 'fell_back' ? '--fault' : '--accent');
  sums.forEach((count, at) => {
    const tall = count ? Math.max(2, Math.log2(1 + count) / most * (KIND_ROW - 3)) : 0;
    if (tall)
      c.fillRect(at * step, bottom - tall, Math.max(1.5, step - 0.5), tall);
  });
  c.fillStyle = pp.colours.css('--edge');
  c.fillRect(0, bottom, width, 1);
}

function drawAxis(c, width, height) {
  c.fillStyle = pp.colours.css('--quiet');
  c.textBaseline = 'bottom';
  pp.eachTick(model, width, 90, (x, ns) => {
    c.fillRect(x, height - AXIS, 1, 4);
    const text = ns ? pp.format.ns(ns) : '0';
    if (x + 4 + c.measureText(text).width <= width)
      c.fillText(text, x + 4, height - 2);
  });
}

/* Samples by the runtime and tier of the code that they end in, under the filters. */
function tierRows() {
  const sum = model.summed();
  if (known?.sum !== sum)
    known = {sum, rows: sumTiers(sum)};
  return known.rows;
}

function sumTiers({stacks: {self}, all}) {
  const [runtime, tier] = ['runtime', 'tier'].map(name => model.columns.get('functions.' + name));
  const rows = new Map();
  for (let s = 0; s <= model.stackCount; s++) {
    if (!self.n[s])
      continue;
    const f = model.functionOf[s];
    const level = series.levels[series.levelOf[s]];
    const words = s ? [pp.safe(model.text(runtime[f])), pp.safe(model.text(tier[f]))] : ['', ''];
    const key = [level.key, ...words].join('\n');
    if (!rows.has(key))
      rows.set(key, {level, runtime: words[0], tier: words[1], n: 0, w: 0, a: 0, b: 0, groups: new Set(), all});
    const row = rows.get(key);
    for (const name of ['n', 'w', 'a', 'b'])
      row[name] += self[name][s];
    row.groups.add(model.stackGroup[s]);
  }
  return [...rows.values()].sort((x, y) => y.w - x.w);
}

function swatch(level) {
  const box = pp.el('span', {class: 'swatch'});
  box.style.background = pp.colours.level(level.key).fill;
  return pp.el('span', {class: 'level'}, box, level.text);
}

const tierColumns = () => {
  const percent = (name, whole) => row => pp.format.percent(row[name], row.all[whole ?? name]);
  const figures = model.isDiff
    ? [{title: 'Before', of: percent('a')}, {title: 'After', of: percent('b')},
      {title: 'Change', of: row => pp.format.points((row.all.b ? row.b / row.all.b : 0) - (row.all.a ? row.a / row.all.a : 0))}]
    : [{title: 'Share', of: percent('w'), bar: row => row.all.w ? row.w / row.all.w : 0}, {title: 'Samples', of: row => pp.format.count(row.n)},
      {title: 'Weight', of: row => model.formatWeight(row.w)}];
  return [...figures, {title: 'Functions', of: row => pp.format.count(row.groups.size)},
    {title: 'Kind of code', text: true, of: row => swatch(row.level)}, {title: 'Runtime', text: true, of: row => row.runtime},
    {title: 'Tier', text: true, grows: true, of: row => row.tier}];
};

const when = ({time, earliest}) => earliest < time ? `${pp.format.ns(Math.max(0, earliest))} – ${pp.format.ns(time)}` : pp.format.ns(time);

const eventColumns = () => [
  {title: 'Time', of: when},
  {title: 'What', text: true, of: e => told.about.kinds[e.kind].text + (e.isInferred ? ' (inferred)' : '')},
  {title: 'Tier', text: true, of: e => e.from ? `${e.from} → ${e.tier}` : e.tier},
  {title: 'Function', text: true, grows: true, of: e => e.name},
  {title: 'Bytes', of: e => e.size ? pp.format.count(e.size) : ''},
  {title: 'Runtime', text: true, of: e => e.runtime},
  {title: 'Process', of: e => e.pid === 0xffffffff ? 'kernel' : String(e.pid)},
  {title: 'Thread', of: e => e.tid ? String(e.tid) : ''},
];

const changedColumns = first => [
  first,
  {title: 'Bytes', of: c => c.size ? pp.format.count(c.size) : ''},
  {title: 'Self', of: c => c.group < 0 ? '' : pp.format.percent(model.summed().groups.self.w[c.group], model.summed().all.w)},
  {title: 'Function', text: true, grows: true, of: c => c.name},
  {title: 'Runtime', text: true, of: c => c.runtime},
];

const TABLES = {tiers: 'Time by tier', events: 'Events', compiled: 'Compiled most often', fell: 'Fell back'};

function table(what) {
  if (tables[what])
    return tables[what];
  const host = pp.el('div', {class: 'tablehost'});
  parts.tables.append(host);
  const group = row => row.group;
  const make = options => ({host, table: new pp.RowTable(host, {label: TABLES[what], ...options})});
  if (what === 'tiers')
    return tables[what] = make({columns: tierColumns(), none: 'No samples here.'});
  if (what === 'events')
    return tables[what] = make({columns: eventColumns(), group, none: 'Nothing happened here.'});
  const first = what === 'compiled' ? {title: 'Compiled', of: c => pp.format.count(c.compiled)}
    : {title: 'Fell back', of: c => pp.format.count(c.fellBack)};
  const second = what === 'compiled' ? {title: 'Fell back', of: c => c.fellBack ? pp.format.count(c.fellBack) : ''}
    : {title: 'Compiled', of: c => pp.format.count(c.compiled)};
  return tables[what] = make({columns: [first, ...changedColumns(second)], group,
    none: what === 'compiled' ? 'No function was compiled more than once.' : 'Nothing shows that a function fell back.'});
}

function rowsOf(what) {
  if (what === 'tiers')
    return tierRows();
  const chosen = pp.state.get('kinds');
  if (what === 'events')
    return told.filtered().filter(e => !chosen.length || chosen.includes(e.kind));
  return what === 'compiled' ? told.changed.filter(c => c.compiled > 1).sort((a, b) => b.compiled - a.compiled)
    : told.changed.filter(c => c.fellBack).sort((a, b) => b.fellBack - a.fellBack);
}

function noteOf(what) {
  if (what === 'tiers')
    return '';
  const {about} = told;
  const words = [];
  if (what === 'events' && about.listed < about.count)
    words.push(`${pp.format.count(about.listed)} of ${pp.format.count(about.count)} events are listed one by one; the picture counts all.`);
  if (about.untimed)
    words.push(`${pp.format.plural(about.untimed, 'piece')} of code came without a time and ${about.untimed === 1 ? 'has' : 'have'} no event.`);
  if (about.earlier)
    words.push(`${pp.format.plural(about.earlier, 'piece')} of code came before the recording.`);
  if (what === 'fell')
    words.push('No runtime tells that a function fell back: it follows from what was compiled, and from samples.');
  if (what !== 'events')
    words.push('Counted over the whole run.');
  return words.join(' ');
}

function showKinds() {
  const chosen = pp.state.get('kinds');
  parts.kinds.replaceChildren(...kindRows().map(kind => pp.el('button', {type: 'button', 'aria-pressed': String(chosen.includes(kind)),
    onclick: () => pp.state.set({kinds: chosen.includes(kind) ? chosen.filter(k => k !== kind) : [...chosen, kind].sort()})},
  told.about.kinds[kind].text)));
  parts.kinds.hidden = !told || pp.state.get('what') !== 'events';
}

function showTable() {
  const what = told && pp.state.get('what') in TABLES ? pp.state.get('what') : 'tiers';
  const {host, table: shown} = table(what);
  for (const element of parts.tables.children)
    element.hidden = element !== host && element.classList.contains('tablehost');
  shown.show(rowsOf(what));
  parts.note.textContent = noteOf(what);
  parts.what.element.hidden = !told;
  parts.what.update();
  showKinds();
}

/* What the picture shows, in words: for those who do not see it. */
function describe() {
  const rows = tierRows();
  const levels = new Map();
  for (const {level, w} of rows)
    levels.set(level.text, (levels.get(level.text) ?? 0) + w);
  const {all} = model.summed();
  return 'Time by kind of code over the run: ' + [...levels].sort((a, b) => b[1] - a[1])
    .map(([text, w]) => `${text} ${pp.format.percent(w, all.w, 0)}`).join(', ');
}

function point(event) {
  const {left, width} = parts.plot.getBoundingClientRect();
  const bin = series.bin(width);
  const at = Math.floor((event.clientX - left) / width * model.bucketCount / bin);
  const sums = series.sums(shownThreads(model.isDiff ? 1 : 0), bin);
  if (at < 0 || at >= sums.bins || brush.drag?.isMoved) {
    pp.tooltip.hide();
    return;
  }
  const facts = series.levels.flatMap(({text}, level) => sums.of[level][at]
    ? [[text, pp.format.percent(sums.of[level][at], sums.all[at], 0)]] : []);
  for (const kind of kindRows()) {
    const count = told.sums(kind, bin)[at];
    if (count)
      facts.push([told.about.kinds[kind].text, pp.format.count(count)]);
  }
  pp.tooltip.show(event.clientX, event.clientY, [pp.format.ns(model.bucketNs(at * bin)), ...facts]);
}

function labels() {
  const rows = kindRows();
  parts.labels.replaceChildren(...rows.map(kind => pp.el('span', {}, told.about.kinds[kind].text)));
  parts.chart.style.height = 190 + rows.length * KIND_ROW + 'px';
}

function legend() {
  const used = new Set(tierRows().map(({level}) => level.key));
  parts.legend.replaceChildren(...series.levels.filter(({key}) => used.has(key)).map(level => pp.el('li', {}, swatch(level))));
}

pp.views.register({
  id: 'tiers',
  title: 'Tiers',
  key: 't',

  mount(element, theModel) {
    model = theModel;
    series = pp.series(model);
    parts.share = pp.toggle('share', 'Height', {false: 'Amount', true: 'Share'});
    parts.what = pp.toggle('what', 'Table', TABLES);
    parts.legend = pp.el('ul', {class: 'legend', 'aria-label': 'Legend'});
    parts.labels = pp.el('div', {class: 'kindlabels'});
    parts.plot = pp.el('div', {class: 'chartplot', onmousemove: point, onmouseleave: () => pp.tooltip.hide()});
    parts.chart = pp.el('div', {class: 'chart'}, parts.labels, parts.plot);
    parts.picture = pp.el('div', {class: 'fill', role: 'img'});
    parts.plot.append(parts.picture);
    parts.kinds = pp.el('span', {class: 'choice', role: 'group', 'aria-label': 'Kinds of events'});
    parts.note = pp.el('p', {class: 'note'});
    parts.tables = pp.el('div', {class: 'tables'});
    element.append(pp.el('div', {class: 'bar'}, parts.share.element, parts.legend), parts.chart,
      pp.el('div', {class: 'bar'}, parts.what.element, parts.kinds), parts.note, parts.tables);
    picture = new pp.Picture(parts.picture, draw);
    brush = new pp.Brush(parts.plot, model);
    pp.happenings(model).then(happenings => {
      told = happenings;
      this.update(new Set(['view']));
    });
  },

  update() {
    parts.share.update();
    parts.picture.setAttribute('aria-label', describe());
    labels();
    legend();
    brush.update();
    showTable();
    picture.draw();
  },
});
