/* function.js - the page of one function: its versions, what became of them, its lines and its instructions. */

let model = null;
let told = null;
let asked = -1; /* the group whose document is waited for */
const parts = {};

const LISTED = 200;

pp.state.define('version', -1);   /* index into the document's versions; -1: the one with most samples */
pp.state.define('listing', 'both'); /* both, lines, code */

function selected() {
  const chosen = pp.state.get('selected');
  if (chosen >= 0 && chosen < model.groupCount)
    return chosen;
  const {self} = model.summed().groups;
  return self.w.reduce((best, w, g) => w > self.w[best] && pp.hasDocument(model, g) >= pp.hasDocument(model, best) ? g : best, 0);
}

/* The hottest functions, to choose from. */
function fillChoice(group) {
  const {self} = model.summed().groups;
  const sorted = Array.from(self.w.keys()).filter(g => self.n[g] || g === group)
    .sort((a, b) => self.w[b] - self.w[a] || a - b).slice(0, LISTED);
  if (!sorted.includes(group))
    sorted.push(group);
  const {all} = model.summed();
  parts.choice.replaceChildren(...sorted.map(g => pp.el('option', {value: g},
    `${pp.format.percent(self.w[g], all.w, 1)}  ${pp.cut(model.name(g), 90)}`)));
  parts.choice.value = group;
}

/* A word of a shell, as it is: control characters cannot be shown, so they are spelt out. */
const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function hint(group) {
  /* A side of a difference may be several recordings. */
  const input = model.isDiff ? 'RECORDING' : quoted(pp.safe(model.meta.sides[0].name));
  return pp.el('div', {class: 'hint'},
    pp.el('p', {}, 'Lines and instructions of this function are not in the page. They are shown by'),
    pp.el('pre', {tabindex: '0'}, pp.el('code', {}, `polyperf annotate -i ${input} ${quoted(model.name(group))}`)),
    pp.el('p', {}, 'and a page with more functions is made by ', pp.el('code', {}, 'polyperf report --html --functions N'), '.'));
}

const relative = ns => {
  const first = Number(model.meta.sides[0].first_ns);
  return ns ? pp.format.ns(ns - first) : '';
};

/* The document's versions; without one what the profile knows, under the filters. */
function versionRows(document, group) {
  if (document)
    return document.function.versions.map((v, index) => ({index, version: v.version, tier: pp.safe(v.tier), runtime: pp.safe(v.runtime),
      samples: v.samples, inlined: v.inlined_samples, size: v.size, loaded: v.loaded_ns, unloaded: v.unloaded_ns, whole: document.function.samples}));
  const get = name => model.columns.get('functions.' + name);
  const {stacks: {self}, groups, all} = model.summed();
  const counts = new Map(model.groups.functions[group].map(f => [f, {n: 0, a: 0, b: 0}]));
  for (let s = 1; s <= model.stackCount; s++) {
    const count = counts.get(model.functionOf[s]);
    for (const name of count ? ['n', 'a', 'b'] : [])
      count[name] += self[name][s];
  }
  return [...counts].map(([f, {n, a, b}]) => ({index: -1, version: get('version')[f], tier: pp.safe(model.text(get('tier')[f])),
    runtime: pp.safe(model.text(get('runtime')[f])), samples: n, whole: groups.self.n[group],
    sides: model.isDiff ? [pp.format.percent(a, all.a), pp.format.percent(b, all.b)] : null}));
}

function versionTable(rows, chosen) {
  const has = name => rows.some(row => row[name]);
  const columns = [
    ['Version', row => row.version ? String(row.version) : '–'], ['Tier', row => row.tier, true],
    ...(has('sides') ? [['Before', row => row.sides[0]], ['After', row => row.sides[1]]]
      : [['Share', row => pp.format.percent(row.samples, row.whole)]]), ['Samples', row => pp.format.count(row.samples)],
    has('inlined') && ['In inlined calls', row => row.inlined ? pp.format.count(row.inlined) : ''],
    has('size') && ['Bytes', row => row.size ? pp.format.count(row.size) : ''],
    has('loaded') && ['Compiled', row => relative(row.loaded)], has('unloaded') && ['Gone', row => relative(row.unloaded)],
  ].filter(Boolean);
  const line = row => pp.el('tr', {'aria-current': row.index >= 0 && row.index === chosen ? 'true' : null},
    columns.map(([title, of, text], i) => pp.el('td', {class: text ? 'text' : null}, i === 0 && row.index >= 0 && rows.length > 1
      ? pp.el('button', {type: 'button', class: 'name', 'aria-pressed': String(row.index === chosen), onclick: () => pp.state.set({version: row.index})}, of(row))
      : of(row))));
  return pp.el('table', {class: 'functions rows versions', 'aria-label': 'Versions'},
    pp.el('thead', {}, pp.el('tr', {}, columns.map(([title, , text]) => pp.el('th', {scope: 'col', class: text ? 'text' : null}, title)))),
    pp.el('tbody', {}, rows.map(line)));
}

