/* series.js - samples over time, by level: what kind of code ran (src/profile/level.h).
 *
 *   const series = pp.series(model);                 one for all views
 *   series.levels                                    [{key, text}], in the order in which they are stacked
 *   series.levelOf[stack]                            into levels: of the code at the stack's end
 *   const bin = series.bin(width);                   buckets that one step of a picture `width` pixels wide has
 *   series.sums(threads, bin)                        {of: [Float64Array by bin], all: Float64Array, bins}, by level
 *   series.scale(bin)                                what a weight of a bin is divided by: 1 is one busy processor
 *
 * Sums are of the chosen event, whatever the other filters.
 */

const SAMPLES_A_BIN = 6; /* of the busiest thread: fewer look like noise */
const BINS_LEAST = 120;
const NS_LEAST = 1000; /* no clock samples more often */
const KEPT = 100; /* sums that are kept */

class Series {
  constructor(model) {
    this.model = model;
    this.levels = model.meta.levels;
    this.levelOf = this.findLevels();
    this.byThread = new Map(); /* by event, as the next */
    this.totalsOf = new Map();
    this.known = new Map(); /* sums, by what they are of */
  }

  findLevels() {
    const {model} = this;
    const index = new Map(this.levels.map(({key}, i) => [key, i]));
    const of = new Uint8Array(model.stackCount + 1).fill(index.get('unknown'), 0, 1);
    for (let s = 1; s <= model.stackCount; s++)
      of[s] = index.get(pp.colours.levelOf(model.functionOf[s], model.frameOf[s - 1]));
    return of;
  }

  /* Rows of the event, each thread's together: {rows, ends}; of thread t from ends[t - 1] up to ends[t]. */
  threadRows() {
    const event = pp.state.get('event');
    if (!this.byThread.has(event))
      this.byThread.set(event, this.sortRows(event));
    return this.byThread.get(event);
  }

  sortRows(wanted) {
    const [event, thread] = ['event', 'thread'].map(name => this.model.columns.get('rows.' + name));
    const ends = new Uint32Array(this.model.threads.length);
    const isWanted = row => event[row] === wanted;
    for (let row = 0; row < event.length; row++)
      if (isWanted(row))
        ends[thread[row]]++;
    let sum = 0;
    const next = ends.map(count => (sum += count) - count);
    const rows = new Uint32Array(sum);
    for (let row = 0; row < event.length; row++)
      if (isWanted(row))
        rows[next[thread[row]]++] = row;
    return {rows, ends: next};
  }

  eachRow(thread, each) {
    const {rows, ends} = this.threadRows();
    for (let at = thread ? ends[thread - 1] : 0; at < ends[thread]; at++)
      each(rows[at]);
  }

  /* [{n, w}] by thread. */
  totals() {
    const event = pp.state.get('event');
    if (!this.totalsOf.has(event))
      this.totalsOf.set(event, this.sumThreads());
    return this.totalsOf.get(event);
  }

  sumThreads() {
    const [count, weight] = ['count', 'weight'].map(name => this.model.columns.get('rows.' + name));
    return this.model.threads.map(({id}) => {
      const total = {n: 0, w: 0};
      this.eachRow(id, row => {
        total.n += count[row];
        total.w += weight[row];
      });
      return total;
    });
  }

  /* Whether weights are nanoseconds. Where samples have no period each weighs 1, whatever the event. */
  isTime() {
    const [n, w] = this.totals().reduce(([samples, weight], total) => [samples + total.n, weight + total.w], [0, 0]);
    return /clock/.test(this.model.events[pp.state.get('event')] ?? '') && w >= n * NS_LEAST;
  }

  bin(width) {
    const {bucketCount} = this.model;
    const busiest = this.totals().reduce((most, {n}) => Math.max(most, n), 1);
    const most = Math.max(1, Math.floor(bucketCount / BINS_LEAST));
    return Math.max(1, Math.ceil(bucketCount / Math.max(1, width)),
      Math.min(most, Math.ceil(bucketCount / busiest * SAMPLES_A_BIN)));
  }

  sums(threads, bin) {
    const key = [pp.state.get('event'), bin, ...threads].join();
    if (this.known.size > KEPT)
      this.known.clear();
    if (!this.known.has(key))
      this.known.set(key, this.sum(threads, bin));
    return this.known.get(key);
  }

  sum(threads, bin) {
    const [bucket, stack, weight] = ['bucket', 'stack', 'weight'].map(name => this.model.columns.get('rows.' + name));
    const bins = Math.ceil(this.model.bucketCount / bin);
    const of = this.levels.map(() => new Float64Array(bins));
    const all = new Float64Array(bins);
    for (const thread of threads)
      this.eachRow(thread, row => {
        const at = Math.floor(bucket[row] / bin);
        of[this.levelOf[stack[row]]][at] += weight[row];
        all[at] += weight[row];
      });
    return {of, all, bins, bin};
  }

  scale(bin) { return this.isTime() ? bin * this.model.meta.bucket_ns : 0; }
}

let made = null;

pp.series = model => {
  if (made?.model !== model)
    made = new Series(model);
  return made;
};

/* Draws sums as areas that lie upon each other, from `bottom` up: 1 of the scale is `height` pixels. */
pp.drawSeries = (c, sums, {left = 0, width, bottom, height, scale, share = false}) => {
  const colours = made.levels.map(({key}) => pp.colours.level(key).fill);
  const step = width * sums.bin / made.model.bucketCount;
  for (let at = 0; at < sums.bins; at++) {
    const x = Math.round(left + at * step);
    const w = Math.round(Math.min(left + width, left + (at + 1) * step)) - x;
    const whole = share ? sums.all[at] : scale;
    let y = bottom;
    for (let level = 0; whole && level < colours.length; level++) {
      const tall = sums.of[level][at] / whole * height;
      if (!tall)
        continue;
      c.fillStyle = colours[level];
      c.fillRect(x, y - tall, w, tall);
      y -= tall;
    }
  }
};

/* Steps of 1, 2 or 5 of a power of ten, at least `apart` pixels from each other: each(x, ns). */
pp.eachTick = (model, width, apart, each) => {
  const whole = model.bucketNs(model.bucketCount);
  const least = whole * apart / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= least) ?? power * 10;
  for (let ns = 0; ns < whole; ns += step)
    each(ns / whole * width, ns);
};

/* A canvas as large as its host, drawn again when that changes: draw(context, width, height). */
pp.Picture = class Picture {
  constructor(host, draw) {
    this.host = host;
    this.canvas = pp.el('canvas', {'aria-hidden': 'true'});
    host.append(this.canvas);
    this.paint = draw;
    this.draw = pp.later(() => this.now());
    new ResizeObserver(() => this.draw()).observe(host);
  }

  now() {
    const [width, height, ratio] = [this.host.clientWidth, this.host.clientHeight, devicePixelRatio || 1];
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (!w || !h)
      return;
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.width = width + 'px';
      this.canvas.style.height = height + 'px';
    }
    const c = this.canvas.getContext('2d');
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
    this.paint(c, width, height);
  }
};
