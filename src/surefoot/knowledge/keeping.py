"""How a map is proved, kept, rebuilt and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.drawing.dot import to_dot
from surefoot.drawing.graphml import to_graphml
from surefoot.drawing.networkx_graph import to_networkx
from surefoot.drawing.page import to_html
from surefoot.journal import Head, Verification
from surefoot.knowledge import history, merging, picture, saving
from surefoot.knowledge.asking import Questions
from surefoot.knowledge.claims import Change
from surefoot.knowledge.fold import Fold
from surefoot.knowledge.projection import Path

if TYPE_CHECKING:
    import networkx as nx

    from surefoot.drawing.graph import Graph

__all__ = ["Keeping"]


class Keeping(Questions):
    """The keeping of a map; `WorldMap` inherits it.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> issubclass(WorldMap, Keeping)
        True
    """

    def verify(self, head: Head | str | None = None, key: Any = None) -> Verification:
        """Check that the journal is whole, and that this map is what the journal says.

        Args:
            head: a head kept elsewhere.
            key: the public key of whoever sealed the journal.

        Cost: linear in the journal: one SHA-256 and one fold of each entry.

        Example:
            >>> from surefoot import WorldMap
            >>> bool(WorldMap().see("hall", "north").verify())
            True
        """
        with self._lock:
            folding = merging.Folding(self._journal, 0, self._stream, Fold(), exact=True)
            checked = self._journal.verify(head=head, key=key, through=folding.through)
            if not checked or not len(self._journal):
                return checked
            try:
                self._catch_up()
                fresh = folding.upto(self._read)
            except ValueError as error:
                return replace(checked, ok=False, problem=str(error))
            differs = fresh.same_as(self._fold)
            if differs is not None:
                return replace(checked, ok=False, problem=f"the map in memory differs from its journal in: {differs}")
            return checked

    def diff(self, a: int, b: int) -> list[Change]:
        """Return what changed between the map after `a` journal entries and after `b`.

        Raises:
            BadArgument: a position is outside the journal.

        Cost: folds the journal up to both.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north").see("hall", "down")
            >>> [(c.action, c.what) for c in m.diff(2, 3)]
            [('down', 'added')]
        """
        return history.changes(self.rebuild(a), self.rebuild(b))

    def to_dict(self) -> dict[str, Any]:
        """Return the map as JSON data: settings, states, claims, the journal's entries.

        States that are all text are written as an object, others as a list of {"state", "visits", "facts"}.

        Example:
            >>> from surefoot import WorldMap
            >>> sorted(WorldMap().see("hall", "north").to_dict())
            ['claims', 'format', 'head', 'journal', 'settings', 'states']
        """
        with self._lock:
            self._catch_up()
            return saving.as_data(self)

    def save(self, path: Path | None = None) -> Path:
        """Make what was recorded durable, or write it to `path` as well.

        A map with a path is written as it goes, so saving it costs a flush. To `path` only the entries that it does
        not hold yet are appended.

        Returns:
            where it is.

        Raises:
            BadArgument: the map has no path and none is given, or `path` holds another history.
            AppendFailed: the storage failed; what was there before is still there.

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().save()
            Traceback (most recent call last):
            surefoot.errors.BadArgument: this map is in memory: give save(path) a place
        """
        with self._lock:
            self._catch_up()
            self._prepare()
            return super().save(path)

    def __repr__(self) -> str:
        """Show where it is and what it holds."""
        with self._lock:
            fold = self._fold
            return f"<WorldMap {self._path or 'in memory'}: {len(fold.state_key)} states, {len(fold.to)} claims>"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the history, and the settings of a map that has none yet."""
        return {**super().__getstate__(), "settings": self._fold.settings}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Unpickle into memory."""
        self._given = state["settings"]
        super().__setstate__(state)

    def to_graph(self) -> Graph:
        """Return the map as a picture's data: states, claims by status, refuted and untaken alternatives.

        Example:
            >>> from surefoot import WorldMap
            >>> len(WorldMap().see("hall", "north", to="garden").to_graph().nodes)
            2
        """
        with self._lock:
            self._catch_up()
            return picture.graph_of(self)

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Return the map as a NetworkX graph (extra `[networkx]`).

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().see("hall", "north", to="garden").to_networkx().number_of_edges()
            1
        """
        return to_networkx(self.to_graph())

    def to_dot(self) -> str:
        """Return the map in Graphviz's language.

        Example:
            >>> from surefoot import WorldMap
            >>> "digraph" in WorldMap().see("hall", "north", to="garden").to_dot()
            True
        """
        return to_dot(self.to_graph())

    def to_graphml(self) -> str:
        """Return the map as GraphML.

        Example:
            >>> from surefoot import WorldMap
            >>> "<graphml" in WorldMap().see("hall", "north", to="garden").to_graphml()
            True
        """
        return to_graphml(self.to_graph())

    def to_html(self, title: str = "World map") -> str:
        """Return the map as one page that needs no network: search, a legend by status, every claim's details.

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().see("hall", "north", to="garden").to_html().startswith("<!doctype html>")
            True
        """
        return to_html(self.to_graph(), title=title)