function fateList(group) {
  const own = told ? told.list.filter(e => e.group === group) : [];
  if (!own.length)
    return null;
  const word = e => {
    const {key, text} = told.about.kinds[e.kind];
    const tier = e.from ? `${e.from} → ${e.tier}` : key === 'compiled' && e.tier && e.tier !== key ? `in ${e.tier}` : key === 'compiled' ? '' : e.tier;
    return `${text} ${tier}${e.isInferred ? ' (inferred)' : ''}`;
  };
  return pp.el('ol', {class: 'fates', 'aria-label': 'What became of its code', tabindex: '0'},
    own.slice(0, LISTED).map(e => pp.el('li', {class: told.about.kinds[e.kind].key, title: word(e)}, pp.el('span', {class: 'time'}, pp.format.ns(e.time)), ' ', word(e))),
    own.length > LISTED && pp.el('li', {}, `${pp.format.count(own.length - LISTED)} more`));
}

function isFiltered() {
  return pp.state.get('from') >= 0 || pp.state.get('threads').length > 0;
}

function showDocument(document, group) {
  const rows = versionRows(document, group);
  const hottest = rows.reduce((best, row) => row.samples > rows[best].samples ? rows.indexOf(row) : best, 0);
  const chosen = pp.state.get('version') >= 0 && pp.state.get('version') < rows.length ? pp.state.get('version') : hottest;
  parts.top.replaceChildren(...[pp.el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Versions'}, versionTable(rows, chosen)),
    fateList(group)].filter(Boolean));
  parts.listing.element.hidden = !document;
  parts.note.textContent = !document ? '' : [
    isFiltered() && 'Counts below are of the whole run.',
    pp.state.get('event') !== model.events.indexOf(document.event) && `They are of ${document.event}.`,
    document.function.inlined_elsewhere.samples > 0 &&
      `${pp.format.plural(document.function.inlined_elsewhere.samples, 'sample')} more where it was inlined into others.`,
  ].filter(Boolean).join(' ');
  if (!document) {
    parts.body.replaceChildren(hint(group));
    return;
  }
  const what = pp.state.get('listing');
  const version = document.function.versions[chosen];
  parts.body.className = 'listings ' + what;
  parts.body.replaceChildren(...[what !== 'code' && pp.sourceTable(document, version ?? null),
    what !== 'lines' && version && pp.codeTable(document, version)].filter(Boolean));
  parts.top.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  for (const host of parts.body.querySelectorAll('.scroll'))
    showHottest(host);
}

/* The row with most samples in the middle, where not all can be seen. */
function showHottest(host) {
  const rows = [...host.querySelectorAll('tr[data-samples]')];
  const hottest = rows.reduce((best, row) => Number(row.dataset.samples) > Number(best?.dataset.samples ?? 0) ? row : best, null);
  if (hottest)
    host.scrollTop = hottest.offsetTop - host.clientHeight / 2;
}

async function show() {
  const group = selected();
  asked = group;
  fillChoice(group);
  parts.details.show(group);
  const document = await pp.documentOf(model, group);
  told = await pp.happenings(model);
  if (asked === group)
    showDocument(document, group);
}

pp.views.register({
  id: 'function',
  title: 'Function',
  key: 'n',

  mount(element, theModel) {
    model = theModel;
    parts.choice = pp.el('select', {class: 'pick', onchange: () => pp.state.set({selected: Number(parts.choice.value), version: -1}, {step: true})});
    parts.details = pp.details(model, {links: {functions: 'Callers and callees'}});
    parts.listing = pp.toggle('listing', 'What is shown', {both: 'Lines and instructions', lines: 'Lines', code: 'Instructions'});
    parts.note = pp.el('span', {class: 'quiet'});
    parts.top = pp.el('div', {class: 'fate'});
    parts.body = pp.el('div', {class: 'listings'});
    element.append(pp.el('div', {class: 'bar'}, pp.el('label', {}, 'Function ', parts.choice), parts.listing.element, parts.note),
      parts.details.element, parts.top, parts.body);
  },

  update(changed) {
    parts.listing.update();
    if (changed.has('selected'))
      pp.state.set({version: -1});
    if (['view', 'selected', 'version', 'listing', 'event', 'from', 'to', 'threads'].some(name => changed.has(name)))
      show();
  },
});
