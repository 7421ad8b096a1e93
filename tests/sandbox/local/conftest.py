"""One local sandbox for all tests of this folder."""

import os
import tempfile
import uuid

import pytest

from tests.sandbox.local.marked_jobs import marked
from verigym import SandboxError
from verigym.sandbox.local import LocalSandbox


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox of this module's own."""
    try:
        made = LocalSandbox()
    except SandboxError as error:
        pytest.skip(f"namespaces do not work here: {error}")
    with made:
        yield made


@pytest.fixture
def marker():
    """A name that no other process has; nothing may have it in the end."""
    word = f"m-{uuid.uuid4().hex[:12]}"
    yield word
    assert marked(word) == []


@pytest.fixture
def temp(tmp_path, monkeypatch):
    """A folder for temporary files of this test's own; empty in the end."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.getuid() and parent != parent.parent:
            # pytest's own folders are closed to user 65534.
            parent.chmod(parent.stat().st_mode | 0o011)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []
