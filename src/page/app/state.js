/* state.js - what the reader of the page has chosen. It lives in the URL's fragment, so a reload, a bookmark
 * and the back button keep it.
 *
 *   pp.state.define('colour', 'tier');                        a text; numbers, lists and booleans too
 *   pp.state.get('colour');
 *   pp.state.set({colour: 'trust'});                          {step: true}: the back button undoes it
 *   pp.state.on(changed => changed.has('colour') && draw());
 *
 * A field's type is that of its default. Fields at their default are not in the fragment.
 */

const fields = new Map(); /* name: default */
const values = new Map();
const listeners = [];

function parse(text, like) {
  if (Array.isArray(like))
    return text ? text.split('.').map(Number).filter(Number.isFinite) : [];
  if (typeof like === 'number')
    return Number.isFinite(Number(text)) ? Number(text) : like;
  if (typeof like === 'boolean')
    return text === '1';
  return text;
}

const spell = value => Array.isArray(value) ? value.join('.') : typeof value === 'boolean' ? (value ? '1' : '0') : String(value);
const isSame = (a, b) => spell(a) === spell(b);

function fragment() {
  const params = new URLSearchParams();
  for (const [name, like] of fields)
    if (!isSame(values.get(name), like))
      params.set(name, spell(values.get(name)));
  return '#' + params;
}

/* Browsers allow a page so many changes of its address in a time; what is dragged makes more. */
const PAUSE_MS = 100;
let lastWrite = 0;
let writing = 0; /* a timer */

function write(step) {
  clearTimeout(writing);
  writing = 0;
  lastWrite = performance.now();
  history[step ? 'pushState' : 'replaceState'](null, '', fragment());
}

function writeSoon() {
  const since = performance.now() - lastWrite;
  if (since >= PAUSE_MS)
    write(false);
  else
    writing ||= setTimeout(write, PAUSE_MS - since, false);
}

function tell(changed) {
  if (changed.size)
    for (const listener of listeners)
      listener(changed);
}

function readFragment() {
  const params = new URLSearchParams(location.hash.slice(1));
  const changed = new Set();
  for (const [name, like] of fields) {
    const value = params.has(name) ? parse(params.get(name), like) : like;
    if (!isSame(value, values.get(name)))
      changed.add(name);
    values.set(name, value);
  }
  return changed;
}

pp.state = {
  define(name, like) {
    fields.set(name, like);
    const params = new URLSearchParams(location.hash.slice(1));
    values.set(name, params.has(name) ? parse(params.get(name), like) : like);
  },
  get: name => values.get(name),
  isDefault: name => isSame(values.get(name), fields.get(name)),
  set(patch, {step = false} = {}) {
    const changed = new Set();
    for (const [name, value] of Object.entries(patch)) {
      if (!isSame(value, values.get(name)))
        changed.add(name);
      values.set(name, value);
    }
    if (changed.size && step)
      write(true);
    else if (changed.size)
      writeSoon();
    tell(changed);
  },
  /* Back to the defaults. */
  reset(...names) {
    this.set(Object.fromEntries(names.map(name => [name, fields.get(name)])));
  },
  on: listener => listeners.push(listener),
};

addEventListener('pagehide', () => writing && write(false));
addEventListener('popstate', () => tell(readFragment()));
addEventListener('hashchange', () => tell(readFragment()));

pp.state.define('view', '');
pp.state.define('event', 0);      /* into model.events */
pp.state.define('from', -1);      /* buckets; -1: the whole time */
pp.state.define('to', -1);        /* exclusive */
pp.state.define('threads', []);   /* ids; none: all */
pp.state.define('search', '');    /* regular expression */
pp.state.define('colour', '');     /* of pp.colours.modes(); none: the first */
pp.state.define('theme', 'auto');  /* auto, light, dark */
pp.state.define('inverted', false); /* leaves at the root: who called */
pp.state.define('icicle', true);    /* root on top */
pp.state.define('zoom', []);        /* groups, from the root */
pp.state.define('selected', -1);    /* a group: the function that the views speak of */
