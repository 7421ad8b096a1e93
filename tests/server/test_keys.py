"""Keys: kept as hashes, checked for scope, replaced without a restart."""

import asyncio
import json
import os
import stat
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from starlette.routing import Route, WebSocketRoute
from typer.testing import CliRunner

from verigym import ConfigError, RequestError, Task
from verigym.cli.main import app as cli
from verigym.server import guard, keys
from verigym.server.app import create_app
from verigym.server.keys import Caller, KeyFile, add, read, revoke
from verigym.server.settings import ServerSettings

ASK = {
    "verifier": "unruly/obeys",
    "task": json.loads(Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d").to_json()),
    "submission": {"do": "nothing"},
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.json"


@pytest.fixture
def at_once(monkeypatch):
    """Key files are looked at for every request."""
    monkeypatch.setattr(keys, "_CHECK_S", 0.0)


def caller(path, text):
    return KeyFile(path).caller(text.encode())


def test_a_key_says_who_asks(path):
    text = add(path, name="trainer", scopes={"verify", "step"})
    assert caller(path, text) == Caller("trainer", frozenset({"verify", "step"}))
    id = read(path)[0].id
    for wrong in (text[:-1], text + "x", f"vg_{id}_", f"vg_{id}_x", "", "vg_", "vg__", text[3:]):
        assert caller(path, wrong) is None
    other = add(path, name="other", scopes={"verify"})
    mixed = f"vg_{id}_{other.split('_', 2)[2]}"
    assert caller(path, mixed) is None


def test_the_file_holds_no_secret_and_belongs_to_its_owner(path):
    text = add(path, name="a", scopes={"verify"})
    assert text.split("_", 2)[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(os.listdir(path.parent)) == ["keys.json"]


def test_two_keys_are_never_alike(path):
    texts = {add(path, name="a", scopes={"step"}) for _ in range(20)}
    assert len(texts) == len(read(path)) == 20
    assert all(len(text.split("_", 2)[2]) == 43 for text in texts)  # 256 bits


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o666, 0o606])
def test_a_file_that_others_read_or_write_is_refused(path, mode):
    add(path, name="a", scopes={"verify"})
    path.chmod(mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        KeyFile(path)


def test_a_group_may_read_as_in_a_mounted_secret(path, tmp_path):
    text = add(path, name="a", scopes={"verify"})
    path.chmod(0o440)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    assert caller(link, text) is not None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a file of keys"),
        ("[]", "not a file of keys"),
        ('{"keys": [{}]}', "not a file of keys"),
        ('{"keys": []}', "holds no key"),
        ('{"keys": ' + "[" * 5000, "not a file of keys"),
    ],
)
def test_a_file_of_something_else_is_refused(path, content, message):
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match=message):
        KeyFile(path)


@pytest.mark.parametrize(
    "change",
    [
        {"scopes": ["verify", "root"]},
        {"scopes": []},
        {"sha256": "abc"},
        {"sha256": "G" * 64},
        {"id": "../x"},
        {"name": " "},
        {"created": "2026-01-01T00:00:00"},
        {"colour": "red"},
    ],
)
def test_a_wrong_entry_is_refused(path, change):
    add(path, name="a", scopes={"verify"})
    entry = json.loads(path.read_text())["keys"][0]
    path.write_text(json.dumps({"keys": [{**entry, **change}]}))
    with pytest.raises(ConfigError, match="not a file of keys"):
        KeyFile(path)
    path.write_text(json.dumps({"keys": [entry, entry]}))
    with pytest.raises(ConfigError, match="two keys of one id"):
        KeyFile(path)


def test_no_file_is_a_clear_error(path):
    with pytest.raises(ConfigError, match="cannot read the keys"):
        KeyFile(path)
    with pytest.raises(ConfigError, match="cannot read the keys"):
        create_app(ServerSettings(host="0.0.0.0", keys=str(path)))


