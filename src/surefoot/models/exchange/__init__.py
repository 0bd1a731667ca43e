"""Models to and from what other programs write, one module each; import the one you need.

| module | what it reads and writes | needs |
|---|---|---|
| `surefoot.models.exchange.gymnasium` | toy-text tables `P[s][a]` | nothing |
| `surefoot.models.exchange.networkx` | NetworkX graphs | the extra `networkx` |
| `surefoot.models.exchange.prism` | PRISM's explicit files: .tra, .lab, .srew, .trew, .sta | nothing |
| `surefoot.models.exchange.drn` | Storm's explicit format | nothing |
| `surefoot.models.exchange.storm` | PRISM programs, JANI files, Storm's own models | the extra `storm` |
| `surefoot.models.exchange.stormvogel` | stormvogel's models | nothing to read, the extra `stormvogel` to make one |
| `surefoot.models.exchange.umb` | UMB files | the extra `umb` |
| `surefoot.models.exchange.aalpy` | models that AALpy learned | nothing to read, the extra `aalpy` to make one |

Round trips are exact. What a format has no words for travels in a comment that other programs skip, or in a file beside
it; what would say something else to another program is refused. None of the modules imports another one.

Example:
    >>> from surefoot.models import MarkovChain
    >>> from surefoot.models.exchange.drn import from_drn, to_drn
    >>> coin = MarkovChain(choice_start=[0, 1, 1, 1], branch_start=[0, 2], target=[1, 2], probability=[0.5, 0.5],
    ...                    initial=0, state_names=["toss", "heads", "tails"])
    >>> from_drn(to_drn(coin)) == coin
    True
"""

from __future__ import annotations

__all__: list[str] = []
