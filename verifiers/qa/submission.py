"""What a submission to `qa/answer` answers and cites: text, or `{"answer", "citations"}`."""

from __future__ import annotations

from verigym.canonical import JSON
from verigym.verdict import Verdict, unusable
from verigym.verifiers.qa.citations import Citation, read_citations, take_citations
from verigym.verifiers.qa.commit import final_answer

MAX_REPLY_CHARS = 1 << 20


def take(submission: JSON) -> tuple[str, list[Citation]] | Verdict:
    """The answer, as it stands there, and the citations of a submission."""
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
    if not isinstance(submission, str):
        return unusable(
            "not_text", f"a submission is text or an object, got {type(submission).__name__}"
        )
    if len(submission) > MAX_REPLY_CHARS:
        return unusable("too_long", f"a reply has at most {MAX_REPLY_CHARS} characters")
    plain, found = take_citations(submission)
    return final_answer(plain), found


def asks(right: JSON) -> bool:
    """Whether a right answer has a question mark itself."""
    return any(map(asks, right)) if isinstance(right, list | tuple) else "?" in str(right)
