/* flame.js - a tree of stacks as a picture: each box is as wide as its share, callees next to their caller.
 *
 *   const flame = new pp.Flame(element, model, {
 *     label: 'Flame graph',           what a screen reader says
 *     zoom: node => {},               a box was clicked or entered
 *     focus: node => {},              a box has the keyboard's focus or was clicked
 *   });
 *   flame.show(root, {at: node, upward: false});      at: what takes the whole width
 *
 * Boxes thinner than half a pixel are left out, and their callees never made: the cost is that of what can
 * be seen. The canvas is as large as the visible part and is drawn again when it scrolls.
 */

const ROW = 20;
const THIN = 0.5; /* pixels */
const PRINTED_ROWS = 200;
const PRINTED_SHARE = 0.01;
const SHADES = [0, 0.06, 0.12]; /* of neighbours in one colour */
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

pp.Flame = class Flame {
  constructor(parent, model, {label, zoom, focus}) {
    this.model = model;
    this.on = {zoom, focus};
    this.canvas = pp.el('canvas', {'aria-hidden': 'true'});
    this.spacer = pp.el('div', {class: 'spacer'});
    this.live = pp.el('div', {class: 'unseen', 'aria-live': 'polite'});
    this.host = pp.el('div', {class: 'flame', tabindex: '0', role: 'application', 'aria-label': label,
      'aria-roledescription': 'flame graph',
      onmousemove: e => this.point(e), onmouseleave: () => this.leave(), onclick: e => this.click(e),
      onkeydown: e => this.key(e), onblur: () => pp.tooltip.hide()},
    this.canvas, this.spacer);
    this.host.addEventListener('scroll', pp.later(() => this.scrolled()));
    parent.append(this.host, this.live);
    this.rows = [];
    this.hot = null;     /* under the pointer */
    this.focused = null; /* by the keyboard */
    this.redraw = pp.later(() => this.draw());
    new ResizeObserver(pp.later(() => this.resize())).observe(this.host);
  }

  show(root, {at = root, upward = false} = {}) {
    const isNew = this.upward !== upward || this.root !== root;
    this.root = root;
    this.at = at;
    this.upward = upward;
    this.hot = null;
    this.focused = this.focused ? pp.tree.find(root, this.focused.path) : null;
    this.layout();
    if (isNew)
      this.toRoot();
  }

  toRoot() {
    this.atRoot = true;
    this.host.scrollTop = this.upward ? this.host.scrollHeight : 0;
  }

  /* Who looks at the root goes on doing so. */
  resize() {
    if (!this.root)
      return;
    const {atRoot} = this;
    this.layout();
    if (atRoot)
      this.toRoot();
  }

  scrolled() {
    const {scrollTop, scrollHeight, clientHeight} = this.host;
    this.atRoot = this.upward ? scrollTop + clientHeight >= scrollHeight - 2 : scrollTop < 2;
    this.draw();
  }

  /* Rows of boxes {node, x, width}: what calls `at` takes the whole width, then its callees their shares. */
  layout() {
    const width = this.host.clientWidth;
    this.rows = [];
    const ancestors = [];
    for (let node = this.at.parent; node; node = node.parent)
      ancestors.unshift(node);
    for (const node of ancestors)
      this.rows.push([{node, x: 0, width, isAncestor: true}]);
    let row = [{node: this.at, x: 0, width}];
    while (row.length) {
      this.rows.push(row);
      const next = [];
      for (const box of row)
        this.place(box, width, next);
      row = next;
    }
    /* The canvas itself is as high as what is visible. */
    this.spacer.style.height = Math.max(0, this.rows.length * ROW - this.host.clientHeight) + 'px';
    this.draw();
  }

  place(box, width, next) {
    const scale = this.at.w ? width / this.at.w : 0;
    let x = box.x;
    for (const node of box.node.children) {
      const w = node.w * scale;
      if (w < THIN)
        break; /* the rest is no heavier */
      next.push({node, x, width: w});
      x += w;
    }
  }

  /* The top of a row, in the scrolled content. */
  top(depth) {
    return this.upward ? Math.max(this.rows.length * ROW, this.host.clientHeight) - (depth + 1) * ROW : depth * ROW;
  }

  /* Paper has no room for rows that are nearly empty. */
  printedRows() {
    let rows = this.rows.length;
    while (rows > 1 && this.rows[rows - 1].reduce((sum, box) => sum + box.width, 0) < this.host.clientWidth * PRINTED_SHARE)
      rows--;
    return Math.min(rows, PRINTED_ROWS);
  }

  draw() {
    if (!this.root)
      return;
    const isPrint = document.documentElement.hasAttribute('data-print');
    const [width, ratio] = [this.host.clientWidth, devicePixelRatio || 1];
    const height = isPrint ? this.printedRows() * ROW : this.host.clientHeight;
    const scroll = isPrint ? 0 : this.host.scrollTop;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    this.canvas.style.width = isPrint ? '100%' : width + 'px';
    this.canvas.style.height = isPrint ? 'auto' : height + 'px';
    this.inks = Object.fromEntries(['--page', '--box', '--text', '--match', '--focus'].map(name => [name, pp.colours.css(name)]));
    const c = this.canvas.getContext('2d');
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = this.inks['--page'];
    c.fillRect(0, 0, width, height);
    c.font = FONT;
    c.textBaseline = 'middle';
    const matches = this.model.matches();
    this.rows.forEach((row, depth) => {
      const y = (isPrint && this.upward ? height - (depth + 1) * ROW : this.top(depth)) - scroll;
      if (y > -ROW && y < height)
        for (const box of row)
          this.drawBox(c, box, y, matches);
    });
    if (!isPrint) {
      this.outline(c, this.hot, '--text', 1);
      this.outline(c, this.focused, '--focus', 2);
    }
  }

  drawBox(c, box, y, matches) {
    const {node} = box;
    const {fill, ink} = node.parent || node.group >= 0 ? box.node.colour ??= pp.colours.of(node)
      : {fill: this.inks['--box'], ink: this.inks['--text']};
    const isFound = matches && node.group >= 0 && matches.isMatch[node.group];
    const isDim = matches ? !isFound : box.isAncestor;
    const w = Math.max(box.width - (box.width > 3 ? 1 : 0), THIN);
    c.globalAlpha = isDim ? 0.4 : 1;
    c.fillStyle = fill;
    c.fillRect(box.x, y, w, ROW - 1);
    if (!isDim && node.group >= 0) {
      c.globalAlpha = SHADES[node.group % SHADES.length];
      c.fillStyle = pp.colours.isDark ? '#000' : '#fff';
      c.fillRect(box.x, y, w, ROW - 1);
    }
    c.globalAlpha = 1;
    if (isFound && w > 2) {
      c.strokeStyle = this.inks['--match'];
      c.lineWidth = 1.5;
      c.strokeRect(box.x + 0.75, y + 0.75, w - 1.5, ROW - 2.5);
    }
    if (w > 24)
      this.drawText(c, this.label(node), box.x + 5, y + ROW / 2, w - 8, isDim ? this.inks['--text'] : ink);
  }

  /* What has no name is told apart by where it is. */
  label(node) {
    if (node.group < 0)
      return 'all';
    const where = this.model.isUnknown(node.group) ? ` in ${pp.safe(this.model.text(this.model.groups.object[node.group]))}` : '';
    return pp.cut(this.model.name(node.group) + where, 400);
  }

  drawText(c, text, x, y, width, ink) {
    let shown = text;
    if (c.measureText(text).width > width) {
      let [fits, not] = [0, text.length];
      while (not - fits > 1) {
        const middle = (fits + not) >> 1;
        if (c.measureText(text.slice(0, middle) + '…').width <= width)
          fits = middle;
        else
          not = middle;
      }
      shown = fits > 1 ? text.slice(0, fits) + '…' : '';
    }
    c.fillStyle = ink;
    c.fillText(shown, x, y);
  }

  boxOf(node) {
    return node && this.rows[node.depth]?.find(box => box.node === node);
  }

  outline(c, node, ink, thick) {
    const box = this.boxOf(node);
    if (!box)
      return;
    c.strokeStyle = this.inks[ink];
    c.lineWidth = thick;
    c.strokeRect(box.x + thick / 2, this.top(node.depth) - this.host.scrollTop + thick / 2,
      Math.max(box.width - thick - 1, 1), ROW - 1 - thick);
  }

  boxAt(event) {
    const {left, top} = this.host.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top + this.host.scrollTop];
    const depth = this.upward ? this.rows.length - 1 - Math.floor((y - this.top(this.rows.length - 1)) / ROW)
      : Math.floor(y / ROW);
    return this.rows[depth]?.find(box => x >= box.x && x < box.x + box.width);
  }

  point(event) {
    const node = this.boxAt(event)?.node ?? null;
    this.host.style.cursor = node ? 'pointer' : '';
    if (node)
      pp.tooltip.show(event.clientX, event.clientY, pp.facts(this.model, node));
    else
      pp.tooltip.hide();
    if (this.hot !== node) {
      this.hot = node;
      this.redraw();
    }
  }

  leave() {
    this.hot = null;
    pp.tooltip.hide();
    this.redraw();
  }

  click(event) {
    const node = this.boxAt(event)?.node;
    if (!node)
      return;
    this.focused = node;
    this.on.focus?.(node);
    this.on.zoom?.(node);
  }

  key(event) {
    const node = this.focused && this.boxOf(this.focused) ? this.focused : this.at;
    const siblings = this.rows[node.depth]?.map(box => box.node) ?? [];
    const deeper = () => node.children.find(child => this.boxOf(child));
    const moves = {
      ArrowDown: () => this.upward ? node.parent : deeper(),
      ArrowUp: () => this.upward ? deeper() : node.parent,
      ArrowLeft: () => siblings[siblings.indexOf(node) - 1],
      ArrowRight: () => siblings[siblings.indexOf(node) + 1],
      Home: () => this.root,
    };
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (moves[event.key])
      this.focus(moves[event.key]() ?? node);
    else if (event.key === 'Enter' || event.key === ' ')
      this.on.zoom?.(node);
    else if (event.key === 'Escape' && this.at.parent)
      this.on.zoom?.(this.at); /* out, as a click on it does */
    else
      return;
    event.preventDefault();
    event.stopPropagation();
  }

  focus(node) {
    this.focused = node;
    this.on.focus?.(node);
    const box = this.boxOf(node);
    const top = this.top(node.depth);
    if (top < this.host.scrollTop)
      this.host.scrollTop = top;
    else if (top + ROW > this.host.scrollTop + this.host.clientHeight)
      this.host.scrollTop = top + ROW - this.host.clientHeight;
    const [title, ...facts] = pp.facts(this.model, node);
    this.live.textContent = `${pp.cut(title, 200)}, ${facts.slice(0, 2).map(([, value]) => value).join(', ')}`;
    if (box) {
      const {left, top: hostTop} = this.host.getBoundingClientRect();
      pp.tooltip.show(left + box.x + Math.min(box.width / 2, 60), hostTop + top - this.host.scrollTop + ROW / 2,
        [title, ...facts]);
    }
    this.draw();
  }
};
