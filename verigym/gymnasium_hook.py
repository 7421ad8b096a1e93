"""Registers the environments with Gymnasium as soon as it is imported.

`import verigym` does not import Gymnasium: it takes longer than all the rest, and who judges plays nothing.
Yet `gymnasium.make("verigym/games/keydoor-v0")` must work in whatever order the two are imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from verigym.registry import register_all

_GYMNASIUM = "gymnasium"


def register_with_gymnasium() -> None:
    """Register every environment with Gymnasium now, or when it will have been imported."""
    if _GYMNASIUM in sys.modules:
        register_all()
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finder of the one module after whose import the environments are registered."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the other finders give for Gymnasium; None for any other module."""
        if name != _GYMNASIUM:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (one.find_spec(name, path, target) for one in others)), None)
        if spec is None or spec.loader is None:
            return None
        loader = spec.loader
        run = loader.exec_module

        def run_and_register(module: ModuleType) -> None:
            del loader.exec_module
            run(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            register_all()

        loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
