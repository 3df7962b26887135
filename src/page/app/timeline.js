/* timeline.js - above the views: a lane for each thread or process, with what kind of code ran when, and the brush.
 *
 * Lanes are sorted by activity. A process with several threads is one lane that can be unfolded; of one
 * process the threads are shown at once. Only lanes that can be seen are drawn.
 */

const ROW = 24;
const FEW = 4;       /* lanes that are shown before more are asked for */
const MARGIN = 3;    /* rows beyond the visible ones that are made as well */

let model = null;
let series = null;
let brush = null;
let picture = null;
let axis = null;
let lanes = [];        /* that are there: {title, detail, threads, n, w, depth, process} */
let bin = 1;
let events = null;     /* columns of the code events, once they are there */
const unfolded = new Set();
const parts = {};

pp.state.define('lanes', false); /* more than FEW are shown */

const laneKey = lane => (lane.isProcess ? 'p' : 't') + lane.threads[0];
const byWeight = (a, b) => b.w - a.w || a.threads[0] - b.threads[0];
const sideMark = side => model.isDiff ? ['before: ', 'after: '][side] : '';

function threadLane(thread, total, depth) {
  return {title: sideMark(thread.side) + (thread.comm || String(thread.tid)), detail: String(thread.tid), threads: [thread.id], ...total, depth};
}

/* Threads of one id have had several names: each is a thread of its own in the profile. */
function processes(totals) {
  const known = new Map();
  for (const thread of model.threads) {
    if (!totals[thread.id].n)
      continue;
    const key = `${thread.side} ${thread.pid}`;
    if (!known.has(key))
      known.set(key, {pid: thread.pid, side: thread.side, threads: [], n: 0, w: 0, children: []});
    const process = known.get(key);
    process.children.push(threadLane(thread, totals[thread.id], 1));
    process.n += totals[thread.id].n;
    process.w += totals[thread.id].w;
  }
  for (const process of known.values()) {
    process.children.sort(byWeight);
    process.threads = process.children.map(lane => lane.threads[0]);
  }
  return [...known.values()].sort(byWeight);
}

function findLanes() {
  const all = processes(series.totals());
  if (all.length === 1)
    return all[0].children.map(lane => ({...lane, depth: 0}));
  return all.flatMap(process => {
    if (process.children.length === 1)
      return [{...process.children[0], depth: 0}];
    const main = model.threads.find(thread => thread.pid === process.pid && thread.tid === process.pid && thread.side === process.side);
    const lane = {title: sideMark(process.side) + (main?.comm || process.children[0].title), detail: pp.format.plural(process.children.length, 'thread'),
      threads: process.threads, n: process.n, w: process.w, depth: 0, isProcess: true};
    lane.isUnfolded = unfolded.has(laneKey(lane));
    return lane.isUnfolded ? [lane, ...process.children] : [lane];
  });
}

const laneSums = lane => series.sums(lane.threads, bin);

/* Which lanes can be seen. */
function visible() {
  const first = Math.max(0, Math.floor(parts.scroll.scrollTop / ROW) - MARGIN);
  return [first, Math.min(lanes.length, first + Math.ceil(parts.scroll.clientHeight / ROW) + 2 * MARGIN)];
}

function draw(c, width) {
  const most = laneMost();
  const [first, end] = visible();
  for (let i = first; i < end; i++) {
    const lane = lanes[i];
    const y = i * ROW - parts.scroll.scrollTop;
    const laneSum = laneSums(lane);
    const scale = most || Math.max(series.scale(bin), maximum(laneSum.all));
    c.fillStyle = pp.colours.css('--box');
    c.fillRect(0, y + 2, width, ROW - 3);
    c.globalAlpha = isChosen(lane) ? 1 : 0.3;
    pp.drawSeries(c, laneSum, {width, bottom: y + ROW - 1, height: ROW - 3, scale});
    c.globalAlpha = 1;
  }
}

const maximum = values => values.reduce((most, value) => Math.max(most, value), 0);

/* Of events that are no time lanes are compared with each other. */
function laneMost() {
  if (series.isTime())
    return 0;
  const [first, end] = visible();
  return lanes.slice(first, end).reduce((most, lane) => Math.max(most, maximum(laneSums(lane).all)), 1);
}

