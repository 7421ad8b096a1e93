"""A pool of unruly verifiers."""

import os

import pytest

from tests.verifiers.pool_calls import LONG_S
from verigym.verifiers.pool import VerifierPool


@pytest.fixture
def pool(unruly):
    with VerifierPool(2, timeout_s=LONG_S, load_timeout_s=LONG_S) as pool:
        yield pool


@pytest.fixture
def fifo(tmp_path):
    """A pipe in the file system: reading it waits for the verifier to have got that far."""
    path = tmp_path / "pid"
    os.mkfifo(path)
    return path
