"use strict";
// Where nodes go when joined ones pull together and all push apart. No chance: the same graph, the same picture.
// First distances along edges to a few pivots, seen from the two directions in which they spread most (Brandes and Pich
// 2006, Eigensolver Methods for Progressive Multidimensional Scaling), then forces (Fruchterman and Reingold 1991) with
// far nodes taken together (Barnes and Hut 1986). About n log n for each of at most 160 rounds.
const springs = (function () {
  const PIVOTS = 24, TURNS = 60, FAR = 0.9, DEEPEST = 24;

  // Each connected part by itself, the parts side by side on shelves, the largest first.
  function place(count, links, sizes, aspect) {
    const joined = Array.from({ length: count }, () => []);
    for (const [a, b] of links) { joined[a].push(b); joined[b].push(a); }
    const at = new Array(count), boxes = [];
    for (const part of parts(count, joined)) {
      const spots = one(part, joined, sizes, aspect);
      part.forEach((node, k) => { at[node] = spots[k]; });
      boxes.push({ part, ...bounds(part, at, sizes) });
    }
    shelve(boxes, at, aspect);
    return at;
  }

  function parts(count, joined) {
    const seen = new Uint8Array(count), found = [];
    for (let start = 0; start < count; start++) {
      if (seen[start]) continue;
      const part = [start];
      seen[start] = 1;
      for (let head = 0; head < part.length; head++) {
        for (const next of joined[part[head]]) if (!seen[next]) { seen[next] = 1; part.push(next); }
      }
      found.push(part);
    }
    return found;
  }

  function one(part, joined, sizes, aspect) {
    const n = part.length;
    if (n === 1) return [{ x: 0, y: 0 }];
    const local = new Map(part.map((node, k) => [node, k]));
    const near = part.map((node) => joined[node].map((other) => local.get(other)));
    const width = part.map((node) => sizes[node].w), height = part.map((node) => sizes[node].h);
    const unit = n > 400 ? 34 : Math.sqrt((mean(width) + 34) * (mean(height) + 34)) * 1.25;
    const { x, y } = survey(near, unit);
    relax(near, x, y, unit, n > 1500 ? 90 : 160);
    const spots = [...x].map((one, k) => ({ x: one, y: y[k] }));
    level(spots, aspect, n > 400 ? 1.35 : 1.7);
    fill(spots, width, height);
    if (n <= 600) apart(spots, width, height);
    return spots;
  }
  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

  function distances(near, from) {
    const far = new Float64Array(near.length).fill(-1), queue = [from];
    far[from] = 0;
    for (let head = 0; head < queue.length; head++) {
      for (const next of near[queue[head]]) if (far[next] < 0) { far[next] = far[queue[head]] + 1; queue.push(next); }
    }
    return far;
  }

  function survey(near, unit) {
    const n = near.length, columns = [], closest = new Float64Array(n).fill(Infinity);
    let pivot = 0;
    for (let k = 0; k < Math.min(PIVOTS, n); k++) {
      const far = distances(near, pivot);
      for (let i = 0; i < n; i++) closest[i] = Math.min(closest[i], far[i]);
      columns.push(far.map((one) => one * one));
      for (let i = 0; i < n; i++) if (closest[i] > closest[pivot]) pivot = i;
    }
    const of = columns.map(mean), all = mean(of);
    const across = new Float64Array(n);
    for (let i = 0; i < n; i++) across[i] = columns.reduce((sum, column) => sum + column[i], 0) / columns.length;
    columns.forEach((column, k) => { for (let i = 0; i < n; i++) column[i] = -0.5 * (column[i] - of[k] - across[i] + all); });
    const square = columns.map((a) => columns.map((b) => { let sum = 0; for (let i = 0; i < n; i++) sum += a[i] * b[i]; return sum; }));
    const [first, second] = mainDirections(square);
    const along = (direction) => {
      const values = new Float64Array(n);
      columns.forEach((column, k) => { for (let i = 0; i < n; i++) values[i] += column[i] * direction[k]; });
      return values;
    };
    const x = along(first), y = along(second);
    const step = Math.sqrt(n) * unit / (Math.max(...spread(x), ...spread(y)) || 1);
    for (let i = 0; i < n; i++) { // twins would share a spot: a sunflower of small steps tells them apart
      x[i] = x[i] * step + 0.3 * unit * Math.sqrt((i % 97) / 97) * Math.cos(i * 2.399963);
      y[i] = y[i] * step + 0.3 * unit * Math.sqrt((i % 97) / 97) * Math.sin(i * 2.399963);
    }
    return { x, y };
  }
  function spread(values) {
    const middle = mean(values);
    return [2 * Math.sqrt(mean(values.map((one) => (one - middle) ** 2)))];
  }
  function mainDirections(square) {
    const found = [];
    for (let d = 0; d < 2; d++) {
      let vector = square.map((_, k) => 1 + ((k * 7 + d * 3) % 5) / 5);
      for (let turn = 0; turn < TURNS; turn++) {
        vector = square.map((row) => row.reduce((sum, one, k) => sum + one * vector[k], 0));
        for (const before of found) {
          const shared = before.reduce((sum, one, k) => sum + one * vector[k], 0);
          vector = vector.map((one, k) => one - shared * before[k]);
        }
        const size = Math.hypot(...vector) || 1;
        vector = vector.map((one) => one / size);
      }
      found.push(vector);
    }
    return found;
  }

  function relax(near, x, y, unit, rounds) {
    const n = near.length, px = new Float64Array(n), py = new Float64Array(n);
    for (let round = 0; round < rounds; round++) {
      const heat = unit * (0.03 + 1.2 * (1 - round / rounds) ** 2);
      const tree = gather(x, y);
      px.fill(0);
      py.fill(0);
      for (let i = 0; i < n; i++) tree.push(i, x, y, unit * unit, px, py);
      for (let i = 0; i < n; i++) {
        for (const j of near[i]) {
          const dx = x[j] - x[i], dy = y[j] - y[i], far = Math.sqrt(dx * dx + dy * dy);
          const fewest = Math.min(near[i].length, near[j].length); // the end of a way stays near, a crossroads gives way
          const pull = (far / unit) * (fewest === 1 ? 2 : 1 / Math.sqrt(Math.max(1, fewest / 4)));
          px[i] += dx * pull;
          py[i] += dy * pull;
        }
      }
      for (let i = 0; i < n; i++) {
        const force = Math.sqrt(px[i] * px[i] + py[i] * py[i]);
        if (force > 0) { x[i] += (px[i] / force) * Math.min(force, heat); y[i] += (py[i] / force) * Math.min(force, heat); }
      }
    }
  }

  // A quadtree in flat arrays: mass and centre of each square; a leaf holds one node, or a heap at the deepest level.
  function gather(x, y) {
    const n = x.length;
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (let i = 0; i < n; i++) {
      left = Math.min(left, x[i]); right = Math.max(right, x[i]); top = Math.min(top, y[i]); bottom = Math.max(bottom, y[i]);
    }
    const side = Math.max(right - left, bottom - top, 1) * 1.0001;
    const mass = [0], cx = [0], cy = [0], kid = [[-1, -1, -1, -1]], leaf = [-1];
    const add = () => { mass.push(0); cx.push(0); cy.push(0); kid.push([-1, -1, -1, -1]); leaf.push(-1); return mass.length - 1; };
    for (let i = 0; i < n; i++) {
      let square = 0, ax = left, ay = top, size = side, carried = -1;
      for (let depth = 0; ; depth++) {
        const empty = mass[square] === 0;
        cx[square] = (cx[square] * mass[square] + x[i]) / (mass[square] + 1);
        cy[square] = (cy[square] * mass[square] + y[i]) / (mass[square] + 1);
        mass[square]++;
        if (empty) { leaf[square] = i; break; }
        if (depth >= DEEPEST) break;
        size /= 2;
        if (leaf[square] >= 0) {
          carried = leaf[square];
          leaf[square] = -1;
          const q = (x[carried] >= ax + size ? 1 : 0) + (y[carried] >= ay + size ? 2 : 0), made = add();
          kid[square][q] = made;
          mass[made] = 1; cx[made] = x[carried]; cy[made] = y[carried]; leaf[made] = carried;
        }
        const q = (x[i] >= ax + size ? 1 : 0) + (y[i] >= ay + size ? 2 : 0);
        if (q & 1) ax += size;
        if (q & 2) ay += size;
        if (kid[square][q] < 0) { const made = add(); kid[square][q] = made; }
        square = kid[square][q];
      }
    }
    const stack = new Int32Array(4 * DEEPEST + 8), sizes = new Float64Array(4 * DEEPEST + 8);
    function push(i, x, y, strength, px, py) {
      let top = 0;
      stack[0] = 0; sizes[0] = side;
      while (top >= 0) {
        const square = stack[top], size = sizes[top--];
        const dx = x[i] - cx[square], dy = y[i] - cy[square];
        const far2 = dx * dx + dy * dy;
        const alone = leaf[square] >= 0;
        if (alone ? leaf[square] !== i : size * size < FAR * FAR * far2) {
          const weight = (strength * mass[square]) / Math.max(far2, strength * 1e-4);
          px[i] += dx * weight;
          py[i] += dy * weight;
        } else if (!alone) {
          for (const next of kid[square]) if (next >= 0) { stack[++top] = next; sizes[top] = size / 2; }
        }
      }
    }
    return { push };
  }

  // Turn so that the long way lies across the picture, and stretch towards its shape without changing the area.
  function level(spots, aspect, most) {
    const mx = mean(spots.map((s) => s.x)), my = mean(spots.map((s) => s.y));
    let xx = 0, yy = 0, xy = 0;
    for (const s of spots) { xx += (s.x - mx) ** 2; yy += (s.y - my) ** 2; xy += (s.x - mx) * (s.y - my); }
    const angle = 0.5 * Math.atan2(2 * xy, xx - yy), cos = Math.cos(angle), sin = Math.sin(angle);
    for (const s of spots) {
      const dx = s.x - mx, dy = s.y - my;
      s.x = dx * cos + dy * sin;
      s.y = dy * cos - dx * sin;
    }
    const stretch = Math.min(most, Math.max(1 / most, Math.sqrt((aspect * range(spots, "y")) / range(spots, "x"))));
    for (const s of spots) { s.x *= stretch; s.y /= stretch; }
  }
  function range(spots, of) {
    let low = Infinity, high = -Infinity;
    for (const spot of spots) { low = Math.min(low, spot[of]); high = Math.max(high, spot[of]); }
    return Math.max(high - low, 1);
  }

  // Scale to the room that the boxes and the names between them need, so that they can be read.
  function fill(spots, width, height) {
    const area = Math.max(1, range(spots, "x") * range(spots, "y"));
    const wanted = spots.length * (mean(width) + 46) * (mean(height) + 40) * 1.5;
    const by = Math.min(3, Math.sqrt(wanted / area));
    for (const s of spots) { s.x *= by; s.y *= by; }
  }

  // Push boxes that overlap apart, along the way that takes the smaller step.
  function apart(spots, width, height) {
    const n = spots.length;
    for (let round = 0; round < 120; round++) {
      let moved = false;
      for (let i = 0; i < n; i++) {
        for (let j = i + 1; j < n; j++) {
          const a = spots[i], b = spots[j], dx = b.x - a.x, dy = b.y - a.y;
          const ox = (width[i] + width[j]) / 2 + 16 - Math.abs(dx), oy = (height[i] + height[j]) / 2 + 14 - Math.abs(dy);
          if (ox <= 0 || oy <= 0) continue;
          moved = true;
          if (ox < oy) { const by = (dx < 0 ? -ox : ox) / 2; a.x -= by; b.x += by; }
          else { const by = (dy < 0 ? -oy : oy) / 2; a.y -= by; b.y += by; }
        }
      }
      if (!moved) return;
    }
  }

  function bounds(part, at, sizes) {
    let x1 = Infinity, x2 = -Infinity, y1 = Infinity, y2 = -Infinity;
    for (const node of part) {
      x1 = Math.min(x1, at[node].x - sizes[node].w / 2); x2 = Math.max(x2, at[node].x + sizes[node].w / 2);
      y1 = Math.min(y1, at[node].y - sizes[node].h / 2); y2 = Math.max(y2, at[node].y + sizes[node].h / 2);
    }
    return { x1, y1, w: x2 - x1 + 30, h: y2 - y1 + 30 };
  }

  function shelve(boxes, at, aspect) {
    boxes.sort((a, b) => b.h - a.h || b.w - a.w || a.part[0] - b.part[0]);
    const area = boxes.reduce((sum, box) => sum + box.w * box.h, 0);
    const widest = boxes.reduce((most, box) => Math.max(most, box.w), Math.sqrt(area * aspect));
    let x = 0, y = 0, tall = 0;
    for (const box of boxes) {
      if (x > 0 && x + box.w > widest) { x = 0; y += tall; tall = 0; }
      for (const node of box.part) at[node] = { x: at[node].x - box.x1 + x, y: at[node].y - box.y1 + y };
      x += box.w;
      tall = Math.max(tall, box.h);
    }
  }

  return { place };
})();
