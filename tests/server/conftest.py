"""A service in a process of its own, one for all tests of a worker."""

import pytest

from verigym.server.process import ServerProcess


@pytest.fixture(scope="session")
def service(plugin_folder):
    with ServerProcess(workers=2, env={"PYTHONPATH": str(plugin_folder)}) as server:
        yield server
