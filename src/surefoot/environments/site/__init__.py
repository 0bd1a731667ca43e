"""A web site as a world: the pages of one host over HTTP, with their links as actions.

| question | answer |
|---|---|
| a state | path and query of a page in one spelling, `"/library/json.html?v=3"`; no host, so maps survive a move |
| an action | `("link", text)`; `("link", text, 2)` for the second target with that text; `("home",)` |
| the text | `aria-label`, else the text with the `alt` of its images, else `title`, else the state it leads to |
| accepted | a page; also anything that is not HTML: its body is not read, and it has no links |
| refused | a 4xx (`"404 Not Found"`), robots.txt, a redirect that leaves the site, a link that is not on the page |
| a fault | 408, 425, 429, 5xx, a time-out, a broken answer, too many redirects: never evidence, may be tried again |

Of the seven shapes of a refusal this reads one, the *status*. What a page says in its text is never guessed at: a
"not found" that comes with status 200 is a page like any other.

There is no `("back",)`: where it leads depends on the way here, so it is no function of the state. `("home",)` leads to
the start page from everywhere else, so that no page is a dead end.

Links to the page itself (`#section`) are no actions, and neither are `mailto:`, `javascript:` and links to other hosts.
Not followed at all: forms, scripts, frames. Style sheets are not read, so what they hide is on offer.

Example:
    >>> Site("http://example.org/docs/").state_of("../faq.html#top")
    '/faq.html'
"""

from __future__ import annotations

from surefoot.environments.site.addresses import normalise
from surefoot.environments.site.world import Site

__all__ = ["Site", "normalise"]
