"""Comparison of weights with the model that is to take them, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open

_SHOWN = 3


def read_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor in a transformers folder; reads the files' headers only."""
    shapes: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            shapes |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    return shapes


def misfit(tensors: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> str | None:
    """Say how `tensors` differ from `shapes` in names or sizes; None if they fit."""
    problems = [f"{name} is missing" for name in sorted(shapes.keys() - tensors.keys())]
    problems += [f"{name} is unknown" for name in sorted(tensors.keys() - shapes.keys())]
    problems += [
        f"{name} has shape {tuple(tensor.shape)}, not {shapes[name]}"
        for name, tensor in tensors.items()
        if name in shapes and tuple(tensor.shape) != shapes[name]
    ]
    if not problems:
        return None
    more = len(problems) - _SHOWN
    return "; ".join(problems[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
