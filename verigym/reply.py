r"""Parses the reply of a chat model: thoughts, chat tokens, tags and fences, by one set of rules.

Verifiers judge and environments act on what these functions return, so both follow the same rule:

0. **A reply that is JSON from end to end is data**: tags in its strings are values.
1. **Thoughts are never the answer.** Everything up to the last closing thought tag is thought, whether or
   not an opening tag was written (many prompts end in one). So is everything after an opening tag that is
   never closed, and a whole thought at the very end, if something is said between it and an earlier one. Thought tags are `<think>`, `<thinking>`, `<thought>`, `<reasoning>` and their kin in
   `_THOUGHT`, in capitals or not; in the Harmony format, every channel but `final`.
2. **The turn ends where the model ended it.** What follows an end-of-turn token is not part of the reply.
   Other template tokens at its ends are dropped.
3. **The last answer tag is the answer**: `<answer>`, `<action>`, `<final_answer>`, `<final>`,
   `<solution>`, in capitals or not, closed or cut short. An earlier one is a draft.
4. **Tags inside a fenced block are content**, unless the reply has none elsewhere.
5. **An answer that the reply then takes back is none**: "I give up", "ignore that", "that was wrong" as a
   sentence behind the last tag or fence.
6. **A fence may open behind prose** on its line. It closes with as many marks of its kind, at the start or
   at the end of a line. One that is never closed counts only if there is no complete one.

Every function is linear in the text. Does not decide between several answers: verifiers do.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

_NAMES = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|seed:think|analysis)"
# Opening and closing tags of public chat templates: the first pattern is R1's, Qwen's and their kin's;
# then Magistral, Kimi, OpenThoughts and Sky-T1, Command A, MedGemma.
_OPENING = rf"<\s*{_NAMES}\s*>|\[THINK\]|\u25c1think\u25b7|<\|begin_of_thought\|>|<\|START_THINKING\|>|<unused94>"
_CLOSING = rf"<\s*/\s*{_NAMES}\s*>|\[/THINK\]|\u25c1/think\u25b7|<\|end_of_thought\|>|<\|END_THINKING\|>|<unused95>"
_OPEN_THOUGHT = re.compile(_OPENING, re.IGNORECASE)
_CLOSE_THOUGHT = re.compile(_CLOSING, re.IGNORECASE)
_FINAL_CHANNEL = re.compile(
    r"<\|channel\|>\s*final\b[^<]{0,100}(?:<\|constrain\|>[^<]{0,50})?<\|message\|>", re.IGNORECASE
)
_ANY_CHANNEL = re.compile(r"<\|channel\|>", re.IGNORECASE)
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|eot|end_of_turn|END_OF_TURN_TOKEN"
    r"|end_of_solution|END_RESPONSE|user|im_start)\|>"
    r"|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>|<\uff5cUser\uff5c>|</s>|<eos>|\[/?INST\]"
)
_START_OF_TURN = re.compile(
    r"\s*(?:<\|(?:im_start|start|start_header_id)\|>\s*assistant(?:<\|end_header_id\|>)?"
    r"|<\|(?:assistant|begin_of_text|begin_of_solution|START_RESPONSE|START_OF_TURN_TOKEN|CHATBOT_TOKEN)\|>"
    r"|<start_of_turn>\s*model\b|<\uff5cAssistant\uff5c>|<s>|<bos>)"
)
_TAG = r"(?:answer|action|final[_ ]answer|final|solution)"
_OPEN_TAG = re.compile(rf"<\s*({_TAG})\s*>", re.IGNORECASE | re.ASCII)
_CLOSE_TAG = re.compile(rf"<\s*/\s*({_TAG})\s*>", re.IGNORECASE | re.ASCII)
_OPEN_ACTION = re.compile(r"<\s*action\s*>", re.IGNORECASE | re.ASCII)
_CLOSE_ACTION = re.compile(r"<\s*/\s*action\s*>", re.IGNORECASE | re.ASCII)
# Possessive: a line of 64,000 marks and a backtick at its end would take a quarter of a minute.
_FENCE = re.compile(r"(`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^`]*+")
_INLINE = re.compile(r"(`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)")
_MARKS = re.compile(r"`{3,}+|~{3,}+")

# Words that name a language where a fence opens and closes in one line; "c" and "r" may be names in it.
_LANGUAGES = frozenset(
    [
        "sql",
        "mysql",
        "postgresql",
        "sqlite",
        "python",
        "python3",
        "py",
        "json",
        "text",
        "txt",
        "plaintext",
        "xml",
        "html",
        "bash",
        "sh",
        "cpp",
        "c++",
        "java",
        "javascript",
        "js",
        "typescript",
        "ts",
        "rust",
        "ruby",
        "php",
        "haskell",
        "lua",
        "perl",
        "verilog",
        "tool_call",
        "tool_calls",
        "yaml",
        "diff",
        "latex",
    ]
)
_LEAD = r"(?:(?:no|nope|wait|hmm+|oh|ah|oops|actually|sorry|but|well|however|edit|update|on second thought)\b[\s,.!:;\u2014-]*){0,4}"
_ABOVE = r"(?:that|this|it|the\s+above|(?:my|the)\s+(?:previous\s+|last\s+|first\s+)?answer(?:\s+above)?|everything\s+above)"
# Sentences that take an answer back wherever they stand behind it, and those that do so right behind it only:
# "This is wrong" may speak of something else later on.
_TAKES_BACK = re.compile(
    rf"(?:^|[.!?\n*])[\s*_]*{_LEAD}(?:i(?:'ve)?\s+(?:give\s+up|gave\s+up|withdraw|retract|changed\s+my\s+mind|was\s+wrong"
    rf"|take\s+{_ABOVE}\s+back|have\s+no\s+answer"
    r"|(?:don'?t|do\s+not)\s+(?:actually\s+)?know(?:\s+the\s+answer)?(?=\s*(?:[.!]|$)))"
    rf"|(?:please\s+)?(?:ignore|disregard|forget)\s+{_ABOVE}(?=\s*(?:[.!,;\u2014-]|$))"
    r"|just\s+kidding|(?:scratch|strike)\s+that|never\s*mind(?=\s*(?:[.!,;]|$)))"
    rf"|^[\s*_]*{_LEAD}(?:{_ABOVE}(?:'s|\s+is|\s+was)\s+(?:actually\s+|probably\s+|all\s+)?"
    r"(?:wrong|incorrect|not\s+(?:right|correct|my\s+answer)|a\s+mistake|false)|correction\b)",
    re.IGNORECASE,
)
_RUN = re.compile(r"([.!?\n*])[\s*_]++")
_TAIL_CHARS = 4000
_ELLIPSES = frozenset({"...", "\u2026"})
# Words before a fence that shows how a program is used, or what it prints.
_SHOWS_USE = re.compile(
    r"\b(?:examples?|usage|use[ds]?(?!\s+(?:this|the\s+following)\b)|using|call(?:ed|ing)?|test(?:s|ed|ing)?|try|output|outputs|prints?|printed|result|run)\b"
    r"[^\n]{0,60}$",
    re.IGNORECASE,
)
_MOVE_LABEL = re.compile(
    r"(?:(?:i|my|the|next|final|chosen|best)\s+){0,3}(?:move|action|answer|guess|play|choose)\s*(?:is\b|[:=])?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A complete fenced block: its tag in small letters, its body, and where it stands in the text."""

    tag: str
    body: str
    start: int
    end: int


