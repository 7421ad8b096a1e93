"""A local sandbox, and sessions with and without it."""

import pytest

from tests.sandbox.session.plain_channel import LIMITS, plain
from verigym import SandboxError
from verigym.sandbox.local import LocalSandbox


@pytest.fixture(scope="module")
def sandbox():
    try:
        made = LocalSandbox(max_jobs=3)
    except SandboxError as error:
        pytest.skip(f"the local backend refuses this machine: {error}")
    with made:
        yield made


@pytest.fixture(params=["plain", "local"])
def start(request):
    """Starts a session of a language, over a bare process or in the local sandbox."""
    opened = []

    def start(language, limits=LIMITS):
        if request.param == "plain":
            session = plain(language, limits)
        else:
            session = request.getfixturevalue("sandbox").session(language, limits=limits)
        opened.append(session)
        return session

    yield start
    for session in opened:
        session.close()
