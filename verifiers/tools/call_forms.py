"""Reads the calls in a text, in every form that public chat templates write.

1. **Data**: JSON from end to end, an object or a list (`read_calls` knows which objects are calls).
2. **Tags and tokens**: `<tool_call>`, `<tool_calls>`, `<function_call>`, `<function_calls>`, in capitals or not,
   `<|tool_call|>` (each closed or cut short), `[TOOL_CALLS]` (Mistral), `<|python_tag|>` (Llama 3),
   `<|tool_call_begin|>` (Kimi), its kin of DeepSeek. All of them count, and behind each there is one of
   - JSON, one call or a list, in a fence or not;
   - a name and JSON: `name[ARGS]{...}`, or with the mark that the template has in place of `[ARGS]`;
   - `<function=name><parameter=key>value</parameter></function>` (Qwen3-Coder), which also stands without a tag
     around it, or `<function=name>{...}</function>` (Llama 3);
   - `name<arg_key>key</arg_key><arg_value>value</arg_value>` (GLM).
3. **Fences**, if there is none of these: each block tagged `json`, `tool_call`, `tool_calls` or not at all that
   begins as JSON.
4. **Prose, then JSON**, if there are no such blocks: one call, or one list of calls, at the end of the text.
   Several objects are no list.

Where the last answer tag holds calls, those outside of it do not count; those in earlier ones never do. Calls that
the reply then takes back are none. Calls in a language of prose, `f(a=5)`, are none.

Every search is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from verigym.canonical import JSON
from verigym.reply import answers, fenced, scope, takes_back
from verigym.verifiers.text.strict_json import NotJson, read_json

MAX_BODIES = 64
"""A text is read up to one call more than this."""

_CALLS_TAG = r"(?:tool_?|function_)calls?"
_SEP = "\uff5ctool\u2581sep\uff5c"
_OPEN = re.compile(
    rf"(?P<tag><\s*{_CALLS_TAG}\s*>|<\|\s*{_CALLS_TAG}\s*\|>)"
    r"|(?P<token>\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call_begin\|>|<\uff5ctool\u2581call\u2581begin\uff5c>)"
    r"|(?P<bare><function=)",
    re.IGNORECASE,
)
_CLOSE_TAG = re.compile(
    rf"<\s*/\s*{_CALLS_TAG}\s*>|<\|\s*/\s*{_CALLS_TAG}\s*\|>|</\|\s*{_CALLS_TAG}\s*\|>",
    re.IGNORECASE,
)
_CLOSE_TOKEN = re.compile(
    r"(?=\[TOOL_CALLS\]|<\|python_tag\|>)|\[/TOOL_CALLS\]|<\|tool_calls?(?:_section)?_end\|>"
    r"|<\uff5ctool\u2581calls?\u2581end\uff5c>",
    re.IGNORECASE,
)
_CLOSE_BARE = re.compile(r"</function>", re.IGNORECASE)
_BLANK = re.compile(r"\s*+")
_NAMED = re.compile(
    rf"(?:function<{_SEP}>)?(?P<name>[\w.:-]++)\s*+"
    r"(?:\[CALL_ID\]\w++)?"
    rf"(?:\[ARGS\]|<{_SEP}>|<\|tool_call_argument_begin\|>)?\s*+(?P<rest>[{{`].*)",
    re.DOTALL,
)
_FUNCTION = re.compile(r"<function=(?P<name>[^<>\s]++)\s*+>", re.IGNORECASE)
_PARAMETER = re.compile(r"\s*+<parameter=(?P<key>[^<>\s]++)\s*+>", re.IGNORECASE)
_CLOSE_PARAMETER = re.compile(r"</parameter>", re.IGNORECASE)
_GLM = re.compile(r"(?P<name>[\w.:-]++)\s*+(?=<arg_key>)")
_GLM_KEY = re.compile(r"\s*+<arg_key>(?P<key>[^<>]++)</arg_key>\s*+<arg_value>")
_GLM_CLOSE = re.compile(r"</arg_value>")
_TAGS = ("", "json", "tool_call", "tool_calls")
_MARKUP = re.compile(r"<[^<>]*+>")
_BRACKETED = re.compile(r"\[[^()\[\]{}]*+\]|\{[^()\[\]{}]*+\}|(?<![\w.])[\w.]++\([^()\[\]{}]*+\)")
_NESTED = 16
_WHOLE_BEGINS = re.compile(r"\{|\[\s*+[\[\]{\"\d-]")
_JSON_BEGINS = re.compile(r"\[\s*+\{|\{\s*+\"")
_SAYS_CALL = re.compile(r"\"(?:name|function|tool_calls)\"\s*+:")


@dataclass(frozen=True)
class Written:
    """A call, or a list of them, as a text writes it: JSON, or a name and arguments.

    `texts` are arguments whose values the form writes as text of any type.
    """

    value: JSON
    texts: dict[str, str] = field(default_factory=dict)


class TakenBack(Exception):
    """The reply takes back what it answered."""


class NotACall(Exception):
    """Error for text in the place of a call; the message says why it is not one."""


def written_calls(text: str) -> list[Written]:
    """Return the calls that spoken `text` writes, in order. Raises NotJson, NotACall and TakenBack."""
    whole = text.strip()
    if whole.startswith(("{", "[")) and whole.endswith(("}", "]")):
        try:
            return [Written(read_json(whole))]
        except NotJson as error:
            if error.reason != "bad_json":
                raise
    inside = scope(text)
    tagged = answers(text)
    if not inside.strip() and whole and (not tagged or tagged[-1].strip()):
        raise TakenBack
    found, end = _calls_in(inside)
    if found:
        if takes_back(inside[end:]):
            raise TakenBack
        return found
    if not tagged:
        return []
    outside = _without(text, tagged)
    found, end = _calls_in(outside)
    if found and takes_back(outside[end:]):
        raise TakenBack
    return found


def before_calls(text: str) -> str:
    """Return what `text` says before its first call in a tag or behind a token; "" if it has none."""
    opened = _OPEN.search(text)
    return "" if opened is None else text[: opened.start()]


def outside_of_data(text: str) -> str:
    """Return what `text` says outside of tags, tokens, brackets and calls as programs write them."""
    pieces: list[str] = []
    at = 0
    for block in fenced(text):
        pieces += [text[at : block.start], " ", block.body, " "]
        at = block.end
    left = _MARKUP.sub(" ", "".join([*pieces, text[at:]]))
    for _ in range(_NESTED):
        left, count = _BRACKETED.subn(" ", left)
        if not count:
            break
    return left


def _without(text: str, insides: list[str]) -> str:
    """`text` without the insides of its answer tags."""
    pieces: list[str] = []
    at = 0
    for inside in insides:
        start = text.find(inside, at)
        pieces.append(text[at:start])
        at = start + len(inside)
    return "".join([*pieces, text[at:]])


def _calls_in(text: str) -> tuple[list[Written], int]:
    """The calls of one part of a reply, and where the last of them ends."""
    found, end = _marked(text)
    if found:
        return found, end
    for block in fenced(text):
        if block.tag in _TAGS and block.body.lstrip().startswith(("{", "[")):
            found.append(Written(read_json(block.body.strip())))
            end = block.end
            if len(found) > MAX_BODIES:
                break
    if found:
        return found, end
    bare = text.strip()
    if _WHOLE_BEGINS.match(bare):
        return [Written(read_json(bare))], len(text)
    return _at_the_end(bare), len(text)


def _marked(text: str) -> tuple[list[Written], int]:
    """The calls in tags and behind tokens."""
    if "<" not in text and "[" not in text:
        return [], 0
    found: list[Written] = []
    at = 0
    while opened := _OPEN.search(text, at):
        start = opened.start() if opened["bare"] else opened.end()
        if not opened["bare"]:
            # A tag directly inside another: `<tool_calls><tool_call>`.
            blank = _BLANK.match(text, start)
            inner = _OPEN.match(text, blank.end() if blank else start)
            if inner and not inner["bare"]:
                at = inner.start()
                continue
        closing = _CLOSE_BARE if opened["bare"] else _CLOSE_TAG if opened["tag"] else _CLOSE_TOKEN
        closed = closing.search(text, start)
        end = closed.start() if closed else len(text)
        found += _body(text[start:end].strip())
        at = closed.end() if closed else len(text)
        if len(found) > MAX_BODIES:
            break
    return found, at


def _body(body: str) -> list[Written]:
    """The calls behind one tag or token."""
    if body.startswith(("{", "[")):
        return [Written(read_json(body))]
    if _FUNCTION.match(body):
        return _functions(body)
    if named := _GLM.match(body):
        return [_with_texts(named["name"], body[named.end() :], _GLM_KEY, _GLM_CLOSE)]
    if named := _NAMED.fullmatch(body):
        arguments = read_json(_unfenced(named["rest"].strip()))
        if not isinstance(arguments, dict):
            raise NotACall("the arguments behind a name must be an object")
        return [Written({"name": _plain_name(named["name"]), "arguments": arguments})]
    return [Written(read_json(_unfenced(body)))]


def _plain_name(name: str) -> str:
    """A name without what Kimi writes around it: `functions.search:0`."""
    match = re.fullmatch(r"functions\.(.+?):\d{1,6}", name)
    return match[1] if match else name


def _unfenced(body: str) -> str:
    """The body of the one block that `body` is."""
    blocks = fenced(body)
    if len(blocks) == 1 and not (body[: blocks[0].start] + body[blocks[0].end :]).strip():
        return blocks[0].body.strip()
    return body


def _functions(body: str) -> list[Written]:
    found: list[Written] = []
    at = 0
    while at < len(body) and len(found) <= MAX_BODIES:
        opened = _FUNCTION.match(body, at)
        if opened is None:
            raise NotACall("there is more than functions in a call")
        closed = _CLOSE_BARE.search(body, opened.end())
        inside = body[opened.end() : closed.start() if closed else len(body)].strip()
        if inside.startswith("{"):
            found.append(Written({"name": opened["name"], "arguments": read_json(inside)}))
        else:
            found.append(_with_texts(opened["name"], inside, _PARAMETER, _CLOSE_PARAMETER))
        blank = _BLANK.match(body, closed.end()) if closed else None
        at = blank.end() if blank else len(body)
    return found


def _with_texts(name: str, inside: str, key: re.Pattern[str], close: re.Pattern[str]) -> Written:
    """A call whose arguments are written one by one as text."""
    texts: dict[str, str] = {}
    inside = inside.strip()
    at = 0
    while at < len(inside):
        opened = key.match(inside, at)
        closed = close.search(inside, opened.end()) if opened else None
        if opened is None or closed is None:
            raise NotACall("an argument is not written as the form asks for")
        if opened["key"] in texts:
            raise NotJson("duplicate_key", f"the key {opened['key'][:40]!a} stands twice")
        # The templates write a value on lines of its own.
        value = inside[opened.end() : closed.start()]
        texts[opened["key"]] = value.removeprefix("\n").removesuffix("\n")
        at = closed.end()
    return Written({"name": name, "arguments": {}}, texts)


def _at_the_end(text: str) -> list[Written]:
    """The call that stands behind prose: from where JSON first begins, all must be one value."""
    if not text.rstrip("`").endswith(("}", "]")):
        return []
    begins = _JSON_BEGINS.search(text)
    if begins is None:
        return []
    before, body = text[: begins.start()], text[begins.start() :]
    if before.endswith("`"):
        body = body.rstrip("`")
    try:
        value = read_json(body)
    except NotJson as error:
        if error.reason == "bad_json" and not _SAYS_CALL.search(body):
            return []
        raise
    first = value[0] if isinstance(value, list) and value else value
    says_call = isinstance(first, dict) and first.keys() & {"name", "function", "tool_calls"}
    return [Written(value)] if says_call else []