@lru_cache(
    maxsize=4
)  # one reply is asked for by its environment, its verifier and both their readers
def spoken(text: str) -> str:
    """Return the part of a reply that counts: without thoughts, chat tokens and text after the turn
    (rules 1, 2)."""
    if "<" not in text and "[" not in text and "\u25c1" not in text:
        return text
    if _is_json(text):
        return text
    channel = _last(_FINAL_CHANNEL, text)
    if channel is not None:
        text = text[channel:]
    elif _ANY_CHANNEL.search(text):
        return ""
    text = _without_last_thoughts(text)
    closed = _last(_CLOSE_THOUGHT, text)
    if closed is not None:
        text = text[closed:]
    opened = _first(_OPEN_THOUGHT, text)
    if opened is not None:
        text = text[:opened]
    while start := _START_OF_TURN.match(text):
        text = text[start.end() :]
    ended = _first(_END_OF_TURN, text)
    return text if ended is None else text[:ended]


def answers(text: str) -> list[str]:
    """Return the contents of the answer tags of spoken `text`, in order (rules 3, 4)."""
    return [text[start:end] for start, end in _answers(text)]


def last_answer(text: str) -> str | None:
    """Return the content of the last answer tag of spoken `text`, "" if it is taken back; None if there is
    no answer tag."""
    found = _answers(text)
    if not found:
        return None
    start, end = found[-1]
    return "" if takes_back(text[end:]) else text[start:end]


def takes_back(tail: str) -> bool:
    """Return True if the text after an answer takes it back (rule 5)."""
    tail = _CLOSE_TAG.sub("", tail[:_TAIL_CHARS]).strip()
    # Runs of marks and blanks behind the start of a sentence would be read once from each of their places.
    return _TAKES_BACK.search(_RUN.sub(r"\1", tail)) is not None


