"""A service that OpenEnv clients reach, in process."""

import contextlib
import json
import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from verigym import registry
from verigym.server.app import create_app
from verigym.server.settings import ServerSettings

TESTS = Path(__file__).parents[2]
HOME = "ws://127.0.0.1"
REAL = Path(os.environ.get("VERIGYM_OPENENV_PYTHON", TESTS.parent / ".venv-openenv/bin/python"))


class Spoken:
    """A socket that is spoken with in JSON."""

    def __init__(self, socket):
        self.socket = socket

    def ask(self, message):
        return self.tell(json.dumps(message))

    def tell(self, text):
        self.socket.send_text(text)
        return json.loads(self.socket.receive_text())

    def reset(self, **data):
        return self.ask({"type": "reset", "data": data})["data"]

    def step(self, message):
        return self.ask({"type": "step", "data": {"message": message}})["data"]


class Service:
    """The application's client, and its sessions."""

    def __init__(self, app, http):
        self.app = app
        self.http = http

    @contextlib.contextmanager
    def socket(self, path):
        with self.http.websocket_connect(HOME + path) as socket:
            yield Spoken(socket)

    def post(self, path, body):
        return self.http.post(path, json=body)

    def rpc(self, base, method, **params):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.post(f"{base}/mcp", body).json()

    @property
    def sessions(self):
        return len(self.app.state.sessions)


@contextlib.contextmanager
def serving(**settings):
    chosen = {"verifiers": (), "envs": ("games", "math"), "workers": 1, "env_workers": 1}
    app = create_app(ServerSettings(**{**chosen, **settings}))
    with TestClient(app, base_url="http://127.0.0.1") as http:
        yield Service(app, http)


@pytest.fixture(scope="module")
def service():
    with serving(openenv="keydoor") as running:
        yield running


@pytest.fixture
def serve():
    return serving


@pytest.fixture
def staged(stage_folder, monkeypatch):
    """A service of environments that do as they are told."""
    monkeypatch.syspath_prepend(stage_folder)
    monkeypatch.setenv("PYTHONPATH", str(stage_folder))
    caches = (
        *(registry._points, registry._load_verifier),
        *(registry.list_verifiers, registry.list_envs),
    )
    for cached in caches:
        cached.cache_clear()
    yield lambda **settings: serving(envs=("stage",), **settings)
    for cached in caches:
        cached.cache_clear()


@pytest.fixture(scope="session")
def real_python():
    """The Python that the `openenv` package is installed in, apart from ours: `make openenv`."""
    if not REAL.exists():
        pytest.skip(f"no {REAL}: make openenv")
    return REAL
