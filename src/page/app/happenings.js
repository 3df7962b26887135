/* happenings.js - what became of code over the run: the page's block `events` (docs/events.md).
 *
 *   const told = await pp.happenings(model);      null where the page has none
 *   told.about                                    {count, listed, functions, untimed, earlier, kinds}
 *   told.list                                     [{time, earliest, kind, isInferred, name, ...}], in time order
 *   told.changed                                  [{name, object, runtime, group, compiled, fellBack, unloaded, size}]
 *   told.sums(kind, bin)                          Float64Array: how many in each bin of so many buckets
 *   told.kindOf('fell_back')                      its number
 *
 * `group` is -1 where no sample is of the function. Names are safe to be shown.
 */

class Happenings {
  constructor(model, columns) {
    this.model = model;
    this.columns = columns;
    this.about = columns.json('about');
    const ends = columns.get('strings.end');
    const bytes = columns.get('strings.bytes');
    const decoder = new TextDecoder();
    this.strings = ['', ...Array.from(ends, (end, i) => pp.safe(decoder.decode(bytes.subarray(i ? ends[i - 1] : 0, end))))];
    this.list = this.makeList();
    this.changed = this.makeChanged();
  }

  groupOf(functionAfter) { return functionAfter ? this.model.groupOf[functionAfter - 1] : -1; }

  makeList() {
    const get = name => this.columns.get('events.' + name);
    const [time, earliest, kind, inferred, pid, tid, size, of] = ['time', 'earliest', 'kind', 'inferred', 'pid', 'tid', 'size',
      'function'].map(get);
    const [name, object, runtime, tier, from] = ['name', 'object', 'runtime', 'tier', 'from_tier'].map(get);
    return Array.from(time, (ns, i) => ({
      time: ns, earliest: earliest[i], kind: kind[i], isInferred: inferred[i] === 1, pid: pid[i], tid: tid[i], size: size[i],
      group: this.groupOf(of[i]), name: this.strings[name[i]], object: this.strings[object[i]],
      runtime: this.strings[runtime[i]], tier: this.strings[tier[i]], from: this.strings[from[i]],
    }));
  }

  makeChanged() {
    const get = name => this.columns.get('changed.' + name);
    const [name, object, runtime, of, compiled, fellBack, unloaded, size] = ['name', 'object', 'runtime', 'function',
      'compiled', 'fell_back', 'unloaded', 'size'].map(get);
    return Array.from(name, (id, i) => ({name: this.strings[id], object: this.strings[object[i]], runtime: this.strings[runtime[i]],
      group: this.groupOf(of[i]), compiled: compiled[i], fellBack: fellBack[i], unloaded: unloaded[i], size: size[i]}));
  }

  kindOf(key) { return this.about.kinds.findIndex(kind => kind.key === key); }

  sums(wanted, bin) {
    const [bucket, kind, count] = ['bucket', 'kind', 'count'].map(name => this.columns.get('sums.' + name));
    const of = new Float64Array(Math.ceil(this.model.bucketCount / bin));
    for (let i = 0; i < bucket.length; i++)
      if (kind[i] === wanted && bucket[i] < this.model.bucketCount)
        of[Math.floor(bucket[i] / bin)] += count[i];
    return of;
  }

  /* Events in the chosen time, of the processes that the chosen threads are of. */
  filtered() {
    const [from, to] = [pp.state.get('from'), pp.state.get('to')];
    const [first, end] = from < 0 ? [-Infinity, Infinity]
      : [this.model.bucketNs(from), to < 0 ? Infinity : this.model.bucketNs(to)];
    const pids = new Set(pp.state.get('threads').map(id => this.model.threads[id]?.pid));
    return this.list.filter(({time, pid}) => time >= first && time < end && (!pids.size || pids.has(pid)));
  }
}

let made = null;

pp.happenings = async model => {
  if (made === null) {
    const columns = await pp.block('events');
    made = columns ? new Happenings(model, columns) : false;
  }
  return made || null;
};
