/* colours.js - what boxes, bars and legends are filled with, in light and in dark.
 *
 *   const fill = pp.colours.of(node);            {fill, ink, title}: by the chosen mode
 *   pp.colours.legend()                          [{fill, ink, title}], those that the profile has
 *   pp.colours.level('optimised')                {fill, ink, title}: a key of meta.levels
 *   pp.colours.css('--text')                     a colour of page.css, as it is now
 *
 * The hues are those of Okabe and Ito and of Paul Tol, which people with any kind of colour blindness can tell
 * apart; text upon them has a contrast of at least 4.5 (tests/page holds it).
 */

const LIGHT = {
  blue: '#8fc1e8', orange: '#f2b34c', green: '#6fc9a4', yellow: '#efe169', vermillion: '#f09a6c', purple: '#dda8c8',
  sky: '#b4e0f5', grey: '#cfd3d9', slate: '#b3bac5', sand: '#e3d3b0', ink: '#14171c',
};
const DARK = {
  blue: '#1f5f94', orange: '#8a5a00', green: '#0b6b4f', yellow: '#6e6508', vermillion: '#9a4214', purple: '#84466b',
  sky: '#2c6c8c', grey: '#4a515c', slate: '#3a4250', sand: '#66583a', ink: '#ffffff',
};

/* By level (src/profile/level.h): the tiers of all runtimes in few words. */
const LEVEL_HUES = {interpreter: 'vermillion', baseline: 'orange', optimised: 'green', compiled: 'yellow', precompiled: 'sky',
  stub: 'sand', native: 'blue', kernel: 'purple', unknown: 'grey'};

const TRUST_HUES = {exact: 'blue', early: 'sky', untimed: 'yellow', ambiguous: 'orange', stale: 'purple', unknown: 'vermillion'};
const CATEGORIES = ['blue', 'orange', 'green', 'purple', 'yellow', 'vermillion', 'sky', 'sand'];

let model = null;
let isDark = false;
let isPrint = false;
let ranks = new Map(); /* of names in a categorical mode: place by weight */

const palette = () => isDark && !isPrint ? DARK : LIGHT;
const colour = (hue, title) => ({fill: palette()[hue], ink: palette().ink, title});

/* The level of one function's code, as a key of LEVEL_HUES. */
function levelOf(f, frame) {
  const flags = model.columns.get('frames.flags')[frame];
  if (flags & 1)
    return 'kernel';
  const {key} = model.meta.levels[model.columns.get('functions.level')[f]];
  return key === 'unknown' && flags & 4 ? 'interpreter' : key;
}

const texts = (column, none) => f => pp.safe(model.text(model.columns.get('functions.' + column)[f])) || none;

/* By mode: the key of (function, frame), and the colour and title of a key. */
const MODES = {
  tier: {title: 'Tier', key: levelOf, colour: key => pp.colours.level(key), order: () => Object.keys(LEVEL_HUES)},
  runtime: {title: 'Runtime', key: f => texts('runtime', 'native')(f), colour: byRank},
  module: {title: 'Module', key: f => texts('object', 'unknown')(f), colour: byRank},
  trust: {
    title: 'Trust',
    key: (f, frame) => model.meta.trusts[model.columns.get('frames.trust')[frame]],
    colour: trust => colour(TRUST_HUES[trust] ?? 'grey', trust),
    order: () => model.meta.trusts,
  },
};

function byRank(name) {
  const rank = ranks.get(name) ?? CATEGORIES.length;
  return colour(CATEGORIES[rank] ?? 'grey', name);
}

const CHANGE = {title: 'Change'};
const modes = () => model.isDiff ? {change: CHANGE, ...MODES} : MODES;
const modeId = () => modes()[pp.state.get('colour')] ? pp.state.get('colour') : Object.keys(modes())[0];
const mode = () => modes()[modeId()];

/* The weight of each key among the samples' own frames and their callers: the heaviest ones get hues. */
function weights() {
  if (mode() === CHANGE)
    return [];
  const {total} = model.summed().stacks;
  const sums = new Map();
  const keys = new Map();
  for (let s = 1; s <= model.stackCount; s++) {
    if (!total.w[s])
      continue;
    const frame = model.frameOf[s - 1];
    let key = keys.get(frame);
    if (key === undefined)
      keys.set(frame, key = mode().key(model.functionOf[s], frame));
    sums.set(key, (sums.get(key) ?? 0) + total.w[s]);
  }
  return [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/* Red grew, blue shrank, the more the stronger. */
function shade(strength, grew) {
  const dark = isDark && !isPrint;
  const from = dark ? [74, 81, 92] : [222, 226, 231];
  const to = dark ? (grew ? [168, 50, 38] : [31, 95, 158]) : (grew ? [240, 130, 104] : [122, 178, 230]);
  return {fill: `rgb(${from.map((c, i) => Math.round(c + (to[i] - c) * strength))})`, ink: palette().ink,
    title: !strength ? 'as before' : grew ? 'more than before' : 'less than before'};
}

/* As strong as the share changed: one that is new, gone, or twice what it was is all red or blue. */
function changed(node) {
  const {all} = model.summed();
  const [a, b] = [all.a ? node.a / all.a : 0, all.b ? node.b / all.b : 0];
  const least = Math.min(a, b);
  return shade(least ? Math.min(1, Math.abs(Math.log2(b / a))) : 1, b > a);
}

pp.colours = {
  modes: () => Object.fromEntries(Object.entries(modes()).map(([id, {title}]) => [id, title])),
  mode: modeId,

  start(theModel) {
    model = theModel;
    this.refresh();
  },

  /* After the theme, the mode or the filters changed. */
  refresh() {
    const theme = pp.state.get('theme');
    isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
    document.documentElement.dataset.theme = this.isDark ? 'dark' : 'light';
    ranks = new Map(weights().map(([name], rank) => [name, rank]));
  },

  /* Paper is light. */
  print(on) {
    isPrint = on;
    this.refresh();
  },
  get isDark() { return isDark && !isPrint; },

  of(node) {
    if (mode() === CHANGE)
      return changed(node);
    const sums = new Map();
    node.tree.eachFrame(node, (stack, weight) => {
      const key = mode().key(model.functionOf[stack], model.frameOf[stack - 1]);
      sums.set(key, (sums.get(key) ?? 0) + weight);
    });
    let best = null;
    for (const [key, weight] of sums)
      if (best === null || weight > sums.get(best))
        best = key;
    return best === null ? colour('grey', '') : mode().colour(best);
  },

  legend() {
    if (mode() === CHANGE)
      return [shade(1, true), shade(0, true), shade(1, false)];
    const keys = weights().map(([key]) => key);
    if (mode().order)
      return mode().order().filter(key => keys.includes(key)).map(mode().colour);
    const shown = keys.slice(0, CATEGORIES.length).map(key => mode().colour(key));
    return keys.length > shown.length ? [...shown, colour('grey', 'others')] : shown;
  },

  levelOf,
  level: key => colour(LEVEL_HUES[key], model.meta.levels.find(level => level.key === key).text),
  css: name => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
};