def test_what_cannot_be_a_key_is_refused(path):
    for wrong in ({"scopes": {"root"}}, {"scopes": set()}, {"name": ""}, {"name": "a\nb"}):
        with pytest.raises(RequestError):
            add(path, **{"name": "a", "scopes": {"verify"}, **wrong})
    with pytest.raises(RequestError, match="in the future"):
        add(path, name="a", scopes={"verify"}, expires=datetime.now(UTC))
    assert not path.exists()


def test_a_key_expires(path, monkeypatch):
    text = add(path, name="a", scopes={"verify"}, expires=datetime.now(UTC) + timedelta(hours=1))
    file = KeyFile(path)
    assert file.caller(text.encode()) is not None

    class Later(datetime):
        @classmethod
        def now(cls, zone=None):
            return datetime.now(zone) + timedelta(hours=2)

    monkeypatch.setattr(keys, "datetime", Later)
    assert file.caller(text.encode()) is None


def test_keys_change_without_a_restart(path, at_once, caplog):
    old = add(path, name="trainer", scopes={"verify"})
    file = KeyFile(path)
    new = add(path, name="trainer", scopes={"step"})
    assert file.caller(new.encode()) == Caller("trainer", frozenset({"step"}))
    assert file.caller(old.encode()) is not None
    revoke(path, read(path)[0].id)
    assert file.caller(old.encode()) is None
    assert file.caller(new.encode()) is not None
    with pytest.raises(RequestError, match="ids: "):
        revoke(path, "nothing")
    caplog.clear()
    path.write_text("{")
    for _ in range(3):
        assert file.caller(new.encode()) is not None, "a broken file must not lock everybody out"
    assert len(caplog.records) == 1
    path.unlink()
    assert file.caller(new.encode()) is not None
    third = add(path, name="c", scopes={"admin"})
    assert file.caller(new.encode()) is None
    assert file.caller(third.encode()).may("verify")


def test_a_file_is_not_looked_at_for_every_request(path):
    old = add(path, name="a", scopes={"verify"})
    file = KeyFile(path)
    revoke(path, read(path)[0].id)
    assert file.caller(old.encode()) is not None  # for a second


def test_a_key_is_good_for_what_it_is_for(unruly, path, at_once):
    texts = {scope: add(path, name=scope, scopes={scope}) for scope in ("verify", "step", "admin")}

    async def main():
        app = create_app(
            ServerSettings(workers=1, verifiers=("unruly/obeys",), key="plain", keys=str(path))
        )
        transport = httpx2.ASGITransport(app=app)
        found = {}
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://judge.example") as http,
        ):
            for name, key in {**texts, "plain": "plain", "wrong": "x", "none": None}.items():
                headers = {} if key is None else {"Authorization": f"bearer {key}"}
                for what, answer in {
                    "verify": await http.post("/v1/verify", json=ASK, headers=headers),
                    "list": await http.get("/v1/verifiers", headers=headers),
                    "step": await http.get("/v1/envs/nothing/like/it", headers=headers),
                    "metrics": await http.get("/metrics", headers=headers),
                    "else": await http.get("/v1/nothing", headers=headers),
                    "docs": await http.get("/docs", headers=headers),
                }.items():
                    code = "" if answer.status_code == 200 else answer.json()["error"]["code"]
                    found[name, what] = (answer.status_code, code)
        return found

    found = asyncio.run(main())
    lacks, gone = (403, "forbidden_scope"), (404, "not_found")
    assert {what: found["admin", what][0] for what in ("verify", "list", "metrics")} == {
        "verify": 200,
        "list": 200,
        "metrics": 200,
    }
    assert found["admin", "else"] == gone
    assert found["verify", "verify"][0] == found["verify", "list"][0] == 200
    assert found["verify", "step"] == found["verify", "metrics"] == lacks
    assert found["verify", "else"] == gone
    assert found["step", "verify"] == found["step", "metrics"] == lacks
    assert found["step", "step"][0] == 404
    assert found["step", "list"][0] == 200
    assert found["plain", "verify"][0] == 200
    assert found["plain", "metrics"] == lacks
    for name in ("wrong", "none"):
        assert found.pop((name, "docs"))[0] == 200
        assert {found[one] for one in found if one[0] == name} == {(401, "unauthorized")}


