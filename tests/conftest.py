"""Settings that every test shares."""

import shutil
from pathlib import Path

import hypothesis
import pytest

from verigym import registry

# A busy machine must not fail a law: hypothesis's own deadline is a timed assertion.
hypothesis.settings.register_profile(
    "verigym",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("verigym")


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory):
    """An installed distribution, outside site-packages, that publishes the unruly verifiers."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copy(Path(__file__).parent / "data" / "unruly_verifiers.py", folder)
    info = folder / "unruly-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: unruly\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[verigym.verifiers]\n"
        "unruly/obeys = unruly_verifiers:Obeys\n"
        "unruly/picky = unruly_verifiers:Picky\n"
        "unruly/unloadable = unruly_missing:Nothing\n"
    )
    return folder


@pytest.fixture
def unruly(plugin_folder, monkeypatch):
    """The unruly verifiers are registered, here and in processes started meanwhile."""
    monkeypatch.syspath_prepend(plugin_folder)
    monkeypatch.setenv("PYTHONPATH", str(plugin_folder))
    caches = (registry._points, registry._load_verifier, registry.list_verifiers)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()
