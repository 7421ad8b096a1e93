"""XML against element rules, read by expat with every kind of declaration of entities refused.

A document type is refused as a whole, so no entity, no outside file and no billion laughs: only the
five built-in entities and character references remain. Depth and size are bounded.

Rules are plain data, `{"root": name, "elements": {name: rule}}`; names may carry a prefix (`a:b`),
which is compared as written and need not be declared. Elsewhere a prefix must be declared. Each rule may have

    children    a content model as in a DTD: `(head, item+, (note | sign)?)`, `EMPTY` or `ANY`;
                left out: no child elements
    text        a value rule, or true for any text; left out: white space only
    attributes  {name: value rule with "required": bool}; others are refused
    other       true: attributes that are not listed are allowed

and a value rule may have `type` (`string`, `integer`, `number`, `boolean`, `date`), `enum`,
`pattern` (from end to end, no backtracking), `min_length` and `max_length`. XSD is not supported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any
from xml.parsers import expat

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.text.evidence import show
from verigym.verifiers.text.schema_json import full_match

MAX_DEPTH = 256
MAX_ELEMENTS = 200_000

_NAME = re.compile(r"[A-Za-z_][\w.\-]*(?::[A-Za-z_][\w.\-]*)?")
_MODEL = re.compile(r"\s*([(),|?*+]|[A-Za-z_][\w.\-]*(?::[A-Za-z_][\w.\-]*)?)\s*")
_TYPES = {
    "string": re.compile(r".*", re.DOTALL),
    "integer": re.compile(r"[+-]?[0-9]+", re.ASCII),
    "number": re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII),
    "boolean": re.compile(r"true|false|1|0"),
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII),
}
_RULE_KEYS = frozenset({"children", "text", "attributes", "other"})
_VALUE_KEYS = frozenset({"type", "enum", "pattern", "min_length", "max_length", "required"})


class NotValid(Exception):
    """A document that is not well formed or breaks a rule: `reason` and a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass
class _Open:
    name: str
    rule: Mapping[str, Any]
    children: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


def check_rules(rules: JSON) -> Mapping[str, Any]:
    """Return the rules, or TaskError if they cannot be used."""
    if not isinstance(rules, dict) or not isinstance(rules.get("elements"), dict):
        raise TaskError('xml rules must be {"root": name, "elements": {name: rule}}')
    elements = rules["elements"]
    if rules.get("root") not in elements:
        raise TaskError(f"the root {rules.get('root')!r} has no rule under elements")
    for name, rule in elements.items():
        if not _NAME.fullmatch(name) or not isinstance(rule, dict) or not rule.keys() <= _RULE_KEYS:
            raise TaskError(f"the rule of {name!r} may have the keys {sorted(_RULE_KEYS)}")
        if not isinstance(rule.get("children", "EMPTY"), str):
            raise TaskError(f"children of {name!r} must be a content model, a text")
        _content_model(rule.get("children", "EMPTY"))
        attributes = rule.get("attributes", {})
        if not isinstance(attributes, dict):
            raise TaskError(f"attributes of {name!r} must be an object")
        values = [*attributes.values()]
        if rule.get("text", False) not in (True, False):
            values.append(rule["text"])
        for value in values:
            _check_value_rule(value, name)
    return rules


