"""The answer and the citations in a submission to `qa/answer`: text, or `{"answer", "citations"}`."""

from __future__ import annotations

from verigym.canonical import JSON
from verigym.reply import fenced, spoken
from verigym.verdict import Verdict, unusable
from verigym.verifiers.qa.citations import Citation, read_citations, take_citations
from verigym.verifiers.qa.commit import final_answer
from verigym.verifiers.text.strict_json import NotJson, read_json

MAX_REPLY_CHARS = 1 << 20


def take(submission: JSON) -> tuple[str, list[Citation]] | Verdict:
    """Return the answer, as it stands there, and the citations of a submission."""
    if isinstance(submission, dict):
        answer, raw = submission.get("answer"), submission.get("citations", [])
        if not isinstance(answer, str | int | float | bool):
            return unusable("not_text", "an answer must be text")
        if isinstance(answer, bool):
            answer = "yes" if answer else "no"
        text = str(answer) if not isinstance(answer, int) or abs(answer) < 1 << 64 else "?"
        if len(text) > MAX_REPLY_CHARS:
            return unusable("too_long", f"a reply has at most {MAX_REPLY_CHARS} characters")
        cited = read_citations(raw)
        if isinstance(cited, str):
            return unusable("not_text", cited)
        return text, cited
    if isinstance(submission, str) and (written := _written(submission)) is not None:
        return take(written)
    if not isinstance(submission, str):
        return unusable(
            "not_text", f"a submission is text or an object, got {type(submission).__name__}"
        )
    if len(submission) > MAX_REPLY_CHARS:
        return unusable("too_long", f"a reply has at most {MAX_REPLY_CHARS} characters")
    plain, found = take_citations(submission)
    return final_answer(plain), found


_KEYS = frozenset({"answer", "citations", "reasoning", "explanation"})


def _written(reply: str) -> dict[str, JSON] | None:
    """The object that a reply is, as `{"answer": "Paris"}`, perhaps in a fence; None if it is none."""
    if len(reply) > MAX_REPLY_CHARS or '"answer"' not in reply:
        return None
    text = spoken(reply).strip()
    if text.startswith("`"):
        blocks = fenced(text)
        if len(blocks) != 1 or blocks[0].start or blocks[0].end < len(text):
            return None
        text = blocks[0].body.strip()
    if (text[:1], text[-1:]) != ("{", "}"):
        return None
    try:
        value = read_json(text)
    except NotJson:
        return None
    usable = isinstance(value, dict) and isinstance(value.get("answer"), str | int | float)
    return value if usable and isinstance(value, dict) and _KEYS.issuperset(value) else None


def asks(right: JSON) -> bool:
    """Return True if a right answer has a question mark itself."""
    return any(map(asks, right)) if isinstance(right, list | tuple) else "?" in str(right)
