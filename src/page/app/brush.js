/* brush.js - chooses a stretch of time, which filters every view: fields `from` and `to`, in buckets.
 *
 *   const brush = new pp.Brush(host, model, {handles: true});     over a picture of the whole time
 *   brush.update();                                               when the state has changed
 *
 * Dragging chooses; dragging an end moves it, with Shift the whole; a double click or Escape takes all again.
 * Handles are sliders for the keyboard: arrows, Page Up and Down, Home, End; with Shift both move.
 */

const APART_MS = 160; /* browsers bear no more than some changes of the address a second */
const GRIP = 6;
const DRAG = 3;

pp.Brush = class Brush {
  constructor(host, model, {handles = false} = {}) {
    this.host = host;
    this.model = model;
    this.before = pp.el('div', {class: 'shade'});
    this.after = pp.el('div', {class: 'shade'});
    host.classList.add('brush');
    host.append(this.before, this.after);
    this.handles = handles ? ['Start', 'End'].map((name, i) => this.makeHandle(name, i)) : [];
    host.append(...this.handles);
    for (const type of ['down', 'move', 'up', 'cancel'])
      host.addEventListener('pointer' + type, e => this[type](e));
    host.addEventListener('dblclick', () => this.choose(0, model.bucketCount, true));
  }

  makeHandle(name, index) {
    return pp.el('div', {class: 'handle', role: 'slider', tabindex: '0', 'aria-label': `${name} of the time that is shown`,
      'aria-orientation': 'horizontal', 'aria-valuemin': '0', 'aria-valuemax': this.model.bucketCount,
      onkeydown: e => this.key(e, index)});
  }

  /* What is chosen, also while that is not yet told to others. */
  get range() {
    if (this.wanted)
      return this.wanted;
    const [from, to] = [pp.state.get('from'), pp.state.get('to')];
    return from < 0 ? [0, this.model.bucketCount]
      : [Math.min(from, this.model.bucketCount - 1), to < 0 ? this.model.bucketCount : Math.min(to, this.model.bucketCount)];
  }

  choose(from, to, isLast = false) {
    const whole = this.model.bucketCount;
    from = Math.max(0, Math.min(whole - 1, Math.round(from)));
    to = Math.max(from + 1, Math.min(whole, Math.round(to)));
    this.wanted = [from, to];
    this.show();
    clearTimeout(this.timer);
    const wait = isLast ? 0 : Math.max(0, (this.told ?? 0) + APART_MS - performance.now());
    if (wait)
      this.timer = setTimeout(() => this.tell(), wait);
    else
      this.tell();
  }

  tell() {
    const [from, to] = this.wanted;
    this.wanted = null;
    this.told = performance.now();
    pp.state.set(to - from === this.model.bucketCount ? {from: -1, to: -1} : {from, to});
  }

  show() {
    const whole = this.model.bucketCount;
    const [from, to] = this.range;
    const percent = bucket => bucket / whole * 100 + '%';
    this.before.style.width = percent(from);
    this.after.style.left = percent(to);
    this.after.style.width = percent(whole - to);
    this.handles.forEach((handle, i) => {
      const bucket = [from, to][i];
      handle.style.left = percent(bucket);
      handle.setAttribute('aria-valuenow', bucket);
      handle.setAttribute('aria-valuetext', pp.format.ns(this.model.bucketNs(bucket)));
    });
  }

  update() { this.show(); }

  bucketAt(event) {
    const {left, width} = this.host.getBoundingClientRect();
    return (event.clientX - left) / Math.max(1, width) * this.model.bucketCount;
  }

  down(event) {
    if (event.button || !event.isPrimary)
      return;
    const {width} = this.host.getBoundingClientRect();
    const grip = GRIP / Math.max(1, width) * this.model.bucketCount;
    const at = this.bucketAt(event);
    const [from, to] = this.range;
    const isAll = to - from === this.model.bucketCount;
    const near = isAll ? -1 : [from, to].findIndex(end => Math.abs(end - at) <= grip);
    this.drag = {x: event.clientX, at, from, to,
      kind: near >= 0 ? ['from', 'to'][near] : event.shiftKey && !isAll && at > from && at < to ? 'move' : 'new'};
    this.host.setPointerCapture(event.pointerId);
  }

  move(event) {
    const {drag} = this;
    if (!drag || (!drag.isMoved && Math.abs(event.clientX - drag.x) < DRAG))
      return;
    drag.isMoved = true;
    const at = this.bucketAt(event);
    if (drag.kind === 'new')
      this.choose(Math.floor(Math.min(drag.at, at)), Math.ceil(Math.max(drag.at, at)));
    else if (drag.kind === 'move')
      this.shift(drag.from, drag.to, at - drag.at);
    else if (drag.kind === 'from')
      this.choose(Math.min(at, drag.to - 1), drag.to);
    else
      this.choose(drag.from, Math.max(at, drag.from + 1));
  }

  shift(from, to, by) {
    const bounded = Math.max(-from, Math.min(this.model.bucketCount - to, Math.round(by)));
    this.choose(from + bounded, to + bounded);
  }

  up() {
    if (this.drag?.isMoved && this.wanted)
      this.choose(...this.wanted, true);
    this.drag = null;
  }

  cancel() { this.up(); }

  key(event, index) {
    const whole = this.model.bucketCount;
    const one = Math.max(1, Math.round(whole / 200));
    const steps = {ArrowLeft: -one, ArrowDown: -one, ArrowRight: one, ArrowUp: one, PageDown: -one * 20, PageUp: one * 20,
      Home: -whole, End: whole};
    const [from, to] = this.range;
    if (event.key === 'Escape')
      this.choose(0, whole, true);
    else if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey)
      return;
    else if (event.shiftKey)
      this.shift(from, to, steps[event.key]);
    else if (index)
      this.choose(from, Math.max(from + 1, to + steps[event.key]));
    else
      this.choose(Math.min(to - 1, from + steps[event.key]), to);
    event.preventDefault();
    event.stopPropagation();
  }
};
