"""The journal: everything that happened, append-only and hash-chained; the map and the rest are folds over it.

`open_journal(path)` opens one, `journal.append(kind, data)` records, `journal.entries()` reads, `journal.head` names
the whole content and `journal.verify(head=…)` checks it. Signed heads are in `surefoot.journal.seal`.
"""

from __future__ import annotations

from surefoot.journal.chain import Entry, Head, Verification
from surefoot.journal.journal import Backend, Journal
from surefoot.journal.opening import open_journal

__all__ = ["Backend", "Entry", "Head", "Journal", "Verification", "open_journal"]
