"""Citations of an answer: the pages it cites must support it, and quotes must stand in them.

In text a citation is `<cite>page id</cite>`, or `<cite page="page id">quote</cite>`; in data
`{"answer", "citations": [page id or {"page", "quote"}]}`. Precision and recall as in ALCE (Gao et al.
2023, arXiv 2305.14627), over whole pages: citing everything is not supporting.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.text.evidence import show

MAX_CITATIONS = 100

_CITE = re.compile(
    r"<cite(?:\s+page\s*=\s*(?:\"([^\"<>]{1,500})\"|'([^'<>]{1,500})'))?\s*>([^<]*)</cite>"
)
_QUOTES = str.maketrans("“”‘’«»\u00a0", '""\'\'"" ')


@dataclass(frozen=True)
class Citation:
    """One page, and what is said to stand there."""

    page: str
    quote: str | None = None


@dataclass(frozen=True)
class Support:
    """The pages that support the right answer: of each group, at least one must be cited. Those of `optional` count
    neither for nor against it."""

    groups: tuple[frozenset[str], ...]
    pages: Mapping[str, str]
    optional: frozenset[str] = frozenset()

    @property
    def supporting(self) -> frozenset[str]:
        """Every page that supports."""
        return frozenset().union(*self.groups)


def read_support(reference: Mapping[str, JSON]) -> Support:
    """Return the `supporting`, `optional` and `pages` of a reference. Raises TaskError."""
    listed, pages = reference.get("supporting", []), reference.get("pages", {})
    optional = reference.get("optional", [])
    if not isinstance(optional, list | tuple) or not all(isinstance(p, str) for p in optional):
        raise TaskError("optional must be a list of page ids")
    if not isinstance(listed, list | tuple):
        raise TaskError("supporting must be a list of page ids, or of lists of them")
    if not isinstance(pages, dict) or not all(isinstance(text, str) for text in pages.values()):
        raise TaskError("pages must be an object of texts by page id")
    if all(isinstance(page, str) for page in listed):
        listed = [listed] if listed else []
    groups: list[frozenset[str]] = []
    for group in listed:
        if not isinstance(group, list | tuple) or not group:
            raise TaskError("a group of supporting pages must be a list of at least one page id")
        if not all(isinstance(page, str) for page in group):
            raise TaskError("page ids must be texts")
        groups.append(frozenset(group))
    return Support(tuple(groups), pages, frozenset(optional))


def take_citations(text: str) -> tuple[str, list[Citation]]:
    """Return the text without its `<cite>` tags, and what they cite."""
    if "</cite>" not in text:
        return text, []
    found: list[Citation] = []

    def take(match: re.Match[str]) -> str:
        page = match[1] or match[2]
        inside = match[3].strip()
        if page:
            found.append(Citation(page.strip(), inside or None))
        elif inside:
            found.append(Citation(inside))
        return " "

    return _CITE.sub(take, text), found


def read_citations(raw: JSON) -> list[Citation] | str:
    """Return the citations in data, or what is wrong with them."""
    if not isinstance(raw, list | tuple):
        return "citations must be a list"
    found: list[Citation] = []
    for one in raw[: MAX_CITATIONS + 1]:
        if isinstance(one, str):
            found.append(Citation(one.strip()))
        elif isinstance(one, dict) and isinstance(one.get("page"), str):
            quote = one.get("quote")
            if quote is not None and not isinstance(quote, str):
                return "a quote must be text"
            found.append(Citation(one["page"].strip(), quote))
        else:
            return f"a citation is a page id or an object with page and quote, not {show(one)}"
    return found


@dataclass(frozen=True)
class Judged:
    """The worth of citations: reason `""` if they hold, and the shares."""

    reason: str
    evidence: str
    precision: float
    recall: float


def judge_citations(
    cited: Sequence[Citation], support: Support, min_quote_chars: int, least_precision: float
) -> Judged:
    """Check that quotes stand in their pages, every group is cited, and enough of the cited pages support.

    Quotes are compared without regard to case, white space and the form of quotation marks; those
    shorter than `min_quote_chars` show nothing and are refused.
    """
    pages = {one.page for one in cited} - (support.optional - support.supporting)
    right = len(pages & support.supporting)
    precision = right / len(pages) if pages else 0.0
    met = sum(bool(group & pages) for group in support.groups)
    recall = met / len(support.groups) if support.groups else 1.0
    if not support.groups:
        precision = 1.0
    reason = evidence = ""
    if len(cited) > MAX_CITATIONS:
        reason, evidence = "unsupported", f"more than {MAX_CITATIONS} citations"
    elif support.groups and not cited:
        reason, evidence = "no_citation", "no page is cited"
    elif false := _false_quote(cited, support, min_quote_chars):
        reason, evidence = "false_quote", false
    elif precision < least_precision:
        reason, evidence = "unsupported", "a cited page does not support the answer"
    elif recall < 1:
        reason, evidence = "unsupported", "the cited pages do not support the whole answer"
    return Judged(reason, evidence, precision, recall)


def _false_quote(cited: Sequence[Citation], support: Support, least: int) -> str:
    texts: dict[str, str] = {}
    for one in cited:
        if one.quote is None:
            continue
        if one.page not in support.pages:
            if support.pages:
                return f"there is no page {show(one.page)} to quote"
            continue  # the task gives no texts: quotes cannot be checked
        quote = _plain(one.quote)
        if len(quote) < least:
            return f"a quote from {show(one.page)} is shorter than {least} characters"
        if one.page not in texts:
            texts[one.page] = _plain(support.pages[one.page])
        if quote not in texts[one.page]:
            return f"page {show(one.page)} does not have the quote {show(one.quote)}"
    return ""


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFC", text).translate(_QUOTES)
    return " ".join(text.casefold().split()).strip("\" '.…")
