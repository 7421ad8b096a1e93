"""Databases that a service's callers may have a worker connect to, and secrets that workers must
not hold."""

import json
import os
import socket
import threading
from pathlib import Path

import httpx2
import pytest

from verigym import RequestError, Task
from verigym.sandbox.workers.without_secrets import without_secrets
from verigym.server.process import ServerProcess
from verigym.server.settings import ServerSettings
from verigym.verifiers.pool import VerifierPool

SCHEMA = {"tables": {"r": {"a": "INT", "b": "INT"}}}
TASK = json.loads(
    Task(
        id="t",
        env_id="e",
        seed=0,
        prompt="p",
        difficulty="d",
        reference={
            "query": "SELECT a FROM r WHERE b > 3",
            "schema": SCHEMA,
            "dialect": "postgres",
        },
    ).to_json()
)
KEY = "a-key-of-the-service"


class Listener:
    """Counts connections to a port of the loopback interface, which it closes at once."""

    def __enter__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgresql://me:pw@127.0.0.1:{self._socket.getsockname()[1]}/jobs"
        self.count = 0
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.count += 1
            connection.close()

    def __exit__(self, *_):
        self._socket.close()


def body(submission="SELECT a FROM r WHERE b > 3", verifier="sql/query", **params):
    return {"verifier": verifier, "task": TASK, "submission": submission, "params": params}


def nested(url, depth):
    child = {"verifier": "sql/query", "params": {"engine": url}}
    for _ in range(depth):
        child = {"verifier": "compose/all", "params": {"of": [child]}}
    return {
        "verifier": "compose/all",
        "task": TASK,
        "submission": "SELECT 1",
        "params": {"of": [child]},
    }


