"""How a map is proved, kept, rebuilt and drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from surefoot.drawing.dot import to_dot
from surefoot.drawing.graphml import to_graphml
from surefoot.drawing.networkx_graph import to_networkx
from surefoot.drawing.page import to_html
from surefoot.errors import BadArgument
from surefoot.journal import Head, Journal, Verification
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.knowledge import history, merging, picture, saving
from surefoot.knowledge.asking import Questions
from surefoot.knowledge.claims import Change
from surefoot.knowledge.fold import Fold, Settings
from surefoot.knowledge.mapcore import Path

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

    @property
    def journal(self) -> Journal:
        """Return the journal that this map is a fold of."""
        return self._journal

    @property
    def head(self) -> Head:
        """Return the journal's head: keep it elsewhere, and `verify(head=…)` catches a cut tail too."""
        return self._journal.head

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

    def rebuild(self, upto: int | None = None) -> Self:
        """Return the map as it was after its journal's first `upto` entries: a new map in memory.

        Raises:
            BadArgument: `upto` is outside 0..len(journal).

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north").see("hall", "down")
            >>> [len(m.rebuild(n).claims()) for n in range(len(m.journal) + 1)]
            [0, 0, 1, 2]
        """
        with self._lock:
            count = len(self._journal)
            stop = count if upto is None else upto
            if type(stop) is not int or not 0 <= stop <= count:
                raise BadArgument(f"rebuild(upto) must be an int in 0..{count}, got {upto!r}")
            made = self.__class__.__new__(self.__class__)
            made._set_up(Journal(MemoryBackend(self._journal.lines(0, stop))), self._stream, Settings(), None)
            return made

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
            if not self._begun:
                self._begin()
            return saving.save(self, path)

    def load(self, path: Path) -> Self:
        """Replace this map, which must be empty and in memory, by a copy of the one saved at `path`.

        `WorldMap(path)` is the usual way; it goes on writing there.

        Raises:
            BadArgument: this map has a path, or knows something.
            BrokenChain, CutTail, UnknownFormat: what is saved there is not whole.

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().see("hall", "north").load("saved.map")
            Traceback (most recent call last):
            surefoot.errors.BadArgument: load() fills an empty map in memory, this has 2 entries: use WorldMap(path)
        """
        with self._lock:
            if self._path is not None or len(self._journal):
                raise BadArgument(
                    f"load() fills an empty map in memory, this has {len(self._journal)} entries: use WorldMap(path)"
                )
            lines = saving.read(path)
            self._set_up(Journal(MemoryBackend(lines)), self._stream, Settings(), None)
            return self

    def close(self) -> None:
        """Flush and close the journal; twice is harmless."""
        with self._lock:
            for copy in self._copies.values():
                copy.close()
            self._journal.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Show where it is and what it holds."""
        with self._lock:
            fold = self._fold
            return f"<WorldMap {self._path or 'in memory'}: {len(fold.state_key)} states, {len(fold.to)} claims>"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the history."""
        with self._lock:
            self._catch_up()
            return {"lines": list(self._journal.lines()), "stream": self._stream, "settings": self._fold.settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle into memory."""
        self._set_up(Journal(MemoryBackend(state["lines"])), state["stream"], state["settings"], None)

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