def action(reply: str) -> str:
    """Return the action in a reply, stripped: the content of its last `<action>` tag, else all spoken text."""
    text = spoken(reply)
    if "<" not in text:
        return text.strip()
    end = _last_start(_CLOSE_ACTION, text)
    if end is None:
        return text.strip()
    opened = _last(_OPEN_ACTION, text[:end])
    return (text if opened is None else text[opened:end]).strip()


def scope(reply: str) -> str:
    """Return the part of a reply that holds its answer: the content of the last answer tag outside fences,
    else all spoken text; "" if the answer is taken back."""
    text = spoken(reply)
    blocks = fenced(text)
    tagged = _tagged(text, tuple((block.start, block.end) for block in blocks))
    if not tagged:
        return "" if blocks and takes_back(text[blocks[-1].end :]) else text
    start, end = tagged[-1]
    if takes_back(text[end:]):
        return ""
    inside = text[start:end].lstrip(" \t")  # behind the tag on its line; no indentation
    return inside if fenced(inside) else _without_open_fence(inside)


def program(reply: str, tags: tuple[str, ...] = ()) -> str:
    """Return the program, query or document in a reply.

    In its `scope`: the last fenced block tagged with one of `tags`, else the last block, else the text after
    a fence that is never closed, else the text itself. A block that only shows how to use an earlier one is
    skipped. A tag, a fence or inline code marks that enclose the whole result are removed.
    """
    text = scope(reply)
    blocks = fenced(text)
    fitting = [block for block in blocks if block.tag in tags] or blocks
    if fitting:
        text = _main(fitting, text).body
    elif (unclosed := _unclosed(text)) is not None:
        text = unclosed
    return _without_tag(text)


def move(action: str) -> str:
    """Return the move in a longer action: from its last answer tag, fence or box, or else from its last
    line, without a label, Markdown marks and a full stop."""
    text = program(action).strip()
    *before, text = text.splitlines() or [""]
    if before and not any(len(line.split()) > 2 for line in before):
        return ""  # a list of moves, and no words that lead to one
    text = text.strip()
    boxed = re.search(r"\\boxed\{([^{}]*)\}", text)
    text = boxed[1] if boxed else text.strip("*_`\"' ")
    label = _MOVE_LABEL.match(text)
    return (text[label.end() :] if label else text).strip("*_`\"' ").rstrip(".!").strip("*_`\"' ")


def fenced(text: str) -> list[FencedBlock]:
    """Return the complete fenced Markdown blocks in `text`, in order (rule 6)."""
    blocks: list[FencedBlock] = []
    if "```" not in text and "~~~" not in text:
        return blocks
    at = 0
    opening: tuple[str, str, int] | None = None
    body = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.rstrip()
        if opening is None:
            found = _opening(bare, start)
            if isinstance(found, FencedBlock):
                blocks.append(found)
            else:
                opening = found
            body = at
            continue
        mark, tag, began = opening
        end = _closing(bare, mark)
        if end is not None:
            inside = _outdented(
                text[body : start + end].removesuffix("\n"),
                text[text.rfind("\n", 0, began) + 1 : began],
            )
            blocks.append(FencedBlock(tag, inside, began, at))
            opening = None
    return blocks


def _outdented(body: str, indent: str) -> str:
    """Return the body of a fence without the indentation of the fence itself, as in a list."""
    if not indent or not indent.isspace():
        return body
    return re.sub(rf"^[ \t]{{1,{len(indent)}}}", "", body, flags=re.MULTILINE)


def _main(blocks: list[FencedBlock], text: str) -> FencedBlock:
    """Return the last block that does not merely show how to use the one before it."""
    at = len(blocks) - 1
    while at and _SHOWS_USE.search(text[blocks[at - 1].end : blocks[at].start].rstrip()[-200:]):
        at -= 1
    return blocks[at]


def _unclosed(text: str) -> str | None:
    """Return the text after the first fence, given that no fence is complete; None if there is no fence."""
    if "```" not in text and "~~~" not in text:
        return None
    at = 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        if isinstance(_opening(line.rstrip(), 0), tuple):
            return text[at:]
    return None


def _opening(line: str, start: int) -> tuple[str, str, int] | FencedBlock | None:
    """Return mark, tag and start of a fence that a line opens; a FencedBlock if the line also closes it."""
    marks = list(_MARKS.finditer(line))
    if not marks:
        return None
    last = marks[-1]
    if len(marks) == 1:
        # Behind prose only a word may follow the marks: "```sql" opens a fence, "``` is a mark" does not.
        match = (_INLINE if line[: last.start()].strip() else _FENCE).fullmatch(line, last.start())
        if match:
            return match[1], match[2].lower(), start + last.start()
    if len(marks) == 2 and marks[0][0] == marks[1][0] and marks[1].end() == len(line):
        inside = line[marks[0].end() : marks[1].start()]
        word, _, rest = inside.strip().partition(" ")
        tag = word.lower() if word.lower() in _LANGUAGES and rest else ""
        if inside.strip():
            body = rest.strip() if tag else inside.strip()
            return FencedBlock(tag, body, start + marks[0].start(), start + len(line))
    return None