function drawAxis(c, width, height) {
  c.fillStyle = pp.colours.css('--quiet');
  c.textBaseline = 'middle';
  pp.eachTick(model, width, 90, (x, ns) => {
    c.fillRect(x, height - 5, 1, 5);
    const text = ns ? pp.format.ns(ns) : '0';
    if (x + 4 + c.measureText(text).width <= width)
      c.fillText(text, x + 4, height / 2);
  });
  if (!events)
    return;
  const [time, kind] = [events.get('events.time'), events.get('events.kind')];
  const fell = events.json('about').kinds.findIndex(({key}) => key === 'fell_back');
  c.fillStyle = pp.colours.css('--fault');
  for (let i = 0; i < time.length; i++)
    if (kind[i] === fell) {
      const x = time[i] / model.bucketNs(model.bucketCount) * width;
      c.beginPath();
      c.moveTo(x - 4, 0);
      c.lineTo(x + 4, 0);
      c.lineTo(x, 6);
      c.fill();
    }
}

function isChosen(lane) {
  const chosen = pp.state.get('threads');
  return !chosen.length || lane.threads.some(id => chosen.includes(id));
}

/* A click chooses the lane alone, or nothing where it was; with Ctrl or Shift it is added or taken out. */
function choose(lane, event) {
  const chosen = new Set(pp.state.get('threads'));
  const isIn = lane.threads.every(id => chosen.has(id));
  const isMore = event.ctrlKey || event.metaKey || event.shiftKey;
  if (!isMore && isIn && chosen.size === lane.threads.length)
    chosen.clear();
  else if (!isMore || !isIn) {
    if (!isMore)
      chosen.clear();
    lane.threads.forEach(id => chosen.add(id));
  } else {
    lane.threads.forEach(id => chosen.delete(id));
  }
  pp.state.set({threads: [...chosen].sort((a, b) => a - b)}, {step: true});
}

function fold(lane) {
  const key = laneKey(lane);
  if (!unfolded.delete(key)) {
    unfolded.add(key);
    pp.state.set({lanes: true});
  }
  refresh();
}

function label(lane, index) {
  const all = lanes.reduce((sum, {w, depth}) => sum + (depth ? 0 : w), 0);
  const chosen = pp.state.get('threads');
  const isPressed = chosen.length > 0 && lane.threads.every(id => chosen.includes(id));
  const row = pp.el('div', {class: 'lane', 'data-lane': laneKey(lane)},
    lane.isProcess && pp.el('button', {type: 'button', class: 'fold', 'aria-expanded': String(Boolean(lane.isUnfolded)),
      'aria-label': `Threads of ${pp.cut(lane.title, 40)}`, onclick: () => fold(lane)}, lane.isUnfolded ? '▾' : '▸'),
    pp.el('button', {type: 'button', class: 'name', 'aria-pressed': String(isPressed),
      title: `${pp.cut(lane.title, 200)} (${lane.detail}): ${pp.format.plural(lane.n, 'sample')}, ${model.formatWeight(lane.w)}`,
      onclick: e => choose(lane, e)},
    pp.el('span', {class: 'what'}, pp.cut(lane.title, 60)), pp.el('span', {class: 'id'}, lane.detail)),
    pp.el('span', {class: 'share'}, pp.format.percent(lane.w, all, 1)));
  row.style.top = index * ROW + 'px';
  row.style.paddingLeft = lane.depth * 14 + 'px';
  return row;
}

/* Labels of visible lanes; the keyboard's focus stays where it was. */
function showLabels() {
  const held = document.activeElement?.closest('.lane');
  const [key, which] = [held?.dataset.lane, held && document.activeElement.className];
  const [first, end] = visible();
  parts.labels.replaceChildren(...lanes.slice(first, end).map((lane, i) => label(lane, first + i)));
  if (key)
    parts.labels.querySelector(`[data-lane="${key}"] .${which}`)?.focus({preventScroll: true});
}

