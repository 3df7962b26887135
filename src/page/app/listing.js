/* listing.js - one function's document, as annotate writes it: its source lines and its instructions as tables.
 *
 *   const document = await pp.documentOf(model, group);        null where the page has none of it
 *   document.function, .files, .source                         docs/annotate.md
 *   pp.sourceTable(document, version)                          an element; version null: all of them
 *   pp.codeTable(document, version)
 *
 * A click on a line marks the instructions made from it, and the other way round.
 */

const ROWS = 1200;

/* Which function ids have a block. */
let ids = null;
const loaded = new Map();

pp.documentOf = async (model, group) => {
  ids ??= model.columns.has('documents.function') ? new Set(model.columns.get('documents.function')) : new Set();
  const id = model.groups.functions[group]?.find(f => ids.has(f));
  if (id === undefined)
    return null;
  if (!loaded.has(id))
    loaded.set(id, pp.block('function-' + id).then(columns => {
      const json = columns.json('json');
      return {...json, function: json.functions[0], source: columns.json('source')};
    }));
  return loaded.get(id);
};

pp.hasDocument = (model, group) => {
  ids ??= model.columns.has('documents.function') ? new Set(model.columns.get('documents.function')) : new Set();
  return model.groups.functions[group].some(f => ids.has(f));
};

const fileName = path => pp.safe(path).replace(/^.*\//, '') || path;

function countCells(samples, whole) {
  const cell = pp.el('td', {class: 'bar-cell'}, samples ? pp.format.percent(samples, whole) : '');
  cell.style.backgroundSize = `${whole ? Math.min(100, samples / whole * 100) : 0}% 100%`;
  return [cell, pp.el('td', {}, samples ? pp.format.count(samples) : '')];
}

const head = titles => pp.el('thead', {}, pp.el('tr', {}, titles.map(([title, text]) =>
  pp.el('th', {scope: 'col', class: text ? 'text' : null}, title))));

/* What a row is of: rows of both tables with the same are marked together. */
const placeOf = (file, line) => line ? `${file}:${line}` : null;

function mark(event) {
  const place = event.target.closest('tr')?.dataset.place;
  const view = event.target.closest('.view');
  for (const row of view.querySelectorAll('tr.linked'))
    row.classList.remove('linked');
  if (!place)
    return;
  const own = event.currentTarget;
  for (const row of view.querySelectorAll(`tr[data-place="${place}"]`)) {
    row.classList.add('linked');
    if (row.closest('table') !== own && !view.querySelector('tr.seen'))
      row.classList.add('seen');
  }
  const other = view.querySelector('tr.seen');
  other?.classList.remove('seen');
  other?.scrollIntoView({block: 'nearest'});
}

function scrollable(label, table) {
  return pp.el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label}, table);
}

/* By place: {file, line, samples, text}, with the lines around; in the order of file and line. */
function sourceLines({function: f, source}, version) {
  const lines = new Map(source.map(({file, line, text}) => [placeOf(file, line), {file, line, text, samples: 0}]));
  for (const {file, line, samples, text} of version ? version.lines : f.lines) {
    const key = placeOf(file, line) ?? 'none';
    const known = lines.get(key);
    if (known)
      known.samples += samples;
    else
      lines.set(key, {file, line, text, samples});
  }
  return [...lines.values()].sort((a, b) => a.file - b.file || a.line - b.line);
}

pp.sourceTable = (document, version) => {
  const lines = sourceLines(document, version);
  const whole = (version ?? document.function).samples;
  const body = pp.el('tbody');
  let last = null;
  for (const {file, line, text, samples} of lines) {
    const of = document.files[file];
    if (file !== last?.file && of?.path)
      body.append(pp.el('tr', {class: 'file'}, pp.el('td', {colspan: '4', class: 'text', title: pp.cut(pp.safe(of.found ?? ''), 600)},
        pp.cut(pp.safe(of.path), 300), of.is_newer && pp.el('em', {}, ' changed after the recording'), !of.found && pp.el('em', {}, ' not found'))));
    else if (last && line > last.line + 1 && file === last.file)
      body.append(pp.el('tr', {class: 'gap', 'aria-hidden': 'true'}, pp.el('td', {colspan: '4'}, '⋯')));
    body.append(pp.el('tr', {'data-place': placeOf(file, line), 'data-samples': samples}, countCells(samples, whole),
      pp.el('td', {class: 'number'}, line ? String(line) : ''),
      pp.el('td', {class: 'text code grows'}, line ? pp.cut(pp.safe(text ?? ''), 1000) : pp.el('em', {}, 'line not known'))));
    last = {file, line};
  }
  const table = pp.el('table', {class: 'functions listing', onclick: mark}, head([['Share'], ['Samples'], ['Line'], ['Source', true]]), body);
  return lines.length ? scrollable('Source lines', table) : pp.el('p', {class: 'note'}, 'The lines of this code are not known.');
};

