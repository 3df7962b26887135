/* base.js - elements, names and numbers, as they are shown.
 *
 * Every name in a profile is hostile. It reaches the document as text only (pp.el, textContent), never as
 * markup, and through pp.safe(), which shows what would be invisible or turn the line around.
 */

const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/* The text with controls, directions of writing and invisible characters spelt out. */
pp.safe = text => text.replace(INVISIBLE, c =>
  '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

/* At most `limit` characters, with an ellipsis; for pictures, lists and attributes. The whole name is in a detail. */
pp.cut = (text, limit = 200) => text.length <= limit ? text : text.slice(0, limit - 1) + '…';

/* pp.el('button', {class: 'x', onclick: f, 'aria-label': '...'}, 'text', element, ...).
 * Functions become listeners, true an empty attribute; null, undefined and false are left out.
 */
pp.el = (tag, props = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function')
      element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return element;
};

const grouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});

pp.format = {
  count: n => grouped.format(n),
  percent: (part, whole, digits = 2) => (whole ? part / whole * 100 : 0).toFixed(digits) + '%',
  /* A share's change, in percentage points. */
  points: share => (share > 0 ? '+' : share < 0 ? '−' : '±') + Math.abs(share * 100).toFixed(2) + ' pp',
  /* Of nanoseconds: "1.234 s", "12.3 ms". */
  ns: ns => {
    const abs = Math.abs(ns);
    for (const [size, unit] of [[6e10, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs']])
      if (abs >= size)
        return (ns / size).toFixed(abs >= 100 * size ? 0 : abs >= 10 * size ? 1 : 2) + ' ' + unit;
    return Math.round(ns) + ' ns';
  },
  plural: (n, word) => `${grouped.format(n)} ${word}${n === 1 ? '' : 's'}`,
};

/* Calls `f` once in the next frame, however often it was asked for. */
pp.later = f => {
  let asked = false;
  return () => {
    if (asked)
      return;
    asked = true;
    requestAnimationFrame(() => { asked = false; f(); });
  };
};
