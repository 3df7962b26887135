/* legend.js - the choice of what colours mean, and their legend: {element, update()}. */

pp.colourChoice = model => {
  const select = pp.el('select', {onchange: () => pp.state.set({colour: select.value})},
    Object.entries(pp.colours.modes()).map(([id, title]) => pp.el('option', {value: id}, title)));
  const list = pp.el('ul', {class: 'legend', 'aria-label': 'Legend'});
  return {
    element: pp.el('span', {class: 'colours'}, pp.el('label', {}, 'Colour ', select), list),
    update() {
      select.value = pp.colours.mode();
      list.replaceChildren(...pp.colours.legend().map(({fill, title}) => {
        const swatch = pp.el('span', {class: 'swatch'});
        swatch.style.background = fill;
        return pp.el('li', {}, swatch, pp.cut(title, 40));
      }));
    },
  };
};
