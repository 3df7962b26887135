/* model.js - the profile, and what of it the filters leave.
 *
 * Tables (docs/page.md), ids from 0 unless said otherwise:
 *   function   one compilation of a function: name, object, runtime, tier, version
 *   group      a function as people think of it, however often it was compiled: what is drawn
 *   frame      a function with the trust its name has
 *   stack      a caller's stack and a frame; ids from 1, 0 is the root; a caller's id is below its callees'
 *   row        samples of one event, bucket of time, thread and stack
 *
 *   const model = new pp.Model(await pp.block('main'));
 *   model.text(model.groups.name[g])       a string, as it is: show it through pp.safe
 *   model.name(g)                          made safe
 *   model.summed()                         weights of stacks and groups under the filters, see sum()
 *   model.matches()                        which groups the search finds
 *
 * With two recordings (`model.isDiff`) each thread is of a side, 0 or 1, and weights come as `a` and `b`;
 * `w`, by which everything is drawn and sorted, is then the mean of the shares. With one, w is a.
 */

const FILTERS = ['event', 'from', 'to', 'threads'];

pp.Model = class Model {
  constructor(columns) {
    this.columns = columns;
    this.meta = columns.json('meta');
    this.events = this.meta.events;
    this.isDiff = this.meta.sides.some(side => side.after);
    this.durationNs = Math.max(...this.meta.sides.map(side => Number(BigInt(side.last_ns) - BigInt(side.first_ns))));
    this.strings = new Map();
    this.stackCount = columns.get('stacks.parent').length;
    this.bucketCount = columns.get('rows.bucket').reduce((max, bucket) => Math.max(max, bucket + 1), 1);
    this.makeThreads();
    this.makeGroups();
    this.makeStacks();
    this.cache = new Map();
    pp.state.on(changed => {
      if (FILTERS.some(name => changed.has(name)))
        this.cache.delete('sum');
      if (changed.has('search'))
        this.cache.delete('matches');
    });
  }

  text(id) {
    if (!id)
      return '';
    let text = this.strings.get(id);
    if (text === undefined) {
      const ends = this.columns.get('strings.end');
      const bytes = this.columns.get('strings.bytes').subarray(id > 1 ? ends[id - 2] : 0, ends[id - 1]);
      text = new TextDecoder().decode(bytes);
      this.strings.set(id, text);
    }
    return text;
  }

  /* A title for each side: the names of its files, with the folders in which those of two sides differ. */
  titles() {
    const paths = [false, true].map(after => this.meta.sides.filter(side => side.after === after)
      .map(side => pp.safe(side.name).split('/')));
    const last = path => path[path.length - 1];
    let drop = 0;
    if (paths[0].every(path => paths[1].every(other => last(path) !== last(other))))
      return paths.filter(list => list.length).map(list => list.map(last).join(', '));
    while (paths.flat().every(path => path.length > drop + 1 && path[drop] === paths[0][0][drop]))
      drop++;
    return paths.map(list => list.map(path => path.slice(drop).join('/')).join(', '));
  }

  name(group) { return pp.safe(this.text(this.groups.name[group])); }

  isUnknown(group) {
    return this.columns.get('functions.flags')[this.groups.functions[group][0]] & 1;
  }

  /* Nanoseconds from the start of the recording to the start of a bucket. */
  bucketNs(bucket) { return bucket * this.meta.bucket_ns; }

  /* [{id, side, pid, tid, comm}] of threads that have samples. */
  makeThreads() {
    const get = name => this.columns.get('threads.' + name);
    this.threads = Array.from(get('pid'), (pid, id) => (
      {id, side: get('side')[id], pid, tid: get('tid')[id], comm: pp.safe(this.text(get('comm')[id]))}));
  }

  /* Of functions that are equal on two sides the name is that of the later one. */
  makeGroups() {
    const [name, object, runtime] = ['name', 'object', 'runtime'].map(column => this.columns.get('functions.' + column));
    this.groupOf = this.columns.has('functions.group') ? this.columns.get('functions.group') : byName(name, object, runtime);
    const count = this.groupOf.reduce((most, group) => Math.max(most, group + 1), 0);
    const strings = () => new Uint32Array(count);
    this.groups = {name: strings(), object: strings(), runtime: strings(), functions: Array.from({length: count}, () => [])};
    this.groupOf.forEach((group, f) => {
      this.groups.name[group] = name[f];
      this.groups.object[group] = object[f];
      this.groups.runtime[group] = runtime[f];
      this.groups.functions[group].push(f);
    });
    this.groupCount = count;
  }

  /* By stack: its group, its first callee, the next of its caller's, and whether no caller is of its group. */
  makeStacks() {
    const parent = this.columns.get('stacks.parent');
    const frame = this.columns.get('stacks.frame');
    const frameFunction = this.columns.get('frames.function');
    const count = this.stackCount + 1;
    this.parent = new Uint32Array(count);
    this.functionOf = new Uint32Array(count);
    this.stackGroup = new Uint32Array(count);
    this.firstChild = new Uint32Array(count);
    this.nextSibling = new Uint32Array(count);
    this.frameOf = frame;
    for (let s = count - 1; s > 0; s--) {
      const caller = parent[s - 1];
      this.parent[s] = caller;
      this.functionOf[s] = frameFunction[frame[s - 1]];
      this.stackGroup[s] = this.groupOf[this.functionOf[s]];
      this.nextSibling[s] = this.firstChild[caller];
      this.firstChild[caller] = s;
    }
    this.markOutermost();
  }

  markOutermost() {
    const active = new Uint32Array(this.groupCount);
    this.isOutermost = new Uint8Array(this.stackCount + 1);
    for (let s = this.firstChild[0]; s;) {
      this.isOutermost[s] = active[this.stackGroup[s]]++ ? 0 : 1;
      if (this.firstChild[s]) {
        s = this.firstChild[s];
        continue;
      }
      for (; s; s = this.parent[s]) {
        active[this.stackGroup[s]]--;
        if (this.nextSibling[s]) {
          s = this.nextSibling[s];
          break;
        }
      }
    }
  }

  cached(name, make) {
    if (!this.cache.has(name))
      this.cache.set(name, make());
    return this.cache.get(name);
  }

  /* Calls each(row) for the rows that the filters leave. Rows are in the order of event and bucket. */
  eachRow(each) {
    const [event, bucket, thread] = ['event', 'bucket', 'thread'].map(name => this.columns.get('rows.' + name));
    const wanted = pp.state.get('event');
    const from = Math.max(0, pp.state.get('from'));
    const to = pp.state.get('to') < 0 ? Infinity : pp.state.get('to');
    const chosen = pp.state.get('threads');
    const isChosen = new Uint8Array(this.threads.length).fill(chosen.length ? 0 : 1);
    for (const id of chosen)
      isChosen[id] = 1;
    for (let row = 0; row < event.length; row++)
      if (event[row] === wanted && bucket[row] >= from && bucket[row] < to && isChosen[thread[row]])
        each(row);
  }

  /* Under the filters:
   *   stacks   {self: {a, b, w, n}, total: {a, b, w, n}}, each a Float64Array by stack; n: samples
   *   groups   the same by group; total counts a sample once, however often the function is in its stack
   *   all      {a, b, w, n}: of everything
   */
  summed() { return this.cached('sum', () => this.sum()); }

  sum() {
    const self = measures(this.stackCount + 1);
    const [stack, thread, count, weight] = ['stack', 'thread', 'count', 'weight'].map(
      name => this.columns.get('rows.' + name));
    this.eachRow(row => {
      const side = this.threads[thread[row]].side ? self.b : self.a;
      side[stack[row]] += weight[row];
      self.n[stack[row]] += count[row];
    });
    const all = {a: addUp(self.a), b: addUp(self.b), n: addUp(self.n)};
    for (let s = 0; s <= this.stackCount; s++)
      self.w[s] = this.isDiff ? this.share(self.a[s], self.b[s], all) : self.a[s];
    all.w = addUp(self.w);
    const total = {a: self.a.slice(), b: self.b.slice(), w: self.w.slice(), n: self.n.slice()};
    for (const values of Object.values(total))
      for (let s = this.stackCount; s > 0; s--)
        values[this.parent[s]] += values[s];
    return {stacks: {self, total}, groups: this.sumGroups(self, total), all};
  }

  /* Where one side has nothing left, the other one is the whole. */
  share(a, b, all) {
    const sides = (all.a ? 1 : 0) + (all.b ? 1 : 0);
    return ((all.a ? a / all.a : 0) + (all.b ? b / all.b : 0)) / Math.max(1, sides);
  }

  sumGroups(self, total) {
    const groups = {self: measures(this.groupCount), total: measures(this.groupCount)};
    for (const name of ['a', 'b', 'w', 'n'])
      for (let s = 1; s <= this.stackCount; s++) {
        groups.self[name][this.stackGroup[s]] += self[name][s];
        if (this.isOutermost[s])
          groups.total[name][this.stackGroup[s]] += total[name][s];
      }
    return groups;
  }

  /* Samples by the trust of what ran: [{trust, n}] in the order of meta.trusts. */
  trusts() {
    const {self} = this.summed().stacks;
    const trust = this.columns.get('frames.trust');
    const counts = this.meta.trusts.map(name => ({trust: name, n: 0}));
    for (let s = 1; s <= this.stackCount; s++)
      counts[trust[this.frameOf[s - 1]]].n += self.n[s];
    return counts.filter(({n}) => n);
  }

  /* Of two recordings: {self, total}, Float64Arrays by group: a share that changed by no more may have done so
   * by chance. Null under filters, for which it was not worked out.
   */
  noise() {
    const isWhole = FILTERS.every(name => name === 'event' || pp.state.isDefault(name));
    if (!isWhole || !this.columns.has('noise.event') ||
        this.columns.get('noise.event') !== this.events[pp.state.get('event')])
      return null;
    return this.cached('noise', () => Object.fromEntries(['self', 'total'].map(name => {
      const values = new Float64Array(this.groupCount);
      this.columns.get('noise.group').forEach((group, i) => { values[group] = this.columns.get('noise.' + name)[i]; });
      return [name, values];
    })));
  }

  /* {isMatch: Uint8Array by group, error}, or null without a search. What is no regular expression is a text. */
  matches() {
    return this.cached('matches', () => {
      const search = pp.state.get('search');
      if (!search)
        return null;
      let error = null;
      let test;
      try {
        const pattern = new RegExp(search, /[A-Z]/.test(search) ? '' : 'i');
        test = text => pattern.test(text);
      } catch (e) {
        error = e.message;
        test = text => text.includes(search);
      }
      return {isMatch: Uint8Array.from({length: this.groupCount}, (_, g) =>
        test(this.text(this.groups.name[g]).slice(0, 4096)) ? 1 : 0), error};
    });
  }

  /* Weight of the samples whose stack has a match. */
  matchedWeight() {
    const matches = this.matches();
    if (!matches)
      return 0;
    const {self} = this.summed().stacks;
    const has = new Uint8Array(this.stackCount + 1);
    let sum = 0;
    for (let s = 1; s <= this.stackCount; s++) {
      has[s] = has[this.parent[s]] | matches.isMatch[this.stackGroup[s]];
      if (has[s])
        sum += self.w[s];
    }
    return sum;
  }

  /* The tiers that a group was compiled in. */
  tiers(group) {
    const tier = this.columns.get('functions.tier');
    return [...new Set(this.groups.functions[group].map(f => pp.safe(this.text(tier[f]))))].filter(Boolean).join(' ');
  }

  /* A weight of the chosen event, as people read it. */
  formatWeight(weight) {
    return /clock/.test(this.events[pp.state.get('event')] ?? '') ? pp.format.ns(weight) : pp.format.count(weight);
  }
};

/* A number for each name, object and runtime. */
function byName(...columns) {
  const known = new Map();
  return Uint32Array.from(columns[0], (_, f) => {
    const id = columns.map(column => column[f]).join();
    if (!known.has(id))
      known.set(id, known.size);
    return known.get(id);
  });
}

const measures = count => ({a: new Float64Array(count), b: new Float64Array(count), w: new Float64Array(count),
  n: new Float64Array(count)});

function addUp(values) {
  let sum = 0;
  for (const value of values)
    sum += value;
  return sum;
}