function refresh() {
  lanes = findLanes();
  const isAll = pp.state.get('lanes');
  const shown = isAll ? lanes.length : Math.min(FEW, lanes.length);
  if (!isAll)
    lanes = lanes.slice(0, FEW + (lanes.length === FEW + 1 ? 1 : 0));
  const hidden = findLanes().length - lanes.length;
  parts.scroll.style.height = Math.max(1, Math.min(isAll ? 12 : shown + 1, lanes.length)) * ROW + 'px';
  parts.content.style.height = lanes.length * ROW + 'px';
  parts.picture.style.height = parts.scroll.clientHeight + 'px';
  parts.axis.style.marginRight = parts.scroll.offsetWidth - parts.scroll.clientWidth + 'px';
  parts.more.hidden = !hidden && !isAll;
  parts.more.textContent = hidden ? `${pp.format.count(hidden)} more` : 'Fewer';
  parts.more.setAttribute('aria-expanded', String(isAll));
  showLabels();
  picture.draw();
  axis.draw();
}

function tell() {
  const [from, to] = brush.range;
  const isAll = to - from === model.bucketCount;
  parts.range.textContent = isAll ? ''
    : `${pp.format.ns(model.bucketNs(from))} – ${pp.format.ns(model.bucketNs(to))} (${pp.format.ns(model.bucketNs(to - from))})`;
  parts.whole.hidden = isAll;
}

function point(event) {
  const {left, top, width} = parts.plot.getBoundingClientRect();
  const lane = lanes[Math.floor((event.clientY - top) / ROW)];
  const at = Math.floor((event.clientX - left) / width * model.bucketCount / bin);
  const sum = lane && laneSums(lane);
  if (!sum || at < 0 || at >= sum.bins || brush.drag?.isMoved) {
    pp.tooltip.hide();
    return;
  }
  const facts = [['Time', pp.format.ns(model.bucketNs(at * bin))]];
  if (series.isTime())
    facts.push(['Active', pp.format.percent(sum.all[at], series.scale(bin), 0)]);
  series.levels.forEach(({text}, level) => sum.of[level][at] &&
    facts.push([text, pp.format.percent(sum.of[level][at], sum.all[at], 0)]));
  pp.tooltip.show(event.clientX, event.clientY, [lane.title, ...facts]);
}

function rescale() {
  bin = series.bin(parts.plot.clientWidth || 1000);
}

pp.views.register({
  id: 'timeline',
  title: 'Timeline',
  place: 'top',

  mount(element, theModel) {
    model = theModel;
    series = pp.series(model);
    parts.range = pp.el('output', {class: 'range'});
    parts.whole = pp.el('button', {type: 'button', onclick: () => pp.state.reset('from', 'to')}, 'Whole run');
    parts.more = pp.el('button', {type: 'button', class: 'more', onclick: () => {
      pp.state.set({lanes: !pp.state.get('lanes')});
    }});
    parts.axis = pp.el('div', {class: 'axis'});
    parts.labels = pp.el('div', {class: 'labels'});
    parts.plot = pp.el('div', {class: 'plot', onmousemove: point, onmouseleave: () => pp.tooltip.hide()});
    parts.picture = pp.el('div', {class: 'picture'});
    parts.content = pp.el('div', {class: 'content'}, parts.labels, parts.plot);
    parts.scroll = pp.el('div', {class: 'lanes', role: 'group', 'aria-label': 'Threads, most active first'}, parts.content);
    element.append(
      pp.el('div', {class: 'timehead'}, pp.el('span', {class: 'timebar'}, parts.more, parts.whole, parts.range), parts.axis),
      parts.scroll);
    parts.plot.append(parts.picture);
    axis = new pp.Picture(parts.axis, drawAxis);
    picture = new pp.Picture(parts.picture, (c, width, height) => draw(c, width, height));
    brush = new pp.Brush(parts.plot, model, {handles: true});
    parts.scroll.addEventListener('scroll', pp.later(() => {
      showLabels();
      picture.draw();
    }));
    rescale();
    pp.block('events').then(columns => {
      events = columns;
      axis.draw();
    });
  },

  update(changed) {
    rescale();
    brush.update();
    tell();
    if (['event', 'lanes', 'threads', 'view', 'size', 'theme'].some(name => changed.has(name)))
      refresh();
  },
});
