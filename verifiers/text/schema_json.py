"""JSON Schema over jsonschema-rs (extra `schema`): compiled once, nothing fetched, linear patterns.

Patterns run in an engine without backtracking, so no input can make one slow; in exchange a schema
with lookaround or a backreference is refused as the author's error. Formats are checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from verigym.canonical import JSON, to_json
from verigym.errors import RequestError, TaskError

if TYPE_CHECKING:
    import jsonschema_rs

_SHOWN_PATH = 80


def compile_schema(schema: JSON, where: str) -> jsonschema_rs.Validator:
    """Return a validator for `schema`. Raises TaskError, which begins with `where`, if it is not one."""
    try:
        return _compiled(to_json(schema))
    except RequestError as error:
        raise TaskError(f"{where}: {error}") from error


@dataclass(frozen=True, slots=True)
class SchemaError:
    """The place where a value fails a schema, and the keyword. The text says nothing of what was wanted."""

    path: tuple[str | int, ...]
    keyword: str

    def __str__(self) -> str:
        place = "".join(f"/{part}" for part in self.path)
        return f"at {ascii(place)[1:-1][:_SHOWN_PATH] or '/'}: fails {self.keyword!r}"


def errors(validator: jsonschema_rs.Validator, value: JSON) -> Iterator[SchemaError]:
    """Yield each way in which `value` fails; none if it is valid."""
    if validator.is_valid(value):
        return
    for error in validator.iter_errors(value):
        keyword = next((str(k) for k in reversed(error.schema_path) if isinstance(k, str)), "?")
        yield SchemaError(tuple(error.instance_path), keyword)


def first_error(validator: jsonschema_rs.Validator, value: JSON) -> str | None:
    """Return the place and keyword where `value` fails; None if it is valid.

    The message does not say what the schema wanted, so a hidden `const` stays hidden.
    """
    return next((str(error) for error in errors(validator, value)), None)


@lru_cache(maxsize=1024)
def full_match(pattern: str) -> jsonschema_rs.Validator:
    """Return a validator of texts that match `pattern` from end to end, in linear time.

    Raises TaskError if the pattern is invalid or needs backtracking.
    """
    # Alone first: "a)|(b" would become another pattern inside the group below.
    _build({"type": "string", "pattern": pattern}, f"the pattern {pattern[:80]!r}")
    return _build(
        {"type": "string", "pattern": f"^(?:{pattern})$"}, f"the pattern {pattern[:80]!r}"
    )


@lru_cache(maxsize=1024)
def _compiled(encoded: bytes) -> jsonschema_rs.Validator:
    # Read back from canonical JSON, so that the cache holds nothing that a caller can change.
    import msgspec

    return _build(msgspec.json.decode(encoded), "the schema")


def _build(schema: JSON, what: str) -> jsonschema_rs.Validator:
    import jsonschema_rs

    if not isinstance(schema, dict | bool):
        raise TaskError(f"{what} must be an object or a boolean, got {type(schema).__name__}")
    try:
        return jsonschema_rs.validator_for(
            schema,
            validate_formats=True,
            retriever=_fetch_nothing,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise TaskError(
            f"{what} cannot be used (lookaround and backreferences are not supported, "
            f"nothing is fetched): {str(error)[:300]}"
        ) from error


def _fetch_nothing(uri: str) -> JSON:
    raise ValueError(f"schemas are not fetched: {uri}")
