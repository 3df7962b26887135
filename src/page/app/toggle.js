/* toggle.js - buttons for the values of one field of the state, one of which is pressed.
 *
 *   const direction = pp.toggle('inverted', 'Direction', {false: 'Callers first', true: 'Leaves first'}, {zoom: []});
 *   element.append(direction.element);
 *   direction.update();                 when the state changed; the last argument is set together with the field
 */
pp.toggle = (name, title, values, also = {}) => {
  const valueOf = text => typeof pp.state.get(name) === 'boolean' ? text === 'true' : text;
  const buttons = Object.entries(values).map(([value, text]) => pp.el('button', {type: 'button', 'data-value': value,
    onclick: () => pp.state.set({[name]: valueOf(value), ...also})}, text));
  return {
    element: pp.el('span', {class: 'choice', role: 'group', 'aria-label': title}, buttons),
    update() {
      for (const button of buttons)
        button.setAttribute('aria-pressed', String(valueOf(button.dataset.value) === pp.state.get(name)));
    },
  };
};
