/* tree.js - stacks as a tree of groups, made node by node as it is looked at.
 *
 *   const root = pp.tree.callees(model);             roots call leaves
 *   const root = pp.tree.callers(model);             leaves first, what called them below
 *   pp.tree.callees(model, group)                    what one function called, from its outermost activation
 *   pp.tree.callers(model, group)                    who called that
 *   node.children                                    heaviest first; made when first asked for
 *
 * A node: {group, parent, depth, w, a, b, n, self}; self is the weight of samples that end there (callees) or
 * of stacks that begin there (callers). Nodes are of the filters' state in which their root was made.
 */

class Node {
  constructor(tree, parent, group) {
    this.tree = tree;
    this.parent = parent;
    this.group = group;
    this.depth = parent ? parent.depth + 1 : 0;
    this.w = this.a = this.b = this.n = 0;
    this.stacks = []; /* that are one here */
    this.made = null;
  }

  get children() {
    this.made ??= this.tree.expand(this);
    return this.made;
  }

  get self() { return this.w - this.children.reduce((sum, child) => sum + child.w, 0); }

  /* Groups from the root to here, without the root. */
  get path() {
    const groups = [];
    for (let node = this; node.parent; node = node.parent)
      groups.push(node.group);
    return groups.reverse();
  }
}

const heaviestFirst = (a, b) => b.w - a.w || a.group - b.group;

/* By group, with the weights that `add` gives them. */
class Parts {
  constructor(tree, parent) {
    this.tree = tree;
    this.parent = parent;
    this.nodes = new Map();
  }

  of(group) {
    let node = this.nodes.get(group);
    if (!node)
      this.nodes.set(group, node = new Node(this.tree, this.parent, group));
    return node;
  }

  sorted() { return [...this.nodes.values()].filter(node => node.n > 0).sort(heaviestFirst); }
}

class Callees {
  constructor(model, group) {
    this.model = model;
    this.total = model.summed().stacks.total;
    this.root = new Node(this, null, group ?? -1);
    const starts = group === undefined ? [0] : outermost(model, group);
    for (const stack of starts)
      this.add(this.root, stack);
  }

  add(node, stack) {
    node.stacks.push(stack);
    for (const name of ['w', 'a', 'b', 'n'])
      node[name] += this.total[name][stack];
  }

  expand(node) {
    const parts = new Parts(this, node);
    const {firstChild, nextSibling, stackGroup} = this.model;
    for (const stack of node.stacks)
      for (let s = firstChild[stack]; s; s = nextSibling[s])
        if (this.total.n[s])
          this.add(parts.of(stackGroup[s]), s);
    return parts.sorted();
  }

  /* What the node's own frames weigh, for its colour: each(stack, weight). */
  eachFrame(node, each) {
    for (const stack of node.stacks)
      each(stack, this.total.w[stack]);
  }
}

/* A node's stacks are where its callers are looked for; weights come from the leaves. */
class Callers {
  constructor(model, group) {
    this.model = model;
    const {stacks} = model.summed();
    this.root = new Node(this, null, group ?? -1);
    this.root.weights = new Map();
    if (group === undefined) {
      for (let s = 1; s <= model.stackCount; s++)
        if (stacks.self.n[s])
          this.add(this.root, s, weightsOf(stacks.self, s));
    } else {
      for (const s of outermost(model, group))
        this.add(this.root, s, weightsOf(stacks.total, s));
    }
    this.isOfOne = group !== undefined;
  }

  add(node, stack, weights) {
    node.weights ??= new Map();
    const known = node.weights.get(stack);
    for (const name of ['w', 'a', 'b', 'n']) {
      node[name] += weights[name];
      if (known)
        known[name] += weights[name];
    }
    if (!known)
      node.weights.set(stack, {...weights});
  }

  /* The root of all callers stands for leaves: its children are the leaves themselves. */
  expand(node) {
    const parts = new Parts(this, node);
    const {parent, stackGroup} = this.model;
    const isLeaves = node.group < 0;
    for (const [stack, weights] of node.weights) {
      const s = isLeaves ? stack : parent[stack];
      if (s)
        this.add(parts.of(stackGroup[s]), s, weights);
    }
    return parts.sorted();
  }

  eachFrame(node, each) {
    for (const [stack, weights] of node.weights)
      each(stack, weights.w);
  }
}

const weightsOf = (measures, s) => ({w: measures.w[s], a: measures.a[s], b: measures.b[s], n: measures.n[s]});

function outermost(model, group) {
  const found = [];
  for (let s = 1; s <= model.stackCount; s++)
    if (model.stackGroup[s] === group && model.isOutermost[s])
      found.push(s);
  return found;
}

pp.tree = {
  callees: (model, group) => new Callees(model, group).root,
  callers: (model, group) => new Callers(model, group).root,

  /* The node at the end of a path of groups, or the last one that is there. */
  find(root, path) {
    let node = root;
    for (const group of path) {
      const next = node.children.find(child => child.group === group);
      if (!next)
        break;
      node = next;
    }
    return node;
  },
};
