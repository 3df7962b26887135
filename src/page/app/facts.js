/* facts.js - what is said of a node of a tree: pp.facts(model, node) is for pp.tooltip.show(). */

/* "turbofan 80%, ignition 20%": what `of` says of the node's frames, by weight. */
function mixture(model, node, of) {
  const sums = new Map();
  let all = 0;
  node.tree.eachFrame(node, (stack, weight) => {
    const word = of(stack);
    sums.set(word, (sums.get(word) ?? 0) + weight);
    all += weight;
  });
  const sorted = [...sums].filter(([word]) => word).sort((a, b) => b[1] - a[1]);
  if (sorted.length === 1 && sums.size === 1)
    return sorted[0][0];
  return sorted.slice(0, 4).map(([word, weight]) => `${word} ${pp.format.percent(weight, all, 0)}`).join(', ');
}

pp.facts = (model, node) => {
  const {all} = model.summed();
  const facts = [];
  if (model.isDiff) {
    facts.push(['Before', `${pp.format.percent(node.a, all.a)} (${model.formatWeight(node.a)})`]);
    facts.push(['After', `${pp.format.percent(node.b, all.b)} (${model.formatWeight(node.b)})`]);
    facts.push(['Change', pp.format.points((all.b ? node.b / all.b : 0) - (all.a ? node.a / all.a : 0))]);
  } else {
    facts.push(['Share', pp.format.percent(node.w, all.w)]);
    facts.push(['Samples', `${pp.format.count(node.n)} (${model.formatWeight(node.w)})`]);
  }
  if (node.group < 0)
    return ['all', ...facts];
  const {columns, groups} = model;
  facts.push(['Object', pp.safe(model.text(groups.object[node.group]))]);
  facts.push(['Runtime', pp.safe(model.text(groups.runtime[node.group]))]);
  facts.push(['Tier', mixture(model, node, s => pp.safe(model.text(columns.get('functions.tier')[model.functionOf[s]])))]);
  facts.push(['Trust', mixture(model, node, s => model.meta.trusts[columns.get('frames.trust')[model.frameOf[s - 1]]])]);
  facts.push(['Why', mixture(model, node, s => pp.safe(model.text(columns.get('frames.reason')[model.frameOf[s - 1]])))]);
  facts.push(['Inlined', mixture(model, node, s => columns.get('frames.flags')[model.frameOf[s - 1]] & 8 ? 'yes' : '')]);
  return [model.name(node.group), ...facts.filter(([, value]) => value)];
};
