"use strict";
// The page: what is drawn, found, hidden and told. Everything from the data reaches the page as text, never as markup.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [ID, LABEL, KIND, NODE_MORE] = [0, 1, 2, 3];
  const [FROM, TO, ACTION, STATUS, EDGE_MORE, WEIGHT, ODDS] = [0, 1, 2, 3, 4, 5, 6];
  const nodes = data.nodes, edges = data.edges, statuses = data.statuses;
  const LISTED = 200, DRAWN_AROUND = 260, COSE = 500, SPRINGS = 8000, PLAIN = 400, TOLD = 60;
  const SVG = "http://www.w3.org/2000/svg";
  const DASHES = { solid: "", dashed: "7 4", dotted: "2 3" };
  const ARROWS = {
    filled: ["triangle", "filled"], hollow: ["triangle", "hollow"], open: ["vee", "filled"], diamond: ["diamond", "hollow"],
    circle: ["circle", "hollow"], square: ["square", "hollow"], crossed: ["triangle-cross", "filled"], wall: ["tee", "filled"],
  };
  const KINDS = {
    start: { "border-width": 3 }, here: { "border-width": 4, "border-style": "double" },
    goal: { "border-width": 5, "border-style": "double" }, choice: { shape: "diamond" },
    unknown: { shape: "ellipse", "border-style": "dotted" },
  };

  const $ = (id) => document.getElementById(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const stubs = edges.filter((edge) => edge[TO] < 0).length;
  const fitsWhole = nodes.length + edges.length + stubs <= data.most;
  const out = nodes.map(() => []), back = nodes.map(() => []);
  edges.forEach((edge, e) => { out[edge[FROM]].push(e); if (edge[TO] >= 0) back[edge[TO]].push(e); });
  const lower = { node: nodes.map((n) => (n[LABEL] + "\n" + n[ID]).toLowerCase()), edge: edges.map((e) => e[ACTION].toLowerCase()) };
  const state = {
    hidden: new Set(), selected: null, hits: [], hit: -1, query: "",
    extent: fitsWhole ? "all" : "2", layout: null, around: nodes.length ? data.first : -1,
  };
  let cy = null, drawn = { nodes: [], edges: [] }, fitted = "";

  // ---- small helpers -------------------------------------------------------------------------------------------
  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value); else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }
  function drawing(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  const number = (n) => n.toLocaleString("en");
  const many = (n, one, more) => number(n) + " " + (n === 1 ? one : more || one + "s");
  const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (c) =>
    c === "\n" || c === "\r" || c === "\t" ? " " : "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  function short(text, most) {
    const letters = Array.from(oneLine(text).slice(0, 4000));
    if (letters.length <= most) return letters.join("");
    const tail = Math.floor(most * 0.4);
    return letters.slice(0, most - tail - 1).join("") + "…" + letters.slice(-tail).join("");
  }
  const named = (node) => node[LABEL] === "" ? (node[ID] === "" ? "(no name)" : node[ID]) : node[LABEL];
  function caption(edge) {
    const odds = edge[ODDS] == null ? "" : "(" + Number(edge[ODDS].toPrecision(4)) + ")";
    return [edge[ACTION], odds].filter(Boolean).join(" ");
  }
  const colour = (status) => status[dark.matches ? "dark" : "light"];
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shown = (edge) => !state.hidden.has(edge[STATUS]);
  const same = (a, b) => a && b && a.type === b.type && a.index === b.index;

  // ---- signs: the same lines and arrowheads as in the picture ---------------------------------------------------
  function lineSign(status) {
    const ink = colour(status), ground = variable("--ground"), paint = { stroke: ink, "stroke-width": 1.5 };
    const heads = {
      filled: [["path", { d: "M24 1 L33 6 L24 11 Z", fill: ink }]],
      hollow: [["path", { d: "M24 1 L33 6 L24 11 Z", fill: ground }]],
      open: [["path", { d: "M24 1 L33 6 L24 11 L27 6 Z", fill: ink }]],
      diamond: [["path", { d: "M23 6 L28 1.5 L33 6 L28 10.5 Z", fill: ground }]],
      circle: [["circle", { cx: 28.5, cy: 6, r: 4, fill: ground }]],
      square: [["rect", { x: 24, y: 2, width: 8, height: 8, fill: ground }]],
      crossed: [["path", { d: "M24 1 L33 6 L24 11 Z", fill: ink }], ["path", { d: "M20 1 L20 11", fill: "none" }]],
      wall: [["path", { d: "M31 0.5 L31 11.5", fill: "none", "stroke-width": 3 }]],
    };
    const line = { x1: 1, y1: 6, x2: status.arrow === "wall" ? 30 : 24, y2: 6, "stroke-dasharray": DASHES[status.line], ...paint, "stroke-width": 2 };
    const head = data.directed ? heads[status.arrow] : [];
    return drawing("svg", { viewBox: "0 0 34 12", "aria-hidden": "true" }, drawing("line", line),
      ...head.map(([tag, more]) => drawing(tag, { ...paint, ...more })));
  }
  function nodeSign(kind) {
    const paint = { fill: variable("--node"), stroke: variable("--edge-of-node"), "stroke-width": 1.2 };
    const box = (inset, more) => drawing("rect", { x: 1 + inset, y: 1 + inset, width: 18 - 2 * inset, height: 12 - 2 * inset, rx: 3, ...paint, ...more });
    const signs = {
      choice: () => [drawing("path", { d: "M10 1 L17 7 L10 13 L3 7 Z", ...paint })],
      unknown: () => [drawing("circle", { cx: 10, cy: 7, r: 5, ...paint, "stroke-dasharray": "1.5 2" })],
      start: () => [box(0.5, { "stroke-width": 2.6 })],
      here: () => [box(0, { fill: variable("--mark") }), box(2.5, { fill: variable("--mark") })],
      goal: () => [box(0), box(2.5)],
    };
    return drawing("svg", { viewBox: "0 0 20 14", "aria-hidden": "true" }, ...(Object.hasOwn(signs, kind) ? signs[kind]() : [box(0)]));
  }

  // ---- what to draw ---------------------------------------------------------------------------------------------
  function chooseWhole() {
    return { nodes: [...nodes.keys()], edges: [...edges.keys()], cut: false };
  }
  function chooseAround(centre, steps) {
    const distance = new Map([[centre, 0]]), queue = [centre];
    let cut = false;
    for (let head = 0; head < queue.length; head++) {
      const here = queue[head];
      if (distance.get(here) === steps) continue;
      for (const e of [...out[here], ...back[here]]) {
        const edge = edges[e], next = edge[FROM] === here ? edge[TO] : edge[FROM];
        if (next < 0 || distance.has(next) || !shown(edge)) continue;
        if (queue.length === DRAWN_AROUND) { cut = true; continue; }
        distance.set(next, distance.get(here) + 1);
        queue.push(next);
      }
    }
    const chosen = [];
    for (const here of queue) {
      for (const e of out[here]) {
        if (!shown(edges[e]) || !(edges[e][TO] < 0 || distance.has(edges[e][TO]))) continue;
        if (chosen.length === 4 * DRAWN_AROUND) { cut = true; break; }
        chosen.push(e);
      }
    }
    return { nodes: queue, edges: chosen, cut };
  }
  const measure = (function () {
    const pen = document.createElement("canvas").getContext("2d");
    return (text) => { pen.font = "12px " + getComputedStyle(document.body).fontFamily; return pen.measureText(text).width; };
  })();

  function elementsOf(chosen, plain) {
    const made = [], index = new Map();
    function add(id, label, kind, more) {
      const round = kind === "unknown" || kind === "choice";
      const text = kind === "choice" && label.length > 3 ? "" : short(label, 24);
      const data = {
        id, label: text, kind, width: round ? 18 : plain ? 16 : Math.min(190, Math.max(28, measure(text) + 16)),
        height: round ? 18 : plain ? 16 : 24, ...more,
      };
      index.set(id, made.length);
      made.push({ group: "nodes", data });
    }
    for (const n of chosen.nodes) add("n" + n, named(nodes[n]), data.kinds[nodes[n][KIND]], { type: "node", index: n });
    const links = [];
    for (const e of chosen.edges) {
      const edge = edges[e];
      const target = edge[TO] < 0 ? "u" + e : "n" + edge[TO];
      if (edge[TO] < 0) add(target, statuses[edge[STATUS]].stub, "unknown", { type: "edge", index: e });
      links.push({
        group: "edges", classes: "s" + edge[STATUS],
        data: { id: "e" + e, source: "n" + edge[FROM], target, label: short(caption(edge), 28), type: "edge", index: e },
      });
    }
    return { made, links, index };
  }

  function place(elements, layout, plain) {
    const made = elements.made, out = made.map(() => []), back = made.map(() => []), links = [];
    for (const { data } of elements.links) {
      const a = elements.index.get(data.source), b = elements.index.get(data.target);
      if (a !== b) { out[a].push(b); back[b].push(a); links.push([a, b]); }
    }
    const box = $("graph").getBoundingClientRect(), aspect = Math.min(3, Math.max(0.5, (box.width || 4) / (box.height || 3)));
    if (layout === "springs") return springs.place(made.length, links, made.map((one) => ({ w: one.data.width, h: one.data.height })), aspect);
    const first = elements.index.get("n" + state.around) ?? 0;
    const tree = layouts.forest(made.length, out, data.directed ? back : out.map((list, k) => [...list, ...back[k]]), first);
    return layout === "layers"
      ? layouts.layers(tree, made.map((one) => one.data.width), plain ? { least: 40, most: 160, y: 22 } : { least: 70, most: 190, y: 30 }, aspect)
      : layouts.rings(tree, plain ? 26 : 74);
  }

  // A tree reads best in layers, a tangle with springs; a large tree in rings. A way there and back counts once.
  function bestLayout(chosen) {
    const size = chosen.nodes.length, pairs = new Set();
    for (const e of chosen.edges) {
      const a = Math.min(edges[e][FROM], edges[e][TO]), b = Math.max(edges[e][FROM], edges[e][TO]);
      if (a >= 0 && a !== b) pairs.add(a * nodes.length + b);
    }
    const tree = pairs.size <= 1.25 * size;
    return tree && size <= PLAIN ? "layers" : tree || size > SPRINGS ? "rings" : "springs";
  }
  function allow(name, words, allowed) {
    const option = $("layout").querySelector(`option[value="${name}"]`);
    option.disabled = !allowed;
    option.textContent = words + (allowed ? "" : " (too many states)");
    return allowed;
  }

  // While nobody has moved or zoomed the picture, it goes on filling its place when that grows or shrinks.
  const view = () => JSON.stringify([cy.zoom(), cy.pan()]);
  function fitWhole() {
    const visible = cy.elements().not(".off");
    cy.fit(visible, 20);
    if (cy.zoom() > 1.4) { cy.zoom(1.4); cy.center(visible); }
    fitted = view();
  }
  function resized() {
    const untouched = view() === fitted;
    cy.resize();
    if (untouched) fitWhole();
  }

  function draw() {
    const whole = state.extent === "all";
    const chosen = nodes.length === 0 ? { nodes: [], edges: [], cut: false }
      : whole ? chooseWhole() : chooseAround(state.around, Number(state.extent));
    say(whole, chosen); // first: the message takes room from the picture
    const plain = chosen.nodes.length > PLAIN;
    const elements = elementsOf(chosen, plain), size = elements.made.length;
    const open = { springs: allow("springs", "Springs", size <= SPRINGS), cose: allow("cose", "Springs (cose)", size <= COSE) };
    let layout = state.layout || bestLayout(chosen);
    if (open[layout] === false) layout = "rings";
    $("layout").value = layout;
    place(elements, layout, plain).forEach((spot, k) => { elements.made[k].position = spot; });
    if (layout === "layers" && !plain) bendWithin(elements);
    const big = size + elements.links.length > 1500, zoom = plain ? zoomToFit(elements.made) : 1;
    if (cy) cy.destroy();
    cy = cytoscape({
      container: $("graph"), style: looks(plain, big, zoom), minZoom: 0.005, maxZoom: 4, boxSelectionEnabled: false,
      autounselectify: true, hideEdgesOnViewport: big, textureOnViewport: big, pixelRatio: big ? 1 : "auto",
    });
    cy.add([...elements.made, ...elements.links]); // after the start, which would lay them out once more
    if (layout === "cose" && elements.links.length) {
      cy.layout({
        name: "cose", animate: false, randomize: false, fit: false, nodeDimensionsIncludeLabels: true,
        idealEdgeLength: () => 80, nodeOverlap: 30, componentSpacing: 60, numIter: 1500,
      }).run();
    }
    cy.batch(() => { hideHidden(); markHits(); markSelected(); });
    fitWhole();
    if (plain) keepVisible(big, zoom);
    cy.on("tap", "node, edge", (event) => select({ type: event.target.data("type"), index: event.target.data("index") }, false));
    cy.on("tap", (event) => { if (event.target === cy) select(null, false); });
    cy.on("mouseover", "node, edge", (event) => { closeTo(event.target).addClass("near"); $("graph").style.cursor = "pointer"; });
    cy.on("mouseout", "node, edge", (event) => { closeTo(event.target).removeClass("near"); $("graph").style.cursor = ""; });
    drawn = chosen;
  }
  // An edge within a column would run through the nodes between its ends: it goes round them.
  function bendWithin(elements) {
    const x = (id) => elements.made[elements.index.get(id)].position.x;
    for (const link of elements.links) {
      if (link.data.source !== link.data.target && Math.abs(x(link.data.target) - x(link.data.source)) < 30) link.classes += " arc";
    }
  }
  // Far away, the dots, lines and chosen names of a large graph keep a size on the screen that can be seen.
  function zoomToFit(made) {
    const box = $("graph").getBoundingClientRect(), low = { x: Infinity, y: Infinity }, high = { x: -Infinity, y: -Infinity };
    for (const { position } of made) {
      for (const of of ["x", "y"]) { low[of] = Math.min(low[of], position[of]); high[of] = Math.max(high[of], position[of]); }
    }
    return Math.min(box.width / (high.x - low.x + 40), box.height / (high.y - low.y + 40));
  }
  function keepVisible(big, zoom) {
    const mine = cy;
    let waiting = 0, last = zoom;
    function apply() {
      const ratio = cy.zoom() / last;
      if (mine !== cy || (ratio > 0.6 && ratio < 1.7)) return;
      last = cy.zoom();
      cy.style(looks(true, big, last));
    }
    cy.on("zoom", () => { clearTimeout(waiting); waiting = setTimeout(apply, 150); });
  }
  const closeTo = (one) => one.isNode() && one.degree() <= 60 ? one.connectedEdges() : one;

  function say(whole, chosen) {
    const parts = [];
    if (!fitsWhole) {
      parts.push("This graph is large (" + many(nodes.length, "state") + ", " + many(edges.length, "edge") + "). ");
    }
    if (!whole && nodes.length) {
      parts.push("Drawn: " + many(chosen.nodes.length, "state") + " around “" + short(named(nodes[state.around]), 40) + "”");
      parts.push(chosen.cut ? ", as many as can be read; the lists hold the rest. " : ". ");
      parts.push("Select another state to go there.");
    }
    $("message").textContent = parts.join("");
    $("message").hidden = parts.length === 0;
  }

  // ---- looks ----------------------------------------------------------------------------------------------------
  function looks(plain, big, zoom) {
    const scale = plain ? Math.min(20, Math.max(1, 0.4 / zoom)) : 1, thick = big ? scale : 1;
    const name = { label: "data(label)", "min-zoomed-font-size": 0, ...(plain ? { "font-size": Math.max(12, 11 / zoom) } : {}) };
    const text = variable("--text"), ground = variable("--ground"), accent = variable("--accent");
    const font = getComputedStyle(document.body).fontFamily;
    const sheet = [
      { selector: "node", style: {
        shape: plain ? "ellipse" : "round-rectangle", width: plain ? 16 * scale : "data(width)", height: plain ? 16 * scale : "data(height)", label: "data(label)", color: text,
        "background-color": variable(plain ? "--dot" : "--node"), "border-width": 1.2 * scale, "border-color": variable("--edge-of-node"),
        "font-family": font, "font-size": 12, "text-valign": plain ? "bottom" : "center", "text-margin-y": plain ? 2 : 0,
        "min-zoomed-font-size": plain ? 11 : 5, "z-index": 2, "overlay-opacity": 0 } },
      { selector: "edge", style: {
        width: big ? 1.6 * thick : 1.8, "curve-style": big ? "straight" : "bezier", "control-point-step-size": 34, "arrow-scale": big ? 0.7 : 1,
        label: plain ? "" : "data(label)", "font-family": font, "font-size": 10, "text-rotation": "autorotate",
        "min-zoomed-font-size": 6, "text-background-color": ground, "text-background-opacity": 0.85, "text-background-padding": 1.5,
        "loop-direction": "-45deg", "loop-sweep": "40deg", "overlay-opacity": 0, opacity: big ? 0.7 : 1 } },
      { selector: "edge.arc", style: { "curve-style": "unbundled-bezier", "control-point-distances": 46, "control-point-weights": 0.5 } },
    ];
    if (plain) sheet.push({ selector: 'node[kind = "here"], node[kind = "start"], node[kind = "goal"]', style: { width: 30 * scale, height: 30 * scale, "z-index": 3 } });
    for (const [kind, style] of Object.entries(KINDS)) sheet.push({ selector: `node[kind = "${kind}"]`, style });
    sheet.push({ selector: 'node[kind = "here"]', style: { "background-color": variable("--mark") } });
    sheet.push({ selector: 'node[kind = "unknown"]', style: { "background-opacity": 0, "text-valign": "center", "text-margin-y": 0, "font-size": 11, color: variable("--faint") } });
    statuses.forEach((status, s) => {
      const [shape, fill] = data.directed ? ARROWS[status.arrow] : ["none", "filled"];
      const dashed = status.line === "solid" ? { "line-style": "solid" }
        : { "line-style": "dashed", "line-dash-pattern": DASHES[status.line].split(" ").map((dash) => Number(dash) * thick) };
      sheet.push({ selector: "edge.s" + s, style: {
        "line-color": colour(status), color: colour(status), "target-arrow-color": colour(status),
        "target-arrow-shape": shape, "target-arrow-fill": fill, ...dashed } });
    });
    sheet.push(
      { selector: ".dim", style: { opacity: 0.18 } },
      { selector: "node.hit", style: { opacity: 1, "border-color": accent, "border-width": 3 * scale, "z-index": 6 } },
      { selector: "edge.hit", style: { opacity: 1, width: 3.5 * thick, "z-index": 6 } },
      { selector: "node.beside", style: { opacity: 1 } },
      { selector: "edge.beside", style: { opacity: 1, label: "data(label)", "z-index": 7 } },
      { selector: ".near", style: { opacity: 1, "z-index": 8, ...name } },
      { selector: "edge.near", style: { width: 3 * thick } },
      { selector: ".told", style: name },
      { selector: "node.selected", style: { opacity: 1, "border-color": accent, "border-width": 4 * scale, "z-index": 9, ...glow(7 * scale), ...name } },
      { selector: "edge.selected", style: { opacity: 1, width: 4 * thick, "z-index": 9, ...glow(5 * thick), ...name } },
      { selector: ".off", style: { display: "none" } });
    return sheet;
  }
  const glow = (padding) => ({ "underlay-color": variable("--accent"), "underlay-opacity": 0.25, "underlay-padding": padding });
  const inPicture = (what) => cy.getElementById((what.type === "node" ? "n" : "e") + what.index);
  function hideHidden() {
    cy.edges().forEach((one) => {
      const off = !shown(edges[one.data("index")]);
      one.toggleClass("off", off);
      if (one.target().data("type") === "edge") one.target().toggleClass("off", off);
    });
  }
  function markHits() {
    cy.elements().removeClass("hit dim told");
    if (state.query === "") return;
    cy.elements().addClass("dim");
    for (const hit of state.hits) inPicture(hit).removeClass("dim").addClass(state.hits.length <= TOLD ? "hit told" : "hit");
  }
  function markSelected() {
    cy.elements().removeClass("selected beside");
    if (!state.selected) return;
    const one = inPicture(state.selected);
    one.addClass("selected");
    if (one.length && one.isNode() && one.degree() <= 200) one.connectedEdges().addClass("beside").connectedNodes().addClass("beside");
    if (one.length && one.isEdge()) one.connectedNodes().addClass("beside");
  }
  function lookAt(ones) {
    const visible = ones.not(".off");
    if (!visible.length) return;
    cy.fit(visible, 70);
    if (cy.zoom() > 1.3) { cy.zoom(1.3); cy.center(visible); }
  }

  // ---- select, and tell in the panel ----------------------------------------------------------------------------
  function select(what, zoom) {
    state.selected = what;
    const centre = !what ? state.around : what.type === "node" ? what.index : edges[what.index][FROM];
    const moved = centre !== state.around;
    state.around = centre;
    if (state.extent !== "all" && moved) draw();
    else cy.batch(markSelected);
    if (what && zoom) {
      const one = inPicture(what);
      lookAt(what.type === "edge" ? one.union(one.connectedNodes()) : state.extent === "all" ? one.closedNeighborhood() : cy.elements());
    }
    tell();
    for (const row of $("list").querySelectorAll(".row")) row.setAttribute("aria-current", String(same(row.subject, what)));
    const current = $("list").querySelector('[aria-current="true"]');
    if (current) current.scrollIntoView({ block: "nearest" });
  }

  function row(what, sign, name, note) {
    const made = element("button", { type: "button", class: "row", onclick: () => select(what, true) }, sign,
      element("span", { class: "name", title: name }, oneLine(name)), element("span", { class: "note" }, note));
    made.subject = what;
    return made;
  }
  const nodeRow = (n) => row({ type: "node", index: n }, nodeSign(data.kinds[nodes[n][KIND]]), named(nodes[n]), data.kinds[nodes[n][KIND]]);
  const edgeRow = (e) => row({ type: "edge", index: e }, lineSign(statuses[edges[e][STATUS]]), caption(edges[e]) || "(no name)", statuses[edges[e][STATUS]].name);
  function wayRow(e, forward) {
    const edge = edges[e], status = statuses[edge[STATUS]], other = forward ? edge[TO] : edge[FROM];
    const place = other < 0 ? status.stub : named(nodes[other]);
    const words = data.directed ? (forward ? caption(edge) + " → " + place : place + " → " + caption(edge)) : caption(edge) + " – " + place;
    return row({ type: "edge", index: e }, lineSign(status), words, status.name);
  }
  function listOf(rows, total, words) {
    const list = element("ul", { class: "links" }, ...rows.map((one) => element("li", {}, one)));
    if (total > rows.length) list.append(element("li", { class: "more" }, "and " + number(total - rows.length) + " more" + words));
    return list;
  }
  function value(given) {
    return typeof given === "string" ? given : element("code", {}, given[0]);
  }
  function facts(pairs, more) {
    const list = element("dl");
    for (const [name, given] of [...pairs, ...Object.entries(more).map(([name, given]) => [name, value(given)])]) {
      list.append(element("dt", {}, oneLine(name)), element("dd", {}, given));
    }
    return list;
  }
  function go(n) {
    return n < 0 ? "nobody knows" : element("button", { type: "button", class: "go", onclick: () => select({ type: "node", index: n }, true) }, named(nodes[n]));
  }
  function tell() {
    const panel = $("panel"), what = state.selected;
    panel.replaceChildren();
    panel.scrollTop = 0;
    if (!what) return tellGraph(panel);
    if (what.type === "node") tellNode(panel, what.index); else tellEdge(panel, what.index);
  }
  function tellGraph(panel) {
    panel.append(element("h2", {}, "About this picture"));
    for (const note of data.notes) panel.append(element("p", { class: "hint" }, note));
    const keys = [["/", "find"], ["Enter", "next hit"], ["Shift+Enter", "hit before"], ["Esc", "clear"], ["+ − 0", "zoom, fit"], ["arrows", "move the picture, or go along a list"]];
    panel.append(element("p", { class: "hint" }, "Select a state or an edge to read all that is known of it. Hold the pointer over an edge to see its name."),
      element("h3", {}, "Keys"), element("dl", {}, ...keys.flatMap(([key, does]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, does)])));
  }
  function tellNode(panel, n) {
    const node = nodes[n], kind = data.kinds[node[KIND]];
    panel.append(element("h2", {}, named(node)), element("p", { class: "badge" }, nodeSign(kind), kind), facts([["id", node[ID]]], node[NODE_MORE]));
    for (const [title, all, forward] of data.directed ? [["Ways out", out[n], true], ["Ways in", back[n], false]]
      : [["Edges", [...out[n], ...back[n]], null]]) {
      const visible = all.filter((e) => shown(edges[e])), hidden = all.length - visible.length;
      panel.append(element("h3", {}, title + " (" + number(visible.length) + (hidden ? ", and " + number(hidden) + " hidden by the legend" : "") + ")"),
        listOf(visible.slice(0, LISTED).map((e) => wayRow(e, forward ?? edges[e][FROM] === n)), visible.length, ""));
    }
  }
  function tellEdge(panel, e) {
    const edge = edges[e], status = statuses[edge[STATUS]], pairs = [["from", go(edge[FROM])], ["to", go(edge[TO])]];
    if (edge[WEIGHT] != null) pairs.push(["weight", value(edge[WEIGHT])]);
    if (edge[ODDS] != null) pairs.push(["probability", value([String(edge[ODDS])])]);
    panel.append(element("h2", {}, edge[ACTION] || "(no name)"),
      element("p", { class: "badge" }, lineSign(status), status.name + (status.meaning ? ": " + status.meaning : "")), facts(pairs, edge[EDGE_MORE]));
  }

  // ---- find -----------------------------------------------------------------------------------------------------
  function find() {
    state.query = $("search").value.trim().toLowerCase();
    state.hits = [];
    state.hit = -1;
    if (state.query !== "") {
      lower.node.forEach((text, n) => { if (text.includes(state.query)) state.hits.push({ type: "node", index: n }); });
      lower.edge.forEach((text, e) => { if (text.includes(state.query) && shown(edges[e])) state.hits.push({ type: "edge", index: e }); });
    }
    listHits();
    cy.batch(markHits);
    if (state.query !== "" && state.extent === "all") lookAt(cy.elements(".hit"));
  }
  function listHits() {
    const empty = state.query === "";
    const found = empty ? nodes.map((_, n) => n).slice(0, LISTED).map((n) => ({ type: "node", index: n })) : state.hits.slice(0, LISTED);
    const total = empty ? nodes.length : state.hits.length;
    $("list").replaceChildren(...found.map((hit) => element("li", {}, hit.type === "node" ? nodeRow(hit.index) : edgeRow(hit.index))));
    if (total > found.length) $("list").append(element("li", { class: "more" }, "and " + number(total - found.length) + " more; type to find them"));
    countHits();
  }
  function countHits() {
    const count = state.hits.length;
    $("hits").textContent = state.query === "" ? "" : count === 0 ? "nothing found" : state.hit < 0 ? number(count) + " found; Enter goes to each" : number(state.hit + 1) + " of " + number(count);
  }
  function cycle(by) {
    if (!state.hits.length) return;
    state.hit = state.hit < 0 ? (by > 0 ? 0 : state.hits.length - 1) : (state.hit + by + state.hits.length) % state.hits.length;
    select(state.hits[state.hit], true);
    countHits();
  }

  // ---- legend ---------------------------------------------------------------------------------------------------
  function legend() {
    const count = statuses.map(() => 0);
    for (const edge of edges) count[edge[STATUS]]++;
    $("legend").replaceChildren(...statuses.map((status, s) => element("li", {}, element("button", {
      type: "button", class: "row", "aria-pressed": String(!state.hidden.has(s)), title: status.meaning || status.name, onclick: () => toggle(s),
    }, lineSign(status), element("span", { class: "name" }, oneLine(status.name)), element("span", { class: "note" }, number(count[s]))))));
    const present = [...new Set(nodes.map((node) => node[KIND]))].map((k) => data.kinds[k]);
    if (stubs) present.push("unknown");
    $("kinds").replaceChildren(...[...new Set(present)].map((kind) => element("li", {}, nodeSign(kind), oneLine(kind))));
  }
  function toggle(s) {
    if (!state.hidden.delete(s)) state.hidden.add(s);
    $("legend").children[s].firstChild.setAttribute("aria-pressed", String(!state.hidden.has(s)));
    if (state.extent === "all") cy.batch(hideHidden); else draw();
    if (state.query !== "") findAgain();
    tell();
  }
  function findAgain() {
    const before = state.hits[state.hit];
    state.hits = state.hits.filter((one) => one.type === "node");
    lower.edge.forEach((text, e) => { if (text.includes(state.query) && shown(edges[e])) state.hits.push({ type: "edge", index: e }); });
    state.hit = state.hits.findIndex((one) => same(one, before));
    listHits();
    cy.batch(markHits);
  }

  // ---- keys and controls ----------------------------------------------------------------------------------------
  function zoomBy(factor) {
    cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  }
  const pictureKeys = {
    ArrowLeft: () => cy.panBy({ x: 60, y: 0 }), ArrowRight: () => cy.panBy({ x: -60, y: 0 }),
    ArrowUp: () => cy.panBy({ x: 0, y: 60 }), ArrowDown: () => cy.panBy({ x: 0, y: -60 }),
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => fitWhole(),
  };
  function listen() {
    let waiting = 0;
    $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 100); });
    $("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        if ($("search").value.trim().toLowerCase() !== state.query) { clearTimeout(waiting); find(); }
        cycle(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") { $("search").value = ""; find(); }
    });
    $("previous").addEventListener("click", () => cycle(-1));
    $("next").addEventListener("click", () => cycle(1));
    $("layout").addEventListener("change", () => { state.layout = $("layout").value; draw(); });
    $("extent").addEventListener("change", () => { state.extent = $("extent").value; draw(); });
    $("closer").addEventListener("click", () => zoomBy(1.25));
    $("farther").addEventListener("click", () => zoomBy(0.8));
    $("fit").addEventListener("click", pictureKeys[0]);
    $("graph").addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? null : pictureKeys[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); $("search").focus(); $("search").select(); }
      else if (event.key === "Escape" && document.activeElement !== $("search")) select(null, false);
      else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && document.activeElement.classList.contains("row")) {
        const rows = [...document.activeElement.closest("ul, ol").querySelectorAll(".row")];
        const to = rows[rows.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
        if (to) { event.preventDefault(); to.focus(); }
      }
    });
    dark.addEventListener("change", () => { legend(); listHits(); tell(); draw(); });
    window.addEventListener("resize", resized);
  }

  $("counts").textContent = many(nodes.length, "state") + ", " + many(edges.length, "edge");
  if (!fitsWhole) $("extent").querySelector('option[value="all"]').remove();
  $("extent").value = state.extent;
  legend();
  draw();
  listHits();
  tell();
  listen();
  // For the console and for tests: the picture as it is now, and a way to select as a click does.
  window.surefoot = { picture: () => cy, select, drawn: () => drawn };
})();
