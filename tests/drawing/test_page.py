from __future__ import annotations

import base64
import functools
import hashlib
import html
import importlib.resources
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from surefoot.drawing import Edge, Graph, Node, to_html
from surefoot.drawing.looks import LOOKS
from surefoot.errors import BadArgument, ValueRejected

ASSETS = ["cytoscape.LICENSE", "cytoscape.min.js", "layouts.js", "page.css", "page.html", "page.js", "springs.js"]
EVIL = [
    "</script><script>document.title='hacked'</script>",
    "<img src=x onerror=document.title='hacked'>",
    "<!--<script>",
    "<svg onload=\"document.title='hacked'\">",
    "javascript:document.title='hacked'",
    "{{title}}{{data}}",
    "constructor",
    "__proto__",
    "toString",
    "\u2028 \u202e \x00 \\ \" ' & \n",
    "",
]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(EVIL)


class Reader(HTMLParser):
    """Collects the tags, the attributes and the insides of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self._reading = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._reading = tag in ("script", "style", "title")
        if self._reading:
            self.inside.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._reading = False

    def handle_data(self, data: str) -> None:
        if self._reading:
            tag, attributes, before = self.inside.pop()
            self.inside.append((tag, attributes, before + data))

    def all_of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for name, attributes, text in self.inside if name == tag]

    @property
    def data(self) -> Any:
        (found,) = [text for attributes, text in self.all_of("script") if attributes.get("id") == "data"]
        return json.loads(found)

    @property
    def policy(self) -> dict[str, list[str]]:
        (content,) = [a["content"] for tag, a in self.tags if a.get("http-equiv") == "Content-Security-Policy"]
        assert content is not None
        return {rule.split()[0]: rule.split()[1:] for rule in content.split(";")}


def house() -> Graph:
    nodes = [
        Node("s0", "kitchen", "start", {"visits": 3, "colour": "red", "where": (1, 2.0)}),
        Node("s1", "hall"),
        Node("s2", "garden", "goal"),
    ]
    edges = [
        Edge("s0", "s1", "open door", "confirmed", {"taken": 2}, weight=2),
        Edge("s1", "s2", "go out", "hypothesis", probability=0.25),
        Edge("s1", None, "climb", "untaken"),
        Edge("s2", "s0", "jump", "refuted"),
        Edge("s2", "s1", "return", "tried"),
    ]
    return Graph("house", nodes, edges, notes=["small"])


def pairs_of(data: dict[str, object]) -> dict[str, object]:
    return {name: value if isinstance(value, str) else [repr(value)] for name, value in data.items()}


def test_the_data_of_the_page_is_the_graph() -> None:
    graph = house()
    data = Reader(to_html(graph, focus="s1", most=7)).data
    assert (data["name"], data["notes"], data["directed"], data["most"]) == ("house", ["small"], True, 7)
    assert data["nodes"][data["first"]][0] == "s1"
    nodes = [(id_, label, data["kinds"][kind], more) for id_, label, kind, more in data["nodes"]]
    assert nodes == [(node.id, node.label, node.kind, pairs_of(dict(node.attributes))) for node in graph.nodes]
    place = {node.id: n for n, node in enumerate(graph.nodes)}
    assert [(e[0], e[1], e[2], data["statuses"][e[3]]["name"], e[4], e[5], e[6]) for e in data["edges"]] == [
        (
            place[edge.source],
            -1 if edge.target is None else place[edge.target],
            edge.label,
            edge.status,
            pairs_of(dict(edge.attributes)),
            None if edge.weight is None else [repr(edge.weight)],
            edge.probability,
        )
        for edge in graph.edges
    ]
    assert data["statuses"][0] == {
        "name": "confirmed",
        **{name: getattr(LOOKS["confirmed"], name) for name in ("meaning", "line", "arrow", "light", "dark", "stub")},
    }
    assert data["statuses"][-1]["name"] == "tried"


@settings(max_examples=settings().max_examples // 2)  # each reads half a megabyte twice
@given(text=texts, other=texts)
@example(text=EVIL[0], other=EVIL[2])
def test_any_text_stays_data(text: str, other: str) -> None:
    graph = Graph(text, [Node(text, other, text, {other: text})], [Edge(text, None, other, text)], notes=[other])
    page = to_html(graph)
    reader = Reader(page)
    assert reader.tags == Reader(to_html(Graph("x", []))).tags
    data = reader.data
    assert (data["name"], data["notes"], data["kinds"]) == (text, [other], [text])
    assert data["nodes"] == [[text, other, 0, {other: text}]]
    assert data["edges"] == [[0, -1, other, 0, {}, None, None]]
    raw = page.partition('id="data">')[2].partition("</script>")[0]
    assert not set(raw) & set("<>&\u2028\u2029")


def test_no_text_of_the_graph_stands_as_markup() -> None:
    for evil in EVIL[:4]:
        page = to_html(Graph(evil, [Node(evil, evil)]), title=evil)
        assert evil not in page
        assert page.count(html.escape(evil)) == 2  # title and headline


def test_the_policy_allows_the_scripts_and_styles_of_the_page_and_nothing_else() -> None:
    reader = Reader(to_html(house()))

    def hashes(tag: str) -> list[str]:
        run = [text for attributes, text in reader.all_of(tag) if attributes.get("type") != "application/json"]
        return [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in run]

    assert reader.policy == {
        "default-src": ["'none'"],
        "script-src": hashes("script"),
        "style-src": hashes("style"),
        "img-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    assert len(hashes("script")) == 4
    first = next(n for n, (tag, _) in enumerate(reader.tags) if tag in ("script", "style", "link"))
    assert any("http-equiv" in attributes for _, attributes in reader.tags[:first])


def test_the_page_loads_nothing_from_anywhere() -> None:
    reader = Reader(to_html(house()))
    loads = {"src", "href", "srcset", "action", "formaction", "poster", "data", "background", "style"}
    found = [(tag, name, value) for tag, given in reader.tags for name, value in given.items() if name in loads]
    assert found == [("link", "href", "data:,")]
    assert not any(name.startswith("on") for _, given in reader.tags for name in given)
    ours = "".join(asset(name) for name in ("page.css", "page.html", "page.js", "layouts.js", "springs.js"))
    assert set(re.findall(r"https?://[^\"'\s]*", ours)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|innerHTML|insertAdjacentHTML|document\.write|\beval\(|fetch\(|XMLHttp", ours)


def asset(name: str) -> str:
    return importlib.resources.files("surefoot.drawing").joinpath("assets", name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ASSETS)
def test_every_part_is_in_the_package_and_can_stand_inside_a_page(name: str) -> None:
    text = asset(name)
    assert len(text) > 500
    if name.endswith((".js", ".css")):
        assert not re.search(r"</script|</style|<!--|<script", text, re.IGNORECASE)
        assert "\r" not in text
        assert "\x00" not in text


def test_what_is_vendored_is_what_its_list_says() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", asset("VENDORED.md"), re.MULTILINE)
    assert [name for name, _ in listed] == ["cytoscape.min.js", "cytoscape.LICENSE"]
    for name, wanted in listed:
        assert hashlib.sha256(asset(name).encode()).hexdigest() == wanted


def test_the_licence_of_the_library_travels_in_the_page() -> None:
    assert "The Cytoscape Consortium" in to_html(Graph("x", []))
    assert "Permission is hereby granted" in asset("cytoscape.LICENSE")


def test_equal_graphs_give_equal_bytes_in_every_process() -> None:
    code = (
        "import hashlib, sys; from surefoot.drawing import *\n"
        "nodes = [Node(x, x, x, dict.fromkeys({'p', 'q', 'r'}, 1)) for x in 'abc']\n"
        "graph = Graph('g', nodes, [Edge('a', 'b', s, s) for s in ('tried', 'given', 'odd')])\n"
        "sys.stdout.write(hashlib.sha256(to_html(graph).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert len(found.pop()) == 64


def test_the_page_begins_at_here_then_at_start_then_at_the_first() -> None:
    def first(*kinds: str) -> object:
        return Reader(to_html(Graph("g", [Node(str(n), "", kind) for n, kind in enumerate(kinds)]))).data["first"]

    assert [first("state", "start", "here"), first("state", "start", "start"), first("state", "goal"), first()] == [
        2,
        1,
        0,
        0,
    ]


def test_bad_arguments_are_refused() -> None:
    wrong: Any
    for wrong in (0, -1, True, 1.5, "8", None):
        with pytest.raises(BadArgument, match="^most must be an int >= 1, got "):
            to_html(house(), most=wrong)
    with pytest.raises(BadArgument, match="^focus must be the id of a node, got 'nowhere'$"):
        to_html(house(), focus="nowhere")
    for wrong in (3, b"house"):
        with pytest.raises(BadArgument, match="^title must be text, got "):
            to_html(house(), title=wrong)
    with pytest.raises(ValueRejected, match="surrogate"):
        to_html(house(), title="\ud800")


def test_the_size_is_that_of_the_scripts_and_linear_in_the_graph() -> None:
    empty = len(to_html(Graph("g", [])).encode())
    assert empty < 550_000
    nodes = [Node(f"state {n}", f"state {n}") for n in range(5000)]
    edges = [Edge(f"state {n}", f"state {n * 7 % 5000}", "go", "confirmed") for n in range(5000)]
    assert len(to_html(Graph("g", nodes, edges)).encode()) - empty < 80 * 10_000


# ---- in a browser ----------------------------------------------------------------------------------------------------

WATCH = """
window.seen = [];
addEventListener("error", (event) => seen.push("error: " + event.message), true);
addEventListener("unhandledrejection", (event) => seen.push("rejected: " + event.reason));
addEventListener("securitypolicyviolation", (event) => seen.push("policy: " + event.violatedDirective));
"""
TELL = """
const $ = (id) => document.getElementById(id), out = {};
const labels = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent);
const key = (name) => new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true });
function press(position, type) {
  const box = $("graph").getBoundingClientRect(), at = { bubbles: true, button: 0, view: window };
  Object.assign(at, { clientX: box.left + position.x, clientY: box.top + position.y });
  $("graph").querySelector("canvas").dispatchEvent(new MouseEvent(type, at));
}
function click(position) { press(position, "mousemove"); press(position, "mousedown"); press(position, "mouseup"); }
function steps() { %s }
addEventListener("load", () => setTimeout(() => {
  try { steps(); } catch (error) { seen.push("test: " + error.stack); }
  setTimeout(() => {
    out.seen = seen; out.title = document.title; out.images = document.images.length;
    out.scripts = document.scripts.length;
    out.loads = performance.getEntriesByType("resource").map((one) => one.name);
    const result = document.createElement("pre");
    result.id = "result";
    result.textContent = encodeURIComponent(JSON.stringify(out));
    document.body.append(result);
  }, 500);
}, 200));
"""


@functools.cache
def chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def browse(page: str, steps: str, folder: Path, *, forbidden: Sequence[str] = ()) -> dict[str, Any]:
    """Open the page with two more scripts, which its policy allows by hash; return what `steps` left in `out`.

    Nothing may go wrong on the page but the policy saying no to what is `forbidden`, and nothing may be loaded.
    """
    found = chromium()
    if found is None:
        pytest.skip("no browser: chromium, chromium-browser or google-chrome must be on PATH")
    first, last = WATCH, TELL % steps
    for script in (first, last):
        allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        page = page.replace("script-src ", f"script-src 'sha256-{allowed}' ", 1)
    page = page.replace("<title>", f"<script>{first}</script><title>", 1)
    page = page.replace("</body>", f"<script>{last}</script></body>", 1)
    (folder / "page.html").write_text(page, encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    flags += "--disable-component-update --disable-sync --window-size=1400,900 --virtual-time-budget=5000 --dump-dom"
    command = [found, *flags.split(), f"--user-data-dir={folder / 'profile'}", (folder / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=100, check=True)
    result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert result, f"the page told nothing; the browser said: {done.stderr[-2000:]}"
    told: dict[str, Any] = json.loads(unquote(result[1]))
    assert sorted(told["seen"]) == sorted(f"policy: {directive}" for directive in forbidden)
    if not forbidden:  # what was tried in vain is listed too
        assert told["loads"] == []
    return told


def test_in_a_browser_one_can_search_select_and_hide(tmp_path: Path) -> None:
    told = browse(
        to_html(house()),
        """
        out.counts = $("counts").textContent;
        out.list = labels("#list .name");
        out.legend = labels("#legend .name");
        $("search").value = "GARD";
        $("search").dispatchEvent(key("Enter"));
        out.found = labels("#list .name");
        out.hits = $("hits").textContent;
        out.panel = labels("#panel h2, #panel .badge, #panel dd");
        $("search").value = "";
        $("search").dispatchEvent(key("Escape"));
        surefoot.select(null, false);
        $("fit").click();
        const cy = surefoot.picture();
        click(cy.getElementById("n0").renderedPosition());
        out.clicked = labels("#panel h2, #panel .badge, #panel dt, #panel dd");
        out.ways = labels("#panel .links .name");
        surefoot.select({ type: "edge", index: 1 }, false);
        out.edge = labels("#panel h2, #panel .badge, #panel dt, #panel dd");
        const shown = () => cy.edges(":visible").map((one) => one.data("label"));
        const row = document.querySelector("#legend .row");
        out.before = shown();
        row.click();
        out.hidden = shown();
        out.pressed = row.getAttribute("aria-pressed");
        row.click();
        out.after = shown();
        document.querySelectorAll("#legend .row")[2].click();
        out.stubs = cy.nodes(":visible").map((one) => one.data("label"));
        $("fit").click();
        const whole = cy.zoom();
        document.body.style.width = "750px";
        dispatchEvent(new Event("resize"));
        out.shrinks = cy.zoom() < whole;
        cy.zoom(0.3);
        document.body.style.width = "";
        dispatchEvent(new Event("resize"));
        out.kept = cy.zoom();
        out.layouts = [$("layout").value];
        for (const layout of ["layers", "rings", "springs", "cose"]) {
          $("layout").value = layout;
          $("layout").dispatchEvent(new Event("change"));
          out.layouts.push($("layout").value);
        }
        """,
        tmp_path,
    )
    every = ["open door", "go out (0.25)", "climb", "jump", "return"]
    assert told["counts"] == "3 states, 5 edges"
    assert told["list"] == ["kitchen", "hall", "garden"]
    assert told["legend"] == ["confirmed", "hypothesis", "untaken", "refuted", "tried"]
    assert (told["found"], told["hits"]) == (["garden"], "1 of 1")
    assert told["panel"] == ["garden", "goal", "s2"]
    facts = ["id", "s0", "colour", "red", "visits", "3", "where", "(1, 2.0)"]
    assert told["clicked"] == ["kitchen", "start", *facts]
    assert len(told["ways"]) == 2
    assert told["edge"][:2] == ["go out", "hypothesis: supposed, not taken yet"]
    assert {"hall", "garden", "0.25"} <= set(told["edge"])
    assert (told["before"], told["after"]) == (every, every)
    assert (told["hidden"], told["pressed"]) == (every[1:], "false")
    assert told["stubs"] == ["kitchen", "hall", "garden"]
    assert (told["shrinks"], told["kept"]) == (True, 0.3)
    assert told["layouts"] == ["layers", "layers", "rings", "springs", "cose"]


def test_in_a_browser_no_text_of_the_graph_runs(tmp_path: Path) -> None:
    nodes = [Node(f"{n}{evil}", evil, evil, {evil or "x": evil}) for n, evil in enumerate(EVIL)]
    edges = [Edge(node.id, nodes[n - 1].id, node.label, node.label, node.attributes) for n, node in enumerate(nodes)]
    graph = Graph(EVIL[0], nodes, [*edges, Edge(nodes[0].id, None, EVIL[1], EVIL[1])], notes=EVIL)
    told = browse(
        to_html(graph, title=EVIL[1]),
        """
        out.list = labels("#list .name");
        out.read = [];
        for (const type of ["node", "edge"]) for (let index = 0; index < 11; index++) {
          surefoot.select({ type, index }, true);
          out.read.push($("panel").textContent.length > 0);
        }
        for (const row of document.querySelectorAll("#legend .row")) { row.click(); row.click(); }
        $("search").value = "<img src=x";
        $("search").dispatchEvent(key("Enter"));
        out.panel = document.querySelector("#panel h2").textContent;
        """,
        tmp_path,
    )
    assert (told["title"], told["images"], told["scripts"]) == (EVIL[1], 0, 7)
    assert told["list"][:4] == EVIL[:4]
    assert told["read"] == [True] * 22
    assert told["panel"] == EVIL[1]


def ring_of_rooms(states: int, edges_each: int) -> Graph:
    """Return a graph with that many states, each with edges to the next one and to some far ones."""
    nodes = [Node(str(n), f"room {n}") for n in range(states)]
    ways = [
        (n, (n * 7 * k + k) % states if k > 1 else (n + 1) % states)
        for n in range(states)
        for k in range(1, edges_each + 1)
    ]
    every = ["confirmed", "hypothesis", "refuted", "doubtful", "refused"]
    return Graph("rooms", nodes, [Edge(str(a), str(b), f"go {b}", every[b % 5], {"by": a}) for a, b in ways])


def test_in_a_browser_the_policy_lets_nothing_in_or_out(tmp_path: Path) -> None:
    asked: list[str] = []

    class Counting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            browse(
                to_html(house()),
                f"const place = 'http://127.0.0.1:{server.server_port}/';"
                """
                fetch(place + "fetch").catch(() => {});
                new Image().src = place + "image";
                const script = document.createElement("script");
                script.src = place + "script";
                document.body.append(script);
                script.remove();
                """,
                tmp_path,
                forbidden=["connect-src", "img-src", "script-src-elem"],
            )
        finally:
            server.shutdown()
            thread.join()
    assert asked == []


def test_in_a_browser_sixty_states_can_be_read_and_five_thousand_edges_are_drawn_whole(tmp_path: Path) -> None:
    small, large = ring_of_rooms(60, 2), ring_of_rooms(1_250, 4)
    steps = """
        const cy = surefoot.picture(), places = (cy) => cy.nodes().map((one) => one.position("x"));
        out.layout = $("layout").value;
        out.drawn = [cy.nodes().length, cy.edges().length];
        out.different = new Set(places(cy)).size;
        document.querySelector("#legend .row").click();
        out.left = cy.edges().not(".off").length;
        """
    again = """
        const boxes = cy.nodes().map((one) => one.boundingBox({ includeLabels: false }));
        out.overlaps = boxes.filter((a, n) => boxes.some((b, m) =>
          n < m && a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2)).length;
        out.letters = 12 * cy.zoom();
        out.before = places(cy);
        $("layout").dispatchEvent(new Event("change"));
        out.after = places(surefoot.picture());
        """
    told = browse(to_html(small), steps + again, tmp_path)
    assert (told["layout"], told["drawn"], told["overlaps"]) == ("springs", [60, 120], 0)
    assert told["letters"] >= 8  # pixels high on the screen, with everything in view
    assert told["left"] == sum(edge.status != "confirmed" for edge in small.edges)
    assert told["before"] == told["after"]
    told = browse(to_html(large), steps, tmp_path)
    assert (told["layout"], told["drawn"], told["different"]) == ("springs", [1_250, 5_000], 1_250)
    assert told["left"] == sum(edge.status != "confirmed" for edge in large.edges)


def test_in_a_browser_a_very_large_graph_is_drawn_around_its_focus(tmp_path: Path) -> None:
    told = browse(
        to_html(ring_of_rooms(12_500, 4), focus="1500"),
        """
        out.drawn = surefoot.drawn().nodes.length;
        out.has = surefoot.drawn().nodes.includes(1500);
        out.message = $("message").textContent;
        out.listed = labels("#list .name").length;
        $("search").value = "room 2999";
        $("search").dispatchEvent(key("Enter"));
        out.moved = surefoot.drawn().nodes.includes(2999);
        out.panel = document.querySelector("#panel h2").textContent;
        out.extents = [...$("extent").options].map((one) => one.value);
        $("extent").value = "5";
        $("extent").dispatchEvent(new Event("change"));
        out.more = surefoot.drawn().nodes.length;
        out.cut = $("message").textContent;
        """,
        tmp_path,
    )
    assert 1 < told["drawn"] < 300
    assert told["has"]
    assert "This graph is large (12,500 states, 50,000 edges)" in told["message"]
    assert (told["listed"], told["moved"], told["panel"]) == (200, True, "room 2999")
    assert "all" not in told["extents"]
    assert (told["more"], "as many as can be read" in told["cut"]) == (260, True)


def test_in_a_browser_an_empty_graph_is_an_empty_page(tmp_path: Path) -> None:
    told = browse(to_html(Graph("", [])), 'out.counts = $("counts").textContent;', tmp_path)
    assert told["counts"] == "0 states, 0 edges"
