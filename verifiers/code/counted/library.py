"""`ProgramLibrary`: the operators, functions and methods that programs may use; `COUNTED`, in which each has its cost.

Reading, copying, searching or returning a text or list costs one step per item or character, a key its
length, a sort n log n, arithmetic on long numbers one step per pair of 64-bit words (addition: per word).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from verigym.verifiers.code.counted import functions, methods, operators

Binary = Callable[[Any, Any, Any], Any]
"""Function of the meter and two values."""


@dataclass(frozen=True, kw_only=True)
class ProgramLibrary:
    """Tables by name of syntax node, function or type. Functions and methods get the machine first, all else
    gets the meter."""

    operators: Mapping[str, Binary]
    in_place: Mapping[str, Binary]
    """Operators of assignments such as `a += b`, if they differ."""
    unary: Mapping[str, Callable[[Any, Any], Any]]
    comparisons: Mapping[str, Callable[[Any, Any, Any], bool]]
    functions: Mapping[str, Callable[..., Any]]
    methods: Mapping[type, Mapping[str, Callable[..., Any]]]
    """A dot reaches nothing else."""
    load_item: Binary
    store_item: Callable[[Any, Any, Any, Any], None]
    load_slice: Callable[[Any, Any, Any, Any, Any], Any]
    make_set: Callable[[Any, Any], set[Any]]


COUNTED = ProgramLibrary(
    operators=operators.OPERATORS,
    in_place=operators.IN_PLACE,
    unary=operators.UNARY,
    comparisons=operators.COMPARISONS,
    functions=functions.FUNCTIONS,
    methods=methods.METHODS,
    load_item=operators.load_item,
    store_item=operators.store_item,
    load_slice=operators.load_slice,
    make_set=operators.make_set,
)
