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

  // The leaves from first to last as a walk down the forest meets them; other nodes stand amid their children. With two
  // lanes the many leaves of one node stand in two columns, each in the gap of the other, so that lines pass between.
  function rows(tree, gapBetweenTrees, lanes = 1) {
    const row = new Float64Array(tree.order.length), lane = new Uint8Array(tree.order.length);
    let cursor = 0;
    for (const root of tree.roots) {
      const stack = [root];
      while (stack.length) {
        const node = stack.pop();
        let kids = tree.children[node];
        if (!kids.length) row[node] = cursor++;
        const leaves = lanes > 1 ? kids.filter((kid) => !tree.children[kid].length) : [];
        if (leaves.length >= 6) {
          leaves.forEach((leaf, k) => { row[leaf] = cursor + k / lanes; lane[leaf] = k % lanes; });
          cursor += Math.ceil(leaves.length / lanes);
          kids = kids.filter((kid) => tree.children[kid].length);
        }
        for (let k = kids.length - 1; k >= 0; k--) stack.push(kids[k]);
      }
      cursor += gapBetweenTrees;
    }
    for (let k = tree.order.length - 1; k >= 0; k--) {
      const node = tree.order[k], kids = tree.children[node];
      if (kids.length) row[node] = kids.reduce((sum, kid) => sum + row[kid], 0) / kids.length;
    }
    return { row, lane, length: Math.max(1, cursor - gapBetweenTrees) };
  }

  function byDepth(tree) {
    const layers = [];
    for (const node of tree.order) (layers[tree.depth[node]] ||= []).push(node);
    return layers;
  }

  // Breadth-first, left to right, as wide as the picture. Where a column would be far taller, a layer takes several.
  function layers(tree, width, gap, aspect) {
    const one = rows(tree, 1), two = rows(tree, 1, 2), crowded = one.length > 26 && two.length < 0.8 * one.length;
    const { row, lane, length } = crowded ? two : one, at = [];
    const high = gap.y * (crowded ? 1.15 : 1), columns = byDepth(tree);
    const widest = columns.map((nodes) => largest(nodes, (node) => width[node]) + 12);
    const lanes = columns.map((nodes) => 1 + largest(nodes, (node) => lane[node]));
    const across = widest.reduce((sum, one, depth) => sum + one * lanes[depth] + gap.least, 0);
    const tall = length * high * aspect > 3 * Math.max(across, 600);
    const most = Math.ceil(Math.sqrt((tree.order.length * (mean(widest) + gap.least)) / gap.y / aspect));
    const spare = (length * high * aspect - across) / Math.max(1, columns.length - 1);
    const between = tall ? gap.least * 2 : gap.least + Math.min(gap.most - gap.least, Math.max(0, spare));
    let x = 0;
    columns.forEach((nodes, depth) => {
      const wide = widest[depth];
      if (tall) {
        nodes.sort((a, b) => row[a] - row[b]);
        lanes[depth] = Math.ceil(nodes.length / most);
        const each = Math.ceil(nodes.length / lanes[depth]);
        nodes.forEach((node, k) => { at[node] = { x: x + Math.floor(k / each) * wide + wide / 2, y: ((k % each) - (each - 1) / 2) * gap.y }; });
      } else {
        for (const node of nodes) at[node] = { x: x + lane[node] * wide + wide / 2, y: row[node] * high };
      }
      x += lanes[depth] * wide + between;
    });
    return at;
  }
  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const largest = (items, value) => items.reduce((most, item) => Math.max(most, value(item)), 0);

  // Concentric: one ring for each layer, each node at the angle amid its leaves; a crowded ring has several tracks.
  function rings(tree, space) {
    const { row, length } = rows(tree, 1), at = [];
    let radius = tree.roots.length > 1 ? space * 1.5 : 0;
    byDepth(tree).forEach((nodes, depth) => {
      if (depth === 0 && nodes.length === 1) { at[nodes[0]] = { x: 0, y: 0 }; radius = space * 1.6; return; }
      nodes.sort((a, b) => row[a] - row[b]);
      let closest = length;
      nodes.forEach((node, k) => { if (k) closest = Math.min(closest, row[node] - row[nodes[k - 1]]); });
      const need = nodes.length > 1 ? (space * length) / (2 * Math.PI * closest) : 0; // the radius of a ring of one track
      const tracks = need > radius ? Math.max(1, Math.min(Math.round(Math.sqrt(need / space)), Math.ceil(need / radius))) : 1;
      radius = Math.max(radius, need / tracks);
      nodes.forEach((node, k) => { at[node] = onRing(radius + (k % tracks) * space, row[node] / length); });
      radius += tracks * space + space * 0.6;
    });
    return at;
  }

  function onRing(radius, turn) {
    const angle = 2 * Math.PI * turn - Math.PI / 2;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  }

  return { forest, layers, rings };
})();