/* Functions inlined around an instruction, the outermost first. */
function chainOf(scopes, scope) {
  const chain = [];
  for (let at = scope ?? null; at !== null && scopes[at] && chain.length < 64; at = scopes[at].around)
    chain.unshift(at);
  return chain;
}

function enteredRow(scopes, chain, depth) {
  const {name, call_file: file, call_line: line} = scopes[chain[depth]];
  const row = pp.el('tr', {class: 'scope'}, pp.el('td', {colspan: '3'}), pp.el('td', {class: 'text code', colspan: '2'},
    pp.el('span', {class: 'inlined'}, `inlined: ${pp.cut(pp.safe(name), 300)}`), line ? `  called at ${pp.cut(fileName(file), 80)}:${line}` : ''));
  row.lastChild.style.paddingLeft = 8 + depth * 14 + 'px';
  return row;
}

function notes(list) {
  return (list ?? []).map(({kind, text}) => pp.el('span', {class: 'badge'}, pp.cut(pp.safe(text ? `${kind}: ${text}` : kind), 200)));
}

function instructionRow(document, version, row, depth) {
  const words = [pp.safe(row.text ?? '')];
  if (row.target_name)
    words.push(pp.el('span', {class: 'target'}, pp.cut(pp.safe(row.target_name), 300)));
  else if (row.target_offset !== undefined)
    words.push(pp.el('span', {class: 'target'}, '+0x' + row.target_offset.toString(16)));
  else if (row.target)
    words.push(pp.el('span', {class: 'target'}, row.target));
  const other = {inside: 'between two instructions', beyond: 'behind the code that is known', nowhere: 'at a place that is not known'};
  const made = pp.el('tr', {'data-place': placeOf(row.file, row.line), 'data-samples': row.samples, class: row.kind === 'code' ? null : 'odd'},
    countCells(row.samples, version.samples),
    pp.el('td', {class: 'number'}, row.offset === undefined ? '' : row.offset.toString(16)),
    pp.el('td', {class: 'text code grows'}, words[0] ? words.flatMap(word => [word, ' ']) : pp.el('em', {}, other[row.kind] ?? row.kind), notes(row.notes)),
    pp.el('td', {class: 'text'}, row.line ? `${pp.cut(fileName(document.files[row.file]?.path ?? ''), 40)}:${row.line}` : ''));
  made.children[3].style.paddingLeft = 8 + depth * 14 + 'px';
  return made;
}

function offsetRows(version) {
  return (version.offsets ?? []).map(({offset, samples}) => pp.el('tr', {'data-samples': samples}, countCells(samples, version.samples),
    pp.el('td', {class: 'number'}, offset === null ? '' : offset.toString(16)), pp.el('td', {class: 'text grows'}), pp.el('td')));
}

function codeRows(document, version, rows, body) {
  let before = [];
  for (const row of rows) {
    const chain = chainOf(version.scopes, row.scope);
    const same = chain.findIndex((scope, i) => before[i] !== scope);
    if (same >= 0)
      for (let depth = same; depth < chain.length; depth++)
        body.append(enteredRow(version.scopes, chain, depth));
    before = chain;
    body.append(instructionRow(document, version, row, chain.length));
  }
}

/* Around the hottest instruction, where there are very many. */
function window(rows) {
  if (rows.length <= ROWS)
    return rows;
  const hottest = rows.reduce((best, row, i) => row.samples > rows[best].samples ? i : best, 0);
  const first = Math.max(0, Math.min(rows.length - ROWS, hottest - ROWS / 2));
  return rows.slice(first, first + ROWS);
}

pp.codeTable = (document, version) => {
  const body = pp.el('tbody');
  const rows = version.instructions ?? [];
  const shown = window(rows);
  codeRows(document, version, shown, body);
  body.append(...offsetRows(version));
  const table = pp.el('table', {class: 'functions listing', onclick: mark},
    head([['Share'], ['Samples'], ['Offset'], ['Instruction', true], ['Line', true]]), body);
  const host = scrollable('Instructions', table);
  if (!rows.length)
    host.prepend(pp.el('p', {class: 'note'}, `No instructions: ${version.no_instructions ?? 'there are none'}.`));
  if (shown.length < rows.length)
    host.append(pp.el('button', {type: 'button', class: 'more', onclick: event => {
      body.replaceChildren();
      codeRows(document, version, rows, body);
      event.target.remove();
    }}, `Show all ${pp.format.count(rows.length)} instructions`));
  return host;
};
