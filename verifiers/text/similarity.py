"""`text/similarity`: overlap of a text with reference texts, by BLEU, chrF or ROUGE-L.

The submission is the reply without its thoughts, or the content of its last `<answer>` tag. Of several references the best
one counts. Tokens of `bleu` and `rouge-l` are words and single marks; Chinese and Japanese characters are a token each.

Covers: empty replies, one word repeated, texts of any length (in time linear in the longer text for `chrf` and `bleu`).
Does not cover: what the text means. Frequent words, and words of the question that the reference shares, earn something.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.reply import scope
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]|_")


class SimilarityParams(Struct, frozen=True):
    """Parameters of `SimilarityVerifier`."""

    metric: Annotated[
        Literal["bleu", "chrf", "rouge-l"], Meta(description="Measure of overlap.")
    ] = "chrf"
    lowercase: Annotated[bool, Meta(description="Whether case is ignored.")] = False
    max_chars: Annotated[int, Meta(ge=1, description="Longer texts are refused.")] = 1 << 16


class SimilarityVerifier(Verifier[SimilarityParams]):
    """Score of the overlap, from 0 to 1; 1 only if all n-grams or tokens agree.

    The reference is `{"references": [text, ...]}`. Judged with `same`, `overlaps`, `nothing_shared`; unusable with
    `no_answer`, `too_long`, `not_text`.
    """

    id: ClassVar[str] = "text/similarity"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "Overlap of a text with reference texts, by BLEU, chrF or ROUGE-L."
    evidence: ClassVar[str] = "The words or characters of the text; its meaning counts for nothing."

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        references = self._references(task.reference)
        if not isinstance(submission, str):
            return unusable("not_text", f"a text is wanted, got {type(submission).__name__}")
        text = self._folded(scope(submission))
        if len(text) > self.settings.max_chars:
            return unusable("too_long", f"{self.settings.max_chars} characters are read")
        if not tokens(text):
            return unusable("no_answer", "there is no text")
        score = max(METRICS[self.settings.metric](text, one) for one in references)
        reason = "same" if score == 1.0 else "overlaps" if score else "nothing_shared"
        return scored(score, reason, f"{self.settings.metric} {score:.3f}")

    def _references(self, reference: JSON) -> list[str]:
        texts = reference.get("references") if isinstance(reference, dict) else None
        if not isinstance(texts, list) or not texts:
            raise TaskError('the reference must be {"references": [text, ...]}')
        folded = []
        for text in texts:
            if not isinstance(text, str) or not tokens(text):
                raise TaskError(f"references must be texts with words, got {text!r}")
            folded.append(self._folded(text))
        return folded

    def _folded(self, text: str) -> str:
        text = text.strip()
        return text.casefold() if self.settings.lowercase else text


def tokens(text: str) -> list[str]:
    """Return words, marks, and Chinese and Japanese characters, in order."""
    return _TOKEN.findall(text)


def bleu(text: str, reference: str) -> float:
    """Return BLEU-4 of one text: the geometric mean of clipped precisions, times the brevity penalty.

    Orders longer than the text are left out, and the k-th order without a match counts half a match less each
    time, 1 / 2^k. Source: Papineni et al. 2002; smoothing 3 of Chen and Cherry 2014.
    """
    hypothesis, wanted = tokens(text), tokens(reference)
    if not set(hypothesis) & set(wanted):
        return 0.0
    logs: list[float] = []
    halves = 1.0
    for order in range(1, min(4, len(hypothesis)) + 1):
        matches, total, _ = _matches(hypothesis, wanted, order)
        if not matches:
            halves *= 2
        logs.append(math.log((matches or 1 / halves) / total))
    brevity = min(0.0, 1 - len(wanted) / len(hypothesis))
    return math.exp(brevity + sum(logs) / len(logs))


def chrf(text: str, reference: str) -> float:
    """Return chrF2: F-score, recall twice as heavy, of the mean precision and recall of characters' 1- to 6-grams.

    White space is left out, and so are orders that either text is too short for. Source: Popović 2015.
    """
    hypothesis, wanted = "".join(text.split()), "".join(reference.split())
    orders = range(1, min(6, len(hypothesis), len(wanted)) + 1)
    found = [_matches(hypothesis, wanted, order) for order in orders]
    precision = sum(matches / total for matches, total, _ in found) / len(found)
    recall = sum(matches / total for matches, _, total in found) / len(found)
    return 5 * precision * recall / (4 * precision + recall) if precision else 0.0


def rouge_l(text: str, reference: str) -> float:
    """Return ROUGE-L: F1 of the longest common subsequence of tokens. Source: Lin 2004."""
    hypothesis, wanted = tokens(text), tokens(reference)
    return 2 * _common(hypothesis, wanted) / (len(hypothesis) + len(wanted))


METRICS: Mapping[str, Callable[[str, str], float]] = {
    "bleu": bleu,
    "chrf": chrf,
    "rouge-l": rouge_l,
}


def _matches(text: Sequence[str], reference: Sequence[str], order: int) -> tuple[int, int, int]:
    """Return the number of shared n-grams, and of all n-grams of either text."""
    mine, theirs = _grams(text, order), _grams(reference, order)
    return (mine & theirs).total(), mine.total(), theirs.total()


def _grams(items: Sequence[str], order: int) -> Counter[Sequence[str]]:
    hashable = items if isinstance(items, str) else tuple(items)
    return Counter(hashable[i : i + order] for i in range(len(items) - order + 1))


def _common(text: Sequence[str], reference: Sequence[str]) -> int:
    """Return the length of the longest common subsequence; a row of the table is the bits of one number."""
    places: dict[str, int] = {}
    for i, one in enumerate(reference):
        places[one] = places.get(one, 0) | 1 << i
    full = (1 << len(reference)) - 1
    row = full
    for one in text:
        shared = row & places.get(one, 0)
        row = (row + shared | row - shared) & full
    return len(reference) - row.bit_count()
