"""Garbage collection that leaves out what lives as long as a run.

A full collection walks over all objects of torch, transformers and the model, 0.3 s each time; a run makes garbage
enough for several a step.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def long_lived() -> Iterator[None]:
    """Take all objects that exist now for ones that outlive the block: no collection in it looks at them."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