def post(server, path, said, key=KEY):
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.post(server.url + path, json=said, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def keyed():
    with ServerProcess(verifiers=["sql", "compose"], workers=1, key=KEY) as server:
        yield server


@pytest.mark.parametrize("form", ["{}", " {}", "{}?application_name=x", "POSTGRESQL"])
def test_a_callers_url_is_never_connected_to(keyed, form):
    with Listener() as listener:
        url = form.format(listener.url)
        if form == "POSTGRESQL":
            url = listener.url.replace("postgresql", "PostgreSQL")
        for said in (
            body(engine=url),
            body(engine=url, show="database"),
            nested(url, 0),
            nested(url, 5),
        ):
            answer = post(keyed, "/v1/verify", said)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_params")
            answer = post(keyed, "/v1/verify/batch", {"items": [said, said]})
            assert answer.status_code == 422
            job = post(keyed, "/v1/jobs", said).json()["job"]
            headers = {"Authorization": f"Bearer {KEY}"}
            done = httpx2.get(
                f"{keyed.url}/v1/jobs/{job}?wait_s=30", headers=headers, timeout=60
            ).json()
            assert done["verdicts"][0]["status"] == "verifier_error"
            assert done["verdicts"][0]["reason"] == "bad_params"
        assert listener.count == 0


@pytest.mark.slow
def test_not_without_keys_either():
    with ServerProcess(verifiers=["sql"], workers=1) as server, Listener() as listener:
        answer = httpx2.post(server.url + "/v1/verify", json=body(engine=listener.url), timeout=60)
        assert answer.status_code == 422
        assert "--sql-engine" in answer.json()["error"]["message"]
        assert listener.count == 0


@pytest.mark.slow
def test_a_named_engine_is_used_and_its_rows_are_not_shown(postgres):
    postgres.psql("CREATE ROLE named LOGIN")
    url = postgres.url(role="named")
    try:
        with ServerProcess(
            verifiers=["sql"],
            workers=1,
            key=KEY,
            env={"THE_DATABASE": url},
            options=["--sql-engine", "real=env:THE_DATABASE"],
        ) as server:
            right = post(server, "/v1/verify", body(engine="real")).json()
            assert (right["score"], right["verifier"].split("@")[0]) == (1.0, "sql/query"), right
            wrong = post(server, "/v1/verify", body("SELECT a FROM r", engine="real")).json()
            assert wrong["score"] == 0.0
            shown = post(server, "/v1/verify", body(engine="real", show="database"))
            assert (shown.status_code, shown.json()["error"]["code"]) == (422, "bad_params")
            other = post(server, "/v1/verify", body(engine="reel"))
            assert "'real'" in other.json()["error"]["message"]
            assert "named" not in json.dumps([right, wrong, shown.json(), other.json()])
    finally:
        postgres.psql("DROP ROLE named")


def test_shown_databases_stay_allowed_on_made_ones(keyed):
    shown = post(keyed, "/v1/verify", body("SELECT a FROM r", show="database")).json()
    assert shown["score"] == 0.0


@pytest.mark.parametrize(
    "engines",
    [
        {"auto": "postgresql://h/d"},
        {"a b": "postgresql://h/d"},
        {"a": "http://h"},
        {"": "postgres://"},
    ],
)
def test_engines_that_cannot_be_named(engines):
    with pytest.raises(RequestError, match="SQL engine"):
        ServerSettings(sql_engines=engines)


SECRET = "hush-hush-4711"
SECRETS = {
    "PGPASSWORD": SECRET,
    "PGHOST": SECRET,
    "PGSERVICEFILE": SECRET,
    "VERIGYM_API_KEY": SECRET,
    "VERIGYM_SERVER_KEY": SECRET,
    "OPENAI_API_KEY": SECRET,
    "HF_TOKEN": SECRET,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "DB_PASS": SECRET,
    "SSH_AUTH_SOCK": SECRET,
    "VERIGYM_STORE": SECRET,
    "WHATEVER": f"redis://me:{SECRET}@host/0",
    "my_openai_apikey": SECRET,
}


def test_secrets_are_told_by_name_or_value():
    plain = {
        *("PATH", "HOME", "PWD", "LANG", "PYTHONPATH", "TMPDIR", "KEYBOARD", "MONKEY", "PAGER"),
        *("VERIGYM_JUDGE_KEY", "XDG_STATE_HOME", "OMP_NUM_THREADS", "COMPASS", "AUTHOR"),
    }
    environ = {**SECRETS, **dict.fromkeys(plain, "x"), "http_proxy": "http://me:pw@proxy:3128"}
    assert set(without_secrets(environ)) == {*plain, "http_proxy"}
    assert without_secrets(environ, ["HF_TOKEN"])["HF_TOKEN"] == SECRET


def seen_by(pid):
    """Return everything that the account can read of a process: its variables and its command
    line."""
    return b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline"))


def test_workers_and_hosts_have_no_secrets(tmp_path):
    with ServerProcess(
        verifiers=["sql"],
        envs=["games/keydoor-v0"],
        workers=1,
        key=SECRET,
        env={**SECRETS, "DATABASE": f"postgresql://me:{SECRET}@127.0.0.1:1/d"},
        options=["--env-workers", "1", "--sql-engine", "real=env:DATABASE"],
    ) as server:
        post(server, "/v1/verify", body(), key=SECRET)
        post(server, "/v1/sessions", {"env": "keydoor"}, key=SECRET)
        pids = descendants(server.pid)
        assert len(pids) >= 4  # a fork server and a worker of each kind
        for pid in pids:
            assert SECRET.encode() not in seen_by(pid), pid
        assert SECRET.encode() not in Path(f"/proc/{server.pid}/cmdline").read_bytes()


def descendants(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


@pytest.mark.slow
def test_a_pool_of_ones_own_takes_any_url_and_keeps_what_it_is_told_to():
    with Listener() as listener, VerifierPool(1) as pool:
        verdict = pool.verify(
            "sql/query",
            Task.from_json(json.dumps(TASK)),
            "SELECT 1",
            params={"engine": listener.url},
        )
        assert verdict.status.value in ("infra", "policy_fault")
    with VerifierPool(1, sql_engines={}) as pool, pytest.raises(RequestError, match="URL"):
        pool.describe("sql/query", {"engine": "postgresql://h/d"})
