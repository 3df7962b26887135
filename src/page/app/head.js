/* head.js - the line above everything: what was recorded, search, event, theme, and which filters are on. */

let model = null;
const parts = {};

function summary() {
  const {all} = model.summed();
  const words = [pp.format.plural(all.n, 'sample')];
  const {from, to} = {from: Math.max(0, pp.state.get('from')), to: pp.state.get('to')};
  const buckets = (to < 0 ? model.bucketCount : to) - from;
  words.push(`${pp.format.ns(pp.state.get('from') < 0 ? model.durationNs : model.bucketNs(buckets))}`);
  if (model.events.length === 1)
    words.push(pp.safe(model.events[0]));
  const exact = model.trusts().find(({trust}) => trust === 'exact')?.n ?? 0;
  words.push(`${pp.format.percent(exact, all.n, 1)} exact`);
  const lost = model.meta.sides.reduce((sum, side) => sum + side.lost, 0);
  if (lost)
    words.push(`${pp.format.count(lost)} lost`);
  return words.join(' · ');
}

/* Filters that are on, each with a button that takes it off. */
function chips() {
  const made = [];
  const chip = (text, what, reset) => made.push(pp.el('span', {class: 'chip'}, pp.cut(text, 60),
    pp.el('button', {type: 'button', 'aria-label': `Remove ${what}`, onclick: reset}, '×')));
  if (pp.state.get('from') >= 0)
    chip(`${pp.format.ns(model.bucketNs(pp.state.get('from')))} – ${pp.format.ns(model.bucketNs(pp.state.get('to')))}`,
      'the filter by time', () => pp.state.reset('from', 'to'));
  const threads = pp.state.get('threads');
  if (threads.length)
    chip(threads.length === 1 ? `${model.threads[threads[0]].comm} ${model.threads[threads[0]].tid}`
      : pp.format.plural(threads.length, 'thread'), 'the filter by thread', () => pp.state.reset('threads'));
  const zoom = pp.state.get('zoom');
  if (zoom.length)
    chip(`in ${model.name(zoom[zoom.length - 1])}`, 'the zoom', () => pp.state.reset('zoom'));
  parts.chips.replaceChildren(...made);
}

function showMatched() {
  const matches = model.matches();
  const {all} = model.summed();
  parts.search.setAttribute('aria-invalid', matches?.error ? 'true' : 'false');
  parts.matched.textContent = !matches ? ''
    : `${pp.format.percent(model.matchedWeight(), all.w)} matched${matches.error ? ' as text' : ''}`;
  parts.matched.title = matches?.error ?? '';
}

const nextTheme = {auto: 'dark', dark: 'light', light: 'auto'};

function showTheme() {
  const theme = pp.state.get('theme');
  parts.theme.textContent = {auto: '◐', dark: '●', light: '○'}[theme];
  parts.theme.title = `Theme: ${theme === 'auto' ? 'as the system' : theme}`;
  parts.theme.setAttribute('aria-label', parts.theme.title);
}

function update(changed) {
  if (['theme', 'colour', 'event', 'from', 'to', 'threads'].some(name => changed.has(name)))
    pp.colours.refresh();
  if (parts.search.value !== pp.state.get('search'))
    parts.search.value = pp.state.get('search');
  if (parts.event)
    parts.event.value = pp.state.get('event');
  parts.summary.textContent = summary();
  parts.summary.title = model.trusts().map(({trust, n}) => `${trust}: ${pp.format.plural(n, 'sample')}`).join('\n');
  showMatched();
  showTheme();
  chips();
}

pp.head = {
  start(theModel) {
    model = theModel;
    const paths = model.meta.sides.map(side => pp.safe(side.name)).join('\n');
    const title = pp.el('h1', {title: pp.cut(paths, 2000)}, model.titles().map(name => pp.cut(name, 80)).join(' → '));
    parts.summary = pp.el('span', {class: 'summary'});
    parts.chips = pp.el('span', {class: 'chips', role: 'group', 'aria-label': 'Filters'});
    parts.search = pp.el('input', {type: 'search', id: 'search', placeholder: 'Search (regexp)  /', autocomplete: 'off',
      spellcheck: 'false', 'aria-label': 'Search functions by regular expression',
      oninput: () => pp.state.set({search: parts.search.value})});
    parts.matched = pp.el('output', {class: 'matched', for: 'search'});
    parts.theme = pp.el('button', {type: 'button', class: 'icon', id: 'theme',
      onclick: () => pp.state.set({theme: nextTheme[pp.state.get('theme')]})});
    parts.event = model.events.length < 2 ? null : pp.el('select', {'aria-label': 'Event', id: 'event',
      onchange: () => pp.state.set({event: Number(parts.event.value)})},
    model.events.map((event, i) => pp.el('option', {value: i}, pp.safe(event))));
    const help = pp.help && pp.el('button', {type: 'button', class: 'icon', id: 'help', 'aria-label': 'Keyboard shortcuts',
      title: 'Keyboard shortcuts (?)', onclick: () => pp.help.open()}, '?');
    document.getElementById('head').append(pp.el('span', {class: 'logo', 'aria-hidden': 'true'}, 'polyperf'), title,
      ...[parts.summary, parts.chips, pp.el('span', {class: 'space'}), parts.matched, parts.search, parts.event, parts.theme,
        help].filter(Boolean));
    pp.state.on(update);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      pp.colours.refresh();
      pp.views.update(new Set(['theme']));
    });
    update(new Set());
  },
};
