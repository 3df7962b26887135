/* tooltip.js - what is under the pointer, or has the keyboard's focus in a picture.
 *
 *   pp.tooltip.show(x, y, [title, ['Samples', '1,234'], ...]);      in the window's coordinates
 *   pp.tooltip.hide();
 */

let box = null;

pp.tooltip = {
  show(x, y, [title, ...facts]) {
    box ??= document.body.appendChild(pp.el('div', {id: 'tooltip', role: 'presentation'}));
    box.replaceChildren(
      pp.el('strong', {}, pp.cut(title, 600)),
      pp.el('dl', {}, facts.map(([name, value]) => [pp.el('dt', {}, name), pp.el('dd', {}, pp.cut(value, 600))])));
    box.hidden = false;
    const {width, height} = box.getBoundingClientRect();
    const left = Math.min(x + 14, innerWidth - width - 6);
    const top = y + 18 + height > innerHeight ? y - height - 10 : y + 18;
    box.style.left = Math.max(4, left) + 'px';
    box.style.top = Math.max(4, top) + 'px';
  },

  hide() {
    if (box)
      box.hidden = true;
  },
};
