"""A map as a picture: its states and claims as the nodes and edges of `surefoot.drawing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot import values
from surefoot.drawing.graph import Edge, Graph, Node
from surefoot.events import Arrived, event_of
from surefoot.knowledge.merging import events_of

if TYPE_CHECKING:
    from surefoot.knowledge.asking import Questions
    from surefoot.knowledge.claims import Claim

__all__: list[str] = []  # the parts of a map; nothing here is public


def graph_of(m: Questions) -> Graph:
    """Return a map's states and claims as nodes and edges, refuted and untaken alternatives among them.

    Cost: linear in the map and its journal.
    """
    fold = m._fold
    nodes = []
    for s, key in enumerate(fold.state_key):
        value = m._state_value(s)
        facts = {"visits": fold.visits[s], **m.facts(value)}
        nodes.append(Node(key.decode(), _label(value), "start" if s == 0 else "state", facts))
    edges: list[Edge] = []
    for number, claim in enumerate(m.claims()):
        source = fold.state_key[fold.origin[number]].decode()
        shown = {"source": claim.source, "taken": claim.taken, "refusals": claim.refusals}
        places = fold.outcomes(number) if fold.settings.stochastic else []
        total = sum(times for _, times in places)
        for to, times in places or [(fold.to[number], 0)]:
            target = None if to < 0 else fold.state_key[to].decode()
            odds = times / total if len(places) > 1 else None
            edges.append(Edge(source, target, _label(claim.action), _status(claim), shown, probability=odds))
    edges += _refuted(m)
    return Graph(fold.settings.name or "map", nodes, edges)


def _label(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _status(claim: Claim) -> str:
    """Return the word under which a claim is drawn."""
    if claim.refused and not claim.doubtful:
        return "refused"
    if claim.doubtful:
        return "doubtful"
    if claim.status == "confirmed":
        return "confirmed"
    return "untaken" if claim.to is None else "hypothesis"


def _refuted(m: Questions) -> list[Edge]:
    """Return an edge for each destination that was believed and turned out wrong, once each."""
    fold = m._fold
    found: dict[tuple[bytes, bytes, bytes], Edge] = {}
    for foreign in events_of(m._journal, m._stream):
        event = event_of(foreign.kind, foreign.raw)
        if not isinstance(event, Arrived) or not event.refutes:
            continue
        fields = event.fields
        state, action = bytes(event.state), bytes(event.action)
        wrong = values.encode_state(fields["refutes"]["to"])
        claim = m._number(state, action)
        if fold.state_key[fold.to[claim]] == wrong:  # it was right after all
            continue
        shown = {"source": fields["refutes"]["source"], "refuted in entry": foreign.seq}
        edge = Edge(state.decode(), wrong.decode(), _label(fields["action"]), "refuted", shown)
        found.setdefault((state, action, wrong), edge)
    return list(found.values())
