/* What a flame graph does beside standing there: zoom by click, search, and the width of its window. A box's first
 * place is in its <rect>, its name is in its <title>; boxes are in the order parent, children. */
'use strict';
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const HTML = 'http://www.w3.org/1999/xhtml';
  const PAD = 10, LEVEL = 16, COLUMN = 7.23, LEAST = 0.1, THIN = 4;
  const by = id => document.getElementById(id);
  const root = by('boxes').ownerSVGElement;
  const isAlone = root === document.documentElement && window === top;
  const own = Number(root.getAttribute('width')) - 2 * PAD;
  let across = own;
  let zoomed = 0;
  let query = '';

  const levelOf = rect => Math.round(Math.abs(Number(rect.getAttribute('y')) - base) / LEVEL);
  const groups = [...by('boxes').children];
  const base = Number(groups[0].querySelector('rect').getAttribute('y'));
  const boxes = groups.map((g, index) => {
    const rect = g.querySelector('rect');
    const title = g.querySelector('title').textContent;
    const line = title.split('\n')[0];
    return {index, g, rect, text: g.querySelector('text'), title, name: line.slice(0, line.lastIndexOf(' (')),
      level: levelOf(rect), from: (Number(rect.getAttribute('x')) - PAD) / own,
      size: Number(rect.getAttribute('width')) / own, isFound: false};
  });
  /* What follows a box with higher levels is above it. */
  const end = boxes.map(() => boxes.length);
  const open = [];
  for (const box of boxes) {
    while (open.length && open[open.length - 1].level >= box.level)
      end[open.pop().index] = box.index;
    open.push(box);
  }
  const isUnder = (box, other) => box.index <= other.index && other.index < end[box.index];

  const isWide = code => code >= 0x1100 && (code < 0x1160 || (code >= 0x2e80 && code < 0xa4d0) ||
    (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) || (code >= 0xfe30 && code < 0xfe70) ||
    (code >= 0xff00 && code < 0xff61) || (code >= 0x1f300 && code < 0x1fa00) || (code >= 0x20000 && code < 0x40000));

  /* As much of a name as fits. */
  function fit(name, width) {
    const room = Math.floor((width - 6) / COLUMN);
    if (room < 3)
      return '';
    let used = 0;
    let kept = '';
    for (const letter of name) {
      const columns = isWide(letter.codePointAt(0)) ? 2 : 1;
      if (used + columns > room - 2 && [...name.slice(kept.length)].length > 2)
        return kept + '..';
      used += columns;
      kept += letter;
    }
    return kept;
  }

  function draw() {
    const focus = boxes[zoomed];
    for (const box of boxes) {
      const isAround = isUnder(box, focus) && box !== focus;
      const from = isAround ? 0 : (box.from - focus.from) / focus.size;
      const size = isAround ? 1 : box.size / focus.size;
      const isShown = (isAround || isUnder(focus, box)) && size * across >= LEAST;
      box.g.classList.toggle('hidden', !isShown);
      box.g.classList.toggle('around', isAround);
      box.g.classList.toggle('thin', size * across < THIN);
      box.g.classList.toggle('found', box.isFound);
      if (!isShown)
        continue;
      const x = PAD + from * across;
      box.rect.setAttribute('x', x);
      box.rect.setAttribute('width', size * across);
      box.text.setAttribute('x', x + 3);
      box.text.textContent = fit(box.name, size * across);
    }
    by('unzoom').classList.toggle('hidden', !zoomed);
  }

  /* The share of what was found: what is upon a found box is in it already. */
  function tellFound() {
    let size = 0;
    let count = 0;
    let after = 0;
    for (let i = zoomed; i < end[zoomed]; i++) {
      if (!boxes[i].isFound)
        continue;
      count++;
      size += i < after ? 0 : boxes[i].size;
      after = Math.max(after, end[i]);
    }
    by('matched').textContent = query ? `${count} found, ${(100 * size / boxes[zoomed].size).toFixed(2)}%` : '';
  }

  function find(text) {
    query = text;
    let test = null;
    if (query) {
      const flags = /\p{Lu}/u.test(query) ? 'u' : 'iu';
      try {
        test = new RegExp(query, flags);
      } catch {
        test = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), flags);
      }
    }
    for (const box of boxes)
      box.isFound = test !== null && test.test(box.name);
  }

  /* Both survive a reload. */
  function keep() {
    const state = new URLSearchParams();
    if (zoomed)
      state.set('zoom', zoomed);
    if (query)
      state.set('find', query);
    try {
      history.replaceState(null, '', '#' + state);
    } catch { /* Where a page may not change its address, it is not kept. */ }
  }

  function show() {
    draw();
    tellFound();
    keep();
  }

  const input = document.createElementNS(HTML, 'input');
  input.id = 'find';
  input.type = 'search';
  input.placeholder = 'search: a regular expression';
  input.setAttribute('aria-label', 'search');
  const field = document.createElementNS(SVG, 'foreignObject');
  field.setAttribute('y', 8);
  field.setAttribute('width', 260);
  field.setAttribute('height', 22);
  field.append(input);
  by('bar').append(field);
  input.addEventListener('input', () => {
    find(input.value);
    show();
  });

  function zoom(index) {
    zoomed = index;
    show();
  }

  /* Alone in a window it is as wide as that. */
  function resize() {
    const width = Math.max(600, isAlone ? innerWidth : own + 2 * PAD);
    across = width - 2 * PAD;
    root.setAttribute('width', width);
    root.setAttribute('viewBox', `0 0 ${width} ${root.getAttribute('height')}`);
    for (const paper of document.querySelectorAll('.paper'))
      paper.setAttribute('width', width);
    by('heading').setAttribute('x', width / 2);
    by('matched').setAttribute('x', width - PAD);
    field.setAttribute('x', width - PAD - 260);
    draw();
  }

  /* The bar stays where it can be seen. */
  const follow = () => by('bar').setAttribute('transform', `translate(0 ${isAlone ? scrollY : 0})`);

  const summary = by('summary').textContent;
  const boxOf = event => {
    const g = event.target.closest && event.target.closest('#boxes > g');
    return g ? groups.indexOf(g) : -1;
  };
  by('boxes').addEventListener('click', event => {
    const index = boxOf(event);
    if (index >= 0)
      zoom(index);
  });
  by('boxes').addEventListener('mouseover', event => {
    const index = boxOf(event);
    by('summary').textContent = index < 0 ? summary : fit(boxes[index].title.replace('\n', '; '), across - 200);
  });
  by('boxes').addEventListener('mouseleave', () => { by('summary').textContent = summary; });
  by('unzoom').addEventListener('click', () => zoom(0));
  addEventListener('keydown', event => {
    if ((event.key === 'f' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && event.target !== input)) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (event.key === 'Escape') {
      if (event.target === input && input.value) {
        input.value = '';
        find('');
        show();
      } else {
        input.blur();
        zoom(0);
      }
    }
  });
  addEventListener('resize', resize);
  addEventListener('scroll', follow);

  const state = new URLSearchParams(location.hash.slice(1));
  const index = Number(state.get('zoom'));
  zoomed = Number.isInteger(index) && index >= 0 && index < boxes.length ? index : 0;
  input.value = state.get('find') || '';
  find(input.value);
  root.classList.add('live');
  resize();
  tellFound();
  /* Flames stand on the ground. */
  if (isAlone && boxes.length > 1 && Number(boxes[1].rect.getAttribute('y')) < base)
    scrollTo(0, Number(root.getAttribute('height')));
  follow();
})();
