"use strict";
// Where nodes go. Pure functions of indexes: no page, no graph library, no chance, linear or n log n.
const layouts = (function () {
  // A breadth-first forest: from `first`, then from what is joined to it against the arrows, then from what is left.
  function forest(count, out, back, first) {
    const parent = new Int32Array(count).fill(-1), depth = new Int32Array(count).fill(-1);
    const order = [], roots = [], children = Array.from({ length: count }, () => []);
    let head = 0, again = 0;
    function visit(node, from) {
      depth[node] = from < 0 ? 0 : depth[from] + 1;
      parent[node] = from;
      if (from < 0) roots.push(node); else children[from].push(node);
      order.push(node);
    }
    function spread() {
      for (;;) {
        while (head < order.length) {
          const node = order[head++];
          for (const next of out[node]) if (depth[next] < 0) visit(next, node);
        }
        while (again < order.length && head === order.length) {
          const node = order[again++];
          for (const before of back[node]) if (depth[before] < 0) visit(before, node);
        }
        if (head === order.length && again === order.length) return;
      }
    }
    for (const root of [first, ...Array(count).keys()]) {
      if (root < count && depth[root] < 0) { visit(root, -1); spread(); }
    }
    return { parent, depth, order, roots, children };
  }

  // The leaves from first to last as a walk down the forest meets them; other nodes stand amid their children.
  function rows(tree, gapBetweenTrees) {
    const row = new Float64Array(tree.order.length);
    let cursor = 0;
    for (const root of tree.roots) {
      const stack = [root];
      while (stack.length) {
        const node = stack.pop(), kids = tree.children[node];
        if (!kids.length) row[node] = cursor++;
        for (let k = kids.length - 1; k >= 0; k--) stack.push(kids[k]);
      }
      cursor += gapBetweenTrees;
    }
    for (let k = tree.order.length - 1; k >= 0; k--) {
      const node = tree.order[k], kids = tree.children[node];
      if (kids.length) row[node] = (row[kids[0]] + row[kids[kids.length - 1]]) / 2;
    }
    return { row, length: Math.max(1, cursor - gapBetweenTrees) };
  }

  function byDepth(tree) {
    const layers = [];
    for (const node of tree.order) (layers[tree.depth[node]] ||= []).push(node);
    return layers;
  }

  // Breadth-first, left to right. Where one column would be far taller than the picture is wide, a layer takes more.
  function layers(tree, width, gap) {
    const { row, length } = rows(tree, 1), at = [];
    const columns = byDepth(tree);
    const widest = columns.map((nodes) => Math.max(...chunked(nodes, (node) => width[node])));
    const across = widest.reduce((sum, one) => sum + one + gap.x, 0);
    const tall = length * gap.y > 2.5 * Math.max(across, 600);
    const most = Math.ceil(Math.sqrt((tree.order.length * 110) / gap.y / 1.6));
    let x = 0;
    columns.forEach((nodes, depth) => {
      nodes.sort((a, b) => row[a] - row[b]);
      const lanes = tall ? Math.ceil(nodes.length / most) : 1;
      const lane = widest[depth] + (lanes > 1 ? gap.x / 4 : 0);
      nodes.forEach((node, k) => {
        const high = Math.ceil(nodes.length / lanes);
        at[node] = tall
          ? { x: x + Math.floor(k / high) * lane + widest[depth] / 2, y: ((k % high) - (Math.min(high, nodes.length) - 1) / 2) * gap.y }
          : { x: x + widest[depth] / 2, y: row[node] * gap.y };
      });
      x += lanes * lane + gap.x;
    });
    return at;
  }

  // Concentric: one ring for each layer, each node at the angle of its leaves; a crowded ring has several tracks.
  function rings(tree, space) {
    const { row, length } = rows(tree, 1), at = [];
    let radius = tree.roots.length > 1 ? space * 1.5 : 0;
    byDepth(tree).forEach((nodes, depth) => {
      if (depth === 0 && nodes.length === 1) { at[nodes[0]] = { x: 0, y: 0 }; radius = space * 1.6; return; }
      nodes.sort((a, b) => row[a] - row[b]);
      let closest = Infinity;
      nodes.forEach((node, k) => { if (k) closest = Math.min(closest, row[node] - row[nodes[k - 1]]); });
      const need = (space * length) / (2 * Math.PI * Math.max(closest, 0.5));
      if (nodes.length < 400 && need < radius + 6 * space) {
        radius = Math.max(radius, need);
        for (const node of nodes) at[node] = onRing(radius, row[node] / length);
        radius += space * 1.6;
        return;
      }
      let tracks = 1;
      while ((2 * Math.PI * tracks * (radius + (tracks * space) / 2)) / space < nodes.length) tracks++;
      nodes.forEach((node, k) => { at[node] = onRing(radius + (k % tracks) * space, k / nodes.length); });
      radius += tracks * space + space;
    });
    return at;
  }

  function onRing(radius, turn) {
    const angle = 2 * Math.PI * turn - Math.PI / 2;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  }

  // Math.max(...huge) overflows the stack: hand on the largest of each thousand.
  function chunked(nodes, value) {
    const largest = [];
    for (let k = 0; k < nodes.length; k += 1000) largest.push(Math.max(...nodes.slice(k, k + 1000).map(value)));
    return largest;
  }

  return { forest, layers, rings };
})();