def check_xml(text: str, rules: Mapping[str, Any] | None) -> None:
    """Raise NotValid if `text` is not well-formed XML or breaks `rules` (None: any document)."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    stack: list[_Open] = []
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS:
            raise NotValid("too_long", f"more than {MAX_ELEMENTS} elements")
        if len(stack) >= MAX_DEPTH:
            raise NotValid("too_deep", f"nested deeper than {MAX_DEPTH} levels")
        rule: Mapping[str, Any] = {}
        if rules is not None:
            if not stack and name != rules["root"]:
                raise NotValid("invalid", f"the root element must not be {show(name)}")
            known = rules["elements"].get(name)
            if known is None:
                raise NotValid("invalid", f"line {line()}: no element {show(name)} is allowed")
            rule = known
            _check_attributes(name, rule, attributes, line())
        if stack:
            stack[-1].children.append(name)
        stack.append(_Open(name, rule))

    def end(name: str) -> None:
        element = stack.pop()
        if rules is not None:
            _check_content(element, line())

    def characters(data: str) -> None:
        if stack and rules is not None:
            stack[-1].text.append(data)

    def refuse(*_: Any) -> int:
        raise NotValid("refused_xml", "a document type or entity declaration is refused")

    def line() -> int:
        return parser.CurrentLineNumber

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.UnparsedEntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        # As UTF-8 whatever the declaration says: the text is read already.
        data = _without_encoding(text).encode()
        parser.Parse(data, True)
        if ":" in text and not (rules and any(":" in name for name in rules["elements"])):
            # Refuses prefixes that nothing declares; what else it may refuse was read above.
            expat.ParserCreate(namespace_separator=" ").Parse(data, True)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise NotValid("not_well_formed", f"line {error.lineno}: {problem}") from error
    except UnicodeEncodeError as error:
        raise NotValid("not_well_formed", "a lone surrogate") from error


_DECLARATION = re.compile(r"(<\?xml[^>]{0,80}?)\s+encoding\s*=\s*(?:\"[^\"]{0,40}\"|'[^']{0,40}')")


def _without_encoding(text: str) -> str:
    return _DECLARATION.sub(r"\1", text, count=1) if text.startswith("<?xml") else text


def _check_attributes(
    name: str, rule: Mapping[str, Any], attributes: Mapping[str, str], line: int
) -> None:
    known = rule.get("attributes", {})
    for key, value in attributes.items():
        if key in known:
            trouble = _wrong_value(value, known[key])
            if trouble:
                raise NotValid("invalid", f"line {line}: attribute {show(key)} {trouble}")
        elif not rule.get("other") and key != "xmlns" and not key.startswith("xmlns:"):
            raise NotValid("invalid", f"line {line}: no attribute {show(key)} on {show(name)}")
    for key, value_rule in known.items():
        if value_rule.get("required") and key not in attributes:
            raise NotValid("invalid", f"line {line}: {show(name)} needs an attribute {key!r}")


def _check_content(element: _Open, line: int) -> None:
    name, rule = show(element.name), element.rule
    model = _content_model(rule.get("children", "EMPTY"))
    if model is not None:
        seen = "".join(f"<{child}>" for child in element.children)
        if not full_match(model).is_valid(seen):
            raise NotValid("invalid", f"line {line}: the children of {name} break its rule")
    text = "".join(element.text)
    wanted = rule.get("text", False)
    if wanted is True:
        return
    if wanted is False:
        if text.strip():
            raise NotValid("invalid", f"line {line}: {name} holds text")
        return
    trouble = _wrong_value(text.strip(), wanted)
    if trouble:
        raise NotValid("invalid", f"line {line}: the text of {name} {trouble}")


def _wrong_value(text: str, rule: Mapping[str, Any]) -> str:
    """Return the first problem with a text or attribute; empty if there is none."""
    kind = rule.get("type", "string")
    if not _TYPES[kind].fullmatch(text):
        return f"is no {kind}"
    if kind == "date":
        try:
            date.fromisoformat(text)
        except ValueError:
            return "is no date"
    if "enum" in rule and text not in rule["enum"]:
        return "is none of the values allowed"
    if not rule.get("min_length", 0) <= len(text) <= rule.get("max_length", len(text)):
        return "is too short or too long"
    if "pattern" in rule and not full_match(rule["pattern"]).is_valid(text):
        return "does not match its pattern"
    return ""


def _check_value_rule(rule: Any, name: str) -> None:
    if not isinstance(rule, dict) or not rule.keys() <= _VALUE_KEYS:
        raise TaskError(f"a value rule of {name!r} may have the keys {sorted(_VALUE_KEYS)}")
    if rule.get("type", "string") not in _TYPES:
        raise TaskError(f"type of {name!r} must be one of {sorted(_TYPES)}, got {rule['type']!r}")
    enum = rule.get("enum", [])
    if not isinstance(enum, list | tuple) or not all(isinstance(v, str) for v in enum):
        raise TaskError(f"enum of {name!r} must be a list of texts")
    for key in ("min_length", "max_length"):
        if type(rule.get(key, 0)) is not int:
            raise TaskError(f"{key} of {name!r} must be a whole number")
    if "pattern" in rule:
        if not isinstance(rule["pattern"], str):
            raise TaskError(f"pattern of {name!r} must be text")
        full_match(rule["pattern"])


@lru_cache(maxsize=1024)
def _content_model(model: str) -> str | None:
    """Return a content model as a pattern over `<name>` tokens; None for ANY. Raises TaskError if
    it is invalid."""
    if model == "ANY":
        return None
    if model == "EMPTY":
        return ""
    out: list[str] = []
    at = 0
    while at < len(model):
        match = _MODEL.match(model, at)
        if match is None:
            raise TaskError(f"content model {model[:80]!r}: cannot read {model[at : at + 10]!r}")
        token = match[1]
        at = match.end()
        if token == ",":
            continue
        if token in ")|?*+":
            out.append(token)
        else:
            out.append("(?:" if token == "(" else f"(?:<{token.replace('.', '[.]')}>)")
    pattern = "".join(out)
    full_match(pattern)
    return pattern
