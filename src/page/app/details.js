/* details.js - one function in words, with its whole name: {element, show(group)}; -1 shows nothing. */

const link = (title, view, group) => pp.views.has(view) && pp.el('button', {type: 'button', 'data-view': view,
  onclick: () => pp.views.open(view, {selected: group})}, title);

pp.details = (model, {links = {}} = {}) => {
  const element = pp.el('div', {class: 'details', 'aria-live': 'polite'});
  return {
    element,
    show(group) {
      element.hidden = group < 0;
      if (group < 0)
        return;
      const {all, groups} = model.summed();
      const name = model.name(group);
      const raw = pp.safe(model.text(model.columns.get('functions.raw')[model.groups.functions[group][0]]));
      const figures = (title, of) => model.isDiff
        ? `${title} ${pp.format.percent(of.a[group], all.a)} before, ${pp.format.percent(of.b[group], all.b)} after`
        : `${title} ${pp.format.percent(of.w[group], all.w)}, ${pp.format.plural(of.n[group], 'sample')}`;
      const facts = [pp.safe(model.text(model.groups.object[group])), pp.safe(model.text(model.groups.runtime[group])),
        model.tiers(group), figures('self', groups.self), figures('total', groups.total)];
      element.replaceChildren(...[
        pp.el('div', {class: 'whole', tabindex: name.length > 400 ? '0' : null}, name),
        raw !== name && pp.el('div', {class: 'raw', title: 'As the runtime or compiler wrote it'}, raw),
        pp.el('div', {class: 'facts'}, facts.filter(Boolean).map(fact => pp.el('span', {}, pp.cut(fact, 200)))),
        pp.el('div', {class: 'links'}, ...Object.entries(links).map(([view, title]) => link(title, view, group)).filter(Boolean)),
      ].filter(Boolean));
    },
  };
};
