"""A service in a process of its own, one for all tests of a worker, and services of environments that do as they are told."""

import re

import httpx2
import pytest

from verigym.server.process import ServerProcess

WAIT_S = 60


@pytest.fixture(scope="session")
def service(plugin_folder):
    with ServerProcess(workers=2, env={"PYTHONPATH": str(plugin_folder)}) as server:
        yield server


class LendingServer(ServerProcess):
    """A service that says how many sockets it has lent to its environments."""

    def n_lent(self):
        page = httpx2.get(self.url + "/metrics", timeout=WAIT_S).text
        return int(float(re.search(r"^verigym_env_sockets_lent (\S+)", page, re.MULTILINE)[1]))

    def until_lent(self, count):
        """Wait for that number: a loan begins just after the answer that the client has."""
        while self.n_lent() != count:
            pass


@pytest.fixture(scope="session")
def serve_stage(stage_folder):
    """Function that starts a service of these environments and of keydoor, with one process for them."""

    def serve(*options, timeout_s=WAIT_S):
        return LendingServer(
            verifiers=["none"],
            envs=["stage,games/keydoor-v0"],
            workers=1,
            timeout_s=timeout_s,
            env={"PYTHONPATH": str(stage_folder)},
            options=["--env-workers", "1", *options],
        )

    return serve


@pytest.fixture(scope="module")
def lending(serve_stage):
    """Such a service, for all tests of a file."""
    with serve_stage() as running:
        yield running
