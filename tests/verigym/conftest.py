"""A service in a process of its own, one for all tests of the clients of a worker."""

import pytest

from verigym.server.process import ServerProcess


@pytest.fixture(scope="session")
def service(plugin_folder):
    env = {"PYTHONPATH": str(plugin_folder)}
    with ServerProcess(workers=2, envs=["games", "math"], env=env) as server:
        yield server