def _closing(line: str, mark: str) -> int | None:
    """Return the position in a line at which the fence opened by `mark` closes; None if it does not."""
    bare = line.lstrip(" \t")
    if len(bare) >= len(mark) and set(bare) == {mark[0]}:
        return 0
    tail = line[len(line.rstrip(mark[0])) :]
    if len(tail) == len(mark):
        return len(line) - len(tail)
    return None


def _answers(text: str) -> tuple[tuple[int, int], ...]:
    if "<" not in text:
        return ()
    spans = tuple((block.start, block.end) for block in fenced(text))
    return _tagged(text, spans) or (_tagged(text, ()) if spans else ())


@lru_cache(maxsize=4)  # as `spoken`
def _tagged(text: str, fences: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the start and end of the content of each answer tag outside `fences`."""
    if "<" not in text:
        return ()

    def outside(match: re.Match[str]) -> bool:
        at = bisect_right(fences, (match.start(), len(text)))
        return at == 0 or match.start() >= fences[at - 1][1]

    opened = [match for match in _OPEN_TAG.finditer(text) if outside(match)]
    if not opened:
        return ()
    closed = [match for match in _CLOSE_TAG.finditer(text) if outside(match)]
    found: list[tuple[int, int]] = []
    k = 0
    for n, match in enumerate(opened):
        limit = opened[n + 1].start() if n + 1 < len(opened) else len(text)
        while k < len(closed) and closed[k].start() < match.end():
            k += 1
        ends = closed[k].start() if k < len(closed) else len(text)
        inside = text[match.end() : min(ends, limit)].strip()
        if ends > limit and not inside:
            continue  # a tag directly inside another
        if found and inside and (k == len(closed) or inside in _ELLIPSES):
            continue  # a tag that is spoken of, behind an answer
        found.append((match.end(), min(ends, limit)))
    return tuple(found)


def _without_tag(text: str) -> str:
    """Return `text` without an answer tag or inline code marks that enclose all of it."""
    bare = text.strip()
    if len(bare) > 2 and bare[0] == bare[-1] == "`" and bare.count("`") == 2:
        return bare[1:-1]
    opened = _OPEN_TAG.match(bare)
    if opened is None:
        return text
    closed = _CLOSE_TAG.search(bare, opened.end())
    if closed is None:
        return bare[opened.end() :].strip("\n")
    return bare[opened.end() : closed.start()].strip("\n") if closed.end() == len(bare) else text


def _without_open_fence(text: str) -> str:
    """Return the content of an answer tag without a leading fence that is never closed."""
    bare = text.strip()
    first, _, rest = bare.partition("\n")
    return rest if rest and _FENCE.fullmatch(first) else text


def _without_last_thoughts(text: str) -> str:
    """`text` without whole thoughts at its very end, if something is said between them and an earlier one."""
    closings = [m for m in _CLOSE_THOUGHT.finditer(text) if not _is_quoted(m)]
    openings = [m for m in _OPEN_THOUGHT.finditer(text) if not _is_quoted(m)]
    end = len(text)
    while closings and openings and not text[closings[-1].end() : end].strip():
        start = openings.pop().start()
        if start > closings.pop().start():
            break  # never closed
        if closings and closings[-1].start() > start:
            break  # one in another, or a second closing tag
        if not closings:
            break  # what stands before it may be a thought that the prompt opened
        if text[closings[-1].end() : start].strip():
            return text[:start]
        end = start
    return text


def _is_json(text: str) -> bool:
    """Return True if the whole of `text` is a JSON object, list or string."""
    bare = text.strip()
    if (bare[:1], bare[-1:]) not in (("{", "}"), ("[", "]"), ('"', '"')):
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _is_quoted(match: re.Match[str]) -> bool:
    """Return True if a tag stands between quotes, as a value in a program or as a quoted word."""
    text = match.string
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return before != "" and before == after and before in "'\"`"


def _first(pattern: re.Pattern[str], text: str) -> int | None:
    """Return the start of the first match outside quotes; None if there is none."""
    for match in pattern.finditer(text):
        if not _is_quoted(match):
            return match.start()
    return None


def _last(pattern: re.Pattern[str], text: str) -> int | None:
    """Return the end of the last match outside quotes; None if there is none."""
    at = None
    for match in pattern.finditer(text):
        if not _is_quoted(match):
            at = match.end()
    return at


def _last_start(pattern: re.Pattern[str], text: str) -> int | None:
    at = None
    for match in pattern.finditer(text):
        at = match.start()
    return at
