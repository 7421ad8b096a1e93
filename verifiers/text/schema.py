"""`text/schema`: text in a prescribed form: JSON Schema, XML element rules, or a regular grammar.

The submission is the document: the whole reply, or the inside of its last `<answer>` tag, or its
one fenced block; thoughts before `</think>` do not count. A reply that is JSON from end to end is the
document, whatever tags its strings hold. Prose around a bare document is part of it and so breaks it.
Two fenced blocks are two answers, and no answer.

Covers: duplicate keys, NaN and infinities, lone surrogates, deep and large input, entity bombs,
outside entities, patterns that would backtrack. Does not cover: whether the values are true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON, to_json
from verigym.errors import TaskError, suggestion
from verigym.reply import fenced, program, scope
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.text.schema_grammar import read_grammar
from verigym.verifiers.text.schema_json import compile_schema, first_error, full_match
from verigym.verifiers.text.schema_xml import NotValid, check_rules, check_xml
from verigym.verifiers.text.strict_json import NotJson, check_value, read_json

KINDS = ("json", "xml", "grammar")
_REFUSED_XML = ("too_long", "too_deep", "refused_xml")


class SchemaParams(Struct, frozen=True):
    """Parameters of `SchemaVerifier`."""

    max_chars: Annotated[int, Meta(ge=1, description="Characters that are read at most.")] = 1 << 20
    max_depth: Annotated[int, Meta(ge=1, le=200, description="Nesting of JSON at most.")] = 64
    bare: Annotated[
        bool, Meta(description="The whole reply is the document: no tags, fences or thoughts.")
    ] = False


class SchemaVerifier(Verifier[SchemaParams]):
    """Score 1 for a document of the form that the reference prescribes, else 0.

    The reference is `{"kind": "json", "schema": ...}`, `{"kind": "xml", "rules": ...}` (without
    rules: well-formed only) or `{"kind": "grammar", "grammar": pattern or rules}`. JSON may also be
    submitted as plain data.
    Judged with `valid`, `invalid`, `bad_json`, `not_well_formed`, `no_match`; unusable with
    `no_answer`, `several_answers`, `duplicate_key`, `refused_xml`, `too_deep`, `too_long`,
    `not_text`. `parts`: `well_formed` and `valid`.
    """

    id: ClassVar[str] = "text/schema"
    version: ClassVar[int] = 3
    about: ClassVar[str] = (
        "A document must be valid by the task's JSON Schema, XML element rules or regular grammar; "
        "the submission is the document, bare, fenced or in <answer> tags."
    )

    evidence: ClassVar[str] = (
        "The form of the document; whether what it says is true counts for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {"valid": 1.0, "well_formed": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._max_chars = self.settings.max_chars
        self._max_depth = self.settings.max_depth

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        reference = task.reference
        if not isinstance(reference, dict):
            raise TaskError("the reference must be an object with kind")
        kind = reference.get("kind")
        if kind == "json":
            return self._judge_json(reference, submission)
        if kind not in KINDS:
            raise TaskError(f"no kind {kind!r}; {suggestion(str(kind), KINDS)}")
        rules: Mapping[str, JSON] | None = None
        pattern = ""
        if kind == "xml":
            rules = check_rules(reference["rules"]) if "rules" in reference else None
        else:
            pattern = read_grammar(reference.get("grammar"))
            full_match(pattern)
        text = self._document(submission)
        if isinstance(text, Verdict):
            return text
        if kind == "xml":
            return _judge_xml(text, rules)
        if full_match(pattern).is_valid(text):
            return scored(1.0, "valid", "the text matches", _parts(1.0, 1.0))
        return scored(0.0, "no_match", "the text does not match", _parts(1.0, 0.0))

    def _judge_json(self, reference: Mapping[str, JSON], submission: JSON) -> Verdict:
        if "schema" not in reference:
            raise TaskError("a reference of kind json must have a schema")
        validator = compile_schema(reference["schema"], "reference.schema")
        try:
            if isinstance(submission, str):
                text = submission if _is_json(submission) else self._document(submission)
                if isinstance(text, Verdict):
                    return text
                value = read_json(text, self._max_chars, self._max_depth)
            else:
                value = submission
                if len(to_json(value)) > self._max_chars:
                    return unusable("too_long", f"{self._max_chars} characters are read")
                check_value(value, self._max_depth)
        except NotJson as error:
            if error.reason == "bad_json":
                return scored(0.0, "bad_json", str(error), _parts(0.0, 0.0))
            return unusable(error.reason, str(error))
        trouble = first_error(validator, value)
        if trouble is None:
            return scored(1.0, "valid", "the document is valid", _parts(1.0, 1.0))
        return scored(0.0, "invalid", trouble, _parts(1.0, 0.0))

    def _document(self, submission: JSON) -> str | Verdict:
        """The document in a reply, or the verdict on a reply that has none."""
        if not isinstance(submission, str):
            return unusable("not_text", f"a submission is text, got {type(submission).__name__}")
        if len(submission) > self._max_chars:
            return unusable("too_long", f"{len(submission)} characters, {self._max_chars} are read")
        if self.settings.bare:
            return submission
        blocks = len(fenced(scope(submission)))
        if blocks > 1:
            return unusable("several_answers", f"{blocks} fenced blocks; give one document")
        text = program(submission).strip()
        return text or unusable("no_answer", "the reply holds no document")


def _is_json(text: str) -> bool:
    """Return True if the whole of `text` is JSON; tags in it are then values and do not mark an
    answer."""
    try:
        read_json(text)
    except NotJson:
        return False
    return True


def _judge_xml(text: str, rules: Mapping[str, JSON] | None) -> Verdict:
    try:
        check_xml(text, rules)
    except NotValid as error:
        if error.reason in _REFUSED_XML:
            return unusable(error.reason, str(error))
        formed = 0.0 if error.reason == "not_well_formed" else 1.0
        return scored(0.0, error.reason, str(error), _parts(formed, 0.0))
    return scored(1.0, "valid", "the document is valid", _parts(1.0, 1.0))


def _parts(well_formed: float, valid: float) -> dict[str, float]:
    return {"well_formed": well_formed, "valid": valid}
