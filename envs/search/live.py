"""The live web in place of a made-up world: an adapter, and an environment for questions of your own.

Not registered: its pages change and its answers are yours, so that no law of `verigym check` could hold.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlencode

import httpx2
import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.search.fetch import fetch
from verigym.envs.search.html_text import html_to_text
from verigym.envs.search.library import HITS, Hit, Library, Page
from verigym.envs.search.reading import Reader
from verigym.envs.search.toolbox import HELP
from verigym.errors import RequestError
from verigym.task import Task
from verigym.verdict import Status, VerifierFault, fault

_KEPT = 256
_MAX_RESULTS_BYTES = 4 << 20


class LiveWeb:
    """A `Library` over the web: a search endpoint that speaks SearxNG's JSON, and pages by their address.

    `endpoint` is yours (`http://localhost:8080/search`) and may be private. Where it fails, `search` raises
    VerifierFault: an outage is no reward. A page that cannot be had is just not there, since policies choose
    addresses, and an address that always failed would be a way out of bad episodes. Pages on
    private networks are refused unless `allow_private`. The last 256 pages are kept.
    """

    def __init__(
        self, endpoint: str, *, timeout_s: float = 10.0, allow_private: bool = False
    ) -> None:
        if not endpoint.startswith(("http://", "https://")):
            raise RequestError(
                f"endpoint must be the address of a search service, got {endpoint!r}"
            )
        if not timeout_s > 0:
            raise RequestError(f"timeout_s must be above 0, got {timeout_s}")
        self.endpoint = endpoint
        self.timeout_s = timeout_s
        self.allow_private = allow_private
        self._pages: OrderedDict[str, Page | None] = OrderedDict()

    def search(self, query: str, skip: int) -> list[Hit]:
        """Return a page of results of the search service. Raises VerifierFault if the request
        fails."""
        asked = {"q": query, "format": "json", "pageno": skip // HITS + 1}
        try:
            answer = httpx2.get(f"{self.endpoint}?{urlencode(asked)}", timeout=self.timeout_s)
            answer.raise_for_status()
            if len(answer.content) > _MAX_RESULTS_BYTES:
                raise ValueError(f"{len(answer.content)} bytes of results")
            results = json.loads(answer.content)["results"]
            found = [
                (str(one["url"]), str(one.get("title", "")), str(one.get("content") or ""))
                for one in results[:HITS]
            ]
        except (httpx2.HTTPError, ValueError, KeyError, TypeError, RecursionError) as error:
            told = f"{self.endpoint}: {type(error).__name__}: {error}"[:300]
            raise VerifierFault(fault(Status.INFRA, "search_failed", told)) from error
        return [Hit(url[:500], title[:200], content[:200]) for url, title, content in found]

    def open(self, page: str) -> Page | None:
        """Fetch the page at an address, or take it from the cache; None if it cannot be read."""
        if page in self._pages:
            self._pages.move_to_end(page)
            return self._pages[page]
        fetched = fetch(page, timeout_s=self.timeout_s, allow_private=self.allow_private)
        read = None
        if fetched is not None:
            title, text = "", fetched.text
            if fetched.type != "text/plain":
                title, text = html_to_text(fetched.text, fetched.url)
            read = Page(page, title[:200], text)
        self._pages[page] = read
        if len(self._pages) > _KEPT:
            self._pages.popitem(last=False)
        return read


class Live(Reader):
    """Your questions over your `library` (usually a `LiveWeb`), with the tools of the search family.

    A question is `{"question", "answers" or "answer", "kind"}` as `qa/answer` reads it, perhaps with
    `supporting` pages to be cited, by address. Yours are not divided: each is played in whatever split is
    asked for.
    """

    id: ClassVar[str] = "verigym/search/live-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("given",)
    oracle_absent: ClassVar[str | None] = "nobody knows the way to an answer on the live web"

    def __init__(
        self,
        questions: Sequence[Mapping[str, Any]],
        library: Library,
        *,
        turns: int = 20,
        **kwargs: Any,
    ) -> None:
        if not isinstance(questions, list | tuple) or not questions:
            raise RequestError(f"questions must be a list of at least one, got {questions!r:.100}")
        for number, one in enumerate(questions, 1):
            _check(number, one)
        super().__init__(**kwargs)
        self._questions = [dict(one) for one in questions]
        self._library = library
        self._turns = turns

    @override
    def library(self, task: Task) -> Library:
        """Return the library that all tasks share."""
        return self._library

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """Draw a question of the list."""
        one = self._questions[int(rng.integers(len(self._questions)))]
        reference: dict[str, JSON] = {k: v for k, v in one.items() if k != "question"}
        cite = " Cite the addresses of the pages that support it." if one.get("supporting") else ""
        return Draft(
            prompt=f"Answer a question with the help of the web.\n\n{HELP}\n\nQuestion: {one['question']}\n"
            f"Give only the answer, in a few words.{cite} You have {self._turns} turns, including the answer.",
            reference={**reference, "turns": self._turns},
        )

    @override
    def split_of(self, draft: Draft) -> str:
        """Return the split that is asked for: the list is not divided."""
        return self._drawing


def _check(number: int, one: object) -> None:
    if not isinstance(one, Mapping):
        raise RequestError(f"question {number} must be an object, got {one!r:.100}")
    asked, right = one.get("question"), one.get("answers")
    if not isinstance(asked, str) or not asked.strip() or not one.keys() & {"answer", "answers"}:
        raise RequestError(f"question {number} needs a question, and answer or answers")
    if "answers" in one and (not isinstance(right, list | tuple) or not right):
        raise RequestError(
            f"question {number}: answers must be a list of at least one, got {right!r:.100}; "
            'a single one goes under "answer"'
        )