def test_every_route_has_a_scope():
    app = create_app(ServerSettings(sandbox=True, envs=("*",)))
    paths = {route.path for route in app.routes if isinstance(route, Route | WebSocketRoute)}
    assert "/v1/sandbox/run" in paths
    assert not {
        path
        for path in paths - guard.OPEN_PATHS
        if guard.scope_of(path) == guard.UNLISTED and not path.startswith("/page/")
    }


def test_paths_that_only_look_alike_get_no_scope():
    for path in (
        "/v1/verifyx",
        "/v1/verifiersx",
        "/v1/envsx",
        "//v1/verify",
        "/metrics/x",
        "/V1/ws",
    ):
        assert guard.scope_of(path) == guard.UNLISTED


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "", "x"])
def test_without_keys_pages_of_elsewhere_are_refused(unruly, origin):
    async def main():
        app = create_app(ServerSettings(workers=1, verifiers=("unruly/obeys",)))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:99") as http:
            return [
                await http.get("/docs", headers={"Origin": given})
                for given in (origin, "http://127.0.0.1:99")
            ]

    refused, own = asyncio.run(main())
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden_origin")
    assert own.status_code == 200


def test_the_command(path):
    run = CliRunner().invoke
    made = run(cli, ["keys", "add", str(path), "--name", "[red]a", "--scope", "verify, step"])
    assert made.exit_code == 0, made.output
    text = made.stdout.strip()
    assert caller(path, text) == Caller("[red]a", frozenset({"verify", "step"}))
    more = ["--name", "b", "--scope", "admin", "--expires", "2999-01-31"]
    assert run(cli, ["keys", "add", str(path), *more]).exit_code == 0
    listed = json.loads(run(cli, ["keys", "list", str(path), "--json"]).stdout)["keys"]
    assert [(key["name"], key["scopes"]) for key in listed] == [
        ("[red]a", ["step", "verify"]),
        ("b", ["admin"]),
    ]
    assert listed[1]["expires"] == "2999-01-31T00:00:00+00:00"
    shown = run(cli, ["keys", "list", str(path)]).stdout
    assert "[red]a" in shown
    assert text not in shown
    assert run(cli, ["keys", "revoke", str(path), listed[0]["id"]]).exit_code == 0
    assert caller(path, text) is None
    assert run(cli, ["keys", "revoke", str(path), listed[0]["id"]]).exit_code == 2
    assert run(cli, ["keys", "add", str(path), "--name", "c", "--scope", "root"]).exit_code == 2


def test_callers_with_keys_send_the_judge_only_where_it_may_go(unruly, path):
    text = add(path, name="a", scopes={"verify"})
    own, other = "http://127.0.0.1:9/v1", "http://169.254.169.254/latest"

    async def main():
        app = create_app(
            ServerSettings(
                workers=1, verifiers=("judge", "compose"), keys=str(path), judge_urls=(own,)
            )
        )
        transport = httpx2.ASGITransport(app=app)
        headers = {"Authorization": f"Bearer {text}"}
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://x", headers=headers) as http,
        ):

            async def said(verifier, params):
                task = {**ASK["task"], "reference": {"rubric": "r"}}
                body = {**ASK, "verifier": verifier, "task": task, "params": params}
                answer = await http.post("/v1/verify", json={**body, "submission": "x"})
                return answer.status_code, answer.text

            judge = {"model": "m", "base_url": other}
            nested = {"of": [{"verifier": "judge/rubric", "params": judge}]}
            twice = {"of": [{"verifier": "compose/all", "params": nested}]}
            refused = [
                await said("judge/rubric", judge),
                await said("compose/all", nested),
                await said("compose/any", twice),
                await said("judge/rubric", {**judge, "base_url": [other]}),
            ]
            allowed = await said("judge/rubric", {**judge, "base_url": own})
            return refused, allowed

    refused, allowed = asyncio.run(main())
    assert [status for status, _ in refused] == [422] * 4
    assert all("may ask" in text for _, text in refused)
    assert allowed[0] == 200
    assert "judge_unreachable" in allowed[1]
