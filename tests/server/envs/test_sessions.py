"""Sessions over HTTP: what a step answers, that it happens once, whose it is, and how it ends."""

import asyncio
import math
from urllib.parse import quote

import pytest

import verigym
from verigym import ConfigError, list_envs
from verigym.server.keys import add
from verigym.server.settings import ServerSettings

ENV = "stage/obeys-v0"


def code_of(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_a_session_plays_as_the_environment_does(stage):
    actions = ["a", "", "b", "end"]

    async def main(app, http):
        first = await stage.begin(http, seed=11)
        rest = [
            (await stage.step(http, first["session"], i, action)).json()
            for i, action in enumerate(actions, 1)
        ]
        return first, rest

    first, rest = stage.play(main)
    env = verigym.make(ENV)
    observation, info = env.reset(seed=11)
    assert first == {
        "session": first["session"],
        "seq": 0,
        "lease_s": 300.0,
        "observation": observation,
        "info": info,
    }
    for i, (action, got) in enumerate(zip(actions, rest, strict=True), 1):
        observation, reward, terminated, truncated, info = env.step(action)
        if info["verdict"] is not None:
            info["verdict"] = info["verdict"].to_builtins()
        assert got == {
            "session": first["session"],
            "seq": i,
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": info,
        }
    assert rest[-1]["terminated"]
    assert rest[-1]["info"]["verdict"]["score"] == 0.5


def test_a_step_happens_exactly_once(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        first = await stage.step(http, sid, 1, "a")
        again = await stage.step(http, sid, 1, "a")
        refused = [await stage.step(http, sid, *asked) for asked in ((1, "b"), (0, "a"), (3, "a"))]
        second = await stage.step(http, sid, 2, "a")
        stale = await stage.step(http, sid, 1, "a")
        return first, again, refused, second, stale

    first, again, refused, second, stale = stage.play(main)
    assert again.content == first.content
    assert "Verigym-Replayed" not in first.headers
    assert again.headers["Verigym-Replayed"] == "true"
    assert [code_of(answer)[1] for answer in refused] == ["seq_conflict", "seq_stale", "seq_gap"]
    assert {answer.status_code for answer in [*refused, stale]} == {409}
    assert "the next is 2" in refused[2].json()["error"]["message"]
    assert second.json()["observation"] == "2 a"
    assert code_of(stale)[1] == "seq_stale"


def test_a_step_sent_twice_at_once_happens_once(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        answers = await asyncio.gather(*(stage.step(http, sid, 1, "sleep 0.05") for _ in range(5)))
        return answers, (await http.get(f"/v1/sessions/{sid}")).json()

    answers, state = stage.play(main)
    assert len({answer.content for answer in answers}) == 1
    assert sum("Verigym-Replayed" in answer.headers for answer in answers) == 4
    assert (state["seq"], state["turn"]) == (1, 1)


def test_steps_sent_at_once_are_played_in_order(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        return await asyncio.gather(*(stage.step(http, sid, i, f"{i}") for i in range(1, 20)))

    answers = stage.play(main)
    assert [answer.json()["observation"] for answer in answers] == [
        f"{i} {i}" for i in range(1, 20)
    ]


def test_a_fault_is_no_reward_and_uses_nothing_up(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        await stage.step(http, sid, 1, "a")
        faults = [await stage.step(http, sid, 2, action) for action in ("fault", "crash", "broken")]
        return faults, await stage.step(http, sid, 2, "b")

    faults, after = stage.play(main)
    assert {answer.status_code for answer in faults} == {200}
    told = [answer.json()["fault"] for answer in faults]
    assert [(fault["status"], fault["reason"]) for fault in told] == [
        ("infra", "away"),
        ("verifier_error", "crashed"),
        ("verifier_error", "bad_task"),
    ]
    assert len(told[0]["digest"]) == 64
    assert not any(b"hush" in answer.content for answer in faults)
    assert after.json()["observation"] == "2 b"  # made again after the crash, from its history


def test_the_episode_ends_and_a_reset_begins_another(stage):
    async def main(app, http):
        sid = (await stage.begin(http, seed=1))["session"]
        await stage.step(http, sid, 1, "end")
        over = await stage.step(http, sid, 2, "a")
        body = {"seq": 2, "seed": 5, "options": {"difficulty": "two"}}
        reset, again = [await http.post(f"/v1/sessions/{sid}/reset", json=body) for _ in range(2)]
        other = await http.post(f"/v1/sessions/{sid}/reset", json={**body, "seed": 6})
        return over, reset, again, other, await stage.step(http, sid, 3, "a")

    over, reset, again, other, after = stage.play(main)
    assert code_of(over) == (409, "episode_over")
    assert reset.json()["info"]["task_id"] == "verigym/stage/obeys-v0:train:two:5"
    assert again.content == reset.content
    assert code_of(other) == (409, "seq_conflict")
    assert after.json()["observation"] == "1 a"


def test_resets_without_a_seed_follow_the_environment(stage):
    async def main(app, http):
        sid = (await stage.begin(http, seed=3))["session"]
        return [
            (await http.post(f"/v1/sessions/{sid}/reset", json={"seq": i})).json()
            for i in range(1, 4)
        ]

    env = verigym.make(ENV)
    env.reset(seed=3)
    wanted = [env.reset()[1]["task_id"] for _ in range(3)]
    assert [answer["info"]["task_id"] for answer in stage.play(main)] == wanted


def test_a_group_starts_in_one_state(stage):
    async def main(app, http):
        body = {"env": ENV, "seed": 4, "count": 5, "options": {"difficulty": "three"}}
        group = (await http.post("/v1/sessions", json=body)).json()["sessions"]
        sids = [session["session"] for session in group]
        steps = [(await stage.step(http, sid, 1, "a")).json() for sid in sids]
        resets = [
            (await http.post(f"/v1/sessions/{sid}/reset", json={"seq": 2})).json() for sid in sids
        ]
        return group, sids, steps, resets

    group, sids, steps, resets = stage.play(main)
    assert len(set(sids)) == 5
    for answers in (group, steps, resets):
        assert len({str({**answer, "session": ""}) for answer in answers}) == 1
    assert resets[0]["info"]["task_id"].split(":")[2] == "three"


REFUSED = [
    ({"env": "stage/nothing"}, 404, "unknown_env", "$.env"),
    ({"env": "keydoor"}, 404, "unknown_env", "$.env"),  # registered, not served
    ({"env": ENV, "params": {"verifier": "http://x"}}, 422, "invalid_request", "$.params"),
    ({"env": ENV, "params": {"max_turns": 0}}, 422, "invalid_request", "$.params"),
    ({"env": ENV, "params": {"split": ["x"]}}, 422, "invalid_request", "$.params"),
    ({"env": ENV, "params": {"self": 2**70}}, 422, "invalid_request", "$"),
    ({"env": ENV, "options": {"difficulty": "four"}}, 422, "invalid_request", "$.options"),
    ({"env": ENV, "options": {"task": {}}}, 422, "invalid_request", "$.options.task"),
    ({"env": ENV, "seed": -1}, 422, "invalid_request", "$.seed"),
    ({"env": ENV, "seed": 2**63}, 422, "invalid_request", "$.seed"),
    ({"env": ENV, "count": 0}, 422, "invalid_request", "$.count"),
    ({"env": ENV, "count": 9}, 422, "invalid_request", "$.count"),
    ({"env": ENV, "kount": 1}, 422, "invalid_request", "$"),
    ({"env": "stage/gone-v0"}, 503, "env_fault", ""),
]


def test_what_cannot_be_begun_is_refused(stage):
    async def main(app, http):
        answers = [await http.post("/v1/sessions", json=body) for body, *_ in REFUSED]
        return answers, len(app.state.sessions)

    answers, left = stage.play(main, max_sessions=8)
    said = [(*code_of(answer), answer.json()["error"]["where"]) for answer in answers]
    assert said == [tuple(wanted) for _, *wanted in REFUSED]
    assert left == 0


def test_half_a_surrogate_pair_is_an_action(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        data = rb'{"seq":1,"action":"a\ud800"}'
        kind = {"Content-Type": "application/json"}
        url = f"/v1/sessions/{sid}/step"
        return [await http.post(url, content=data, headers=kind) for _ in range(2)]

    first, again = stage.play(main)
    assert first.json()["info"]["valid_action"] is False
    assert again.content == first.content


def test_long_actions_are_actions(stage):
    long = "x" * 3_000_000

    async def main(app, http):
        sids = [(await stage.begin(http))["session"] for _ in range(8)]
        first = await asyncio.gather(*(stage.step(http, sid, 1, long) for sid in sids))
        again = await stage.step(http, sids[0], 1, long)
        other = await stage.step(http, sids[0], 1, long + "x")
        table = app.state.sessions
        kept = [table.find("local", sid) for sid in sids]
        return first, again, other, [(len(s.last), s.history_chars) for s in kept]

    first, again, other, kept = stage.play(main)
    assert all(answer.json()["info"]["valid_action"] is False for answer in first)
    assert again.content == first[0].content
    assert code_of(other) == (409, "seq_conflict")
    assert kept == [(32, 4098)] * 8


def test_options_that_cannot_be_sent_are_refused_alone(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        body = {"seq": 1, "options": {"difficulty": 2**70}}
        bad = http.post(f"/v1/sessions/{sid}/reset", json=body)
        return await asyncio.gather(bad, stage.step(http, sid, 1, "a"))

    bad, good = stage.play(main)
    assert code_of(bad) == (422, "invalid_request")
    assert good.json()["observation"] == "1 a"


def test_sessions_are_bounded_and_reclaimed(stage):
    async def main(app, http):
        sids = [(await stage.begin(http))["session"] for _ in range(3)]
        full = await http.post("/v1/sessions", json={"env": ENV})
        closed = await http.delete(f"/v1/sessions/{sids[0]}")
        again = await http.delete(f"/v1/sessions/{sids[0]}")
        await stage.begin(http)
        listed = (await http.get("/v1/sessions")).json()["sessions"]
        return sids, full, closed, again, listed

    sids, full, closed, again, listed = stage.play(main, max_sessions_per_key=3)
    assert code_of(full) == (429, "busy")
    assert full.headers["Retry-After"] == "1"
    assert (closed.status_code, closed.content) == (204, b"")
    assert code_of(again) == (404, "unknown_session")
    assert [state["session"] for state in listed][:2] == sids[1:]


def test_keys_share_the_sessions(stage, tmp_path):
    path = tmp_path / "keys.json"
    keys = {name: add(path, name=name, scopes={"step"}) for name in ("first", "second")}

    async def main(app, http):
        async def begin(name, count):
            http.headers["Authorization"] = f"Bearer {keys[name]}"
            return await http.post("/v1/sessions", json={"env": ENV, "count": count})

        half, more = await begin("first", 4), await begin("first", 1)
        other = await begin("second", 2)
        return half, more, other

    half, more, other = stage.play(main, keys=str(path), max_sessions=8)
    assert (half.status_code, other.status_code) == (201, 201)
    assert code_of(more) == (429, "busy")
    assert "this key has its share of sessions" in more.json()["error"]["message"]


def test_one_caller_may_have_all_sessions(stage):
    async def main(app, http):
        await stage.begin(http, count=8)
        return await http.post("/v1/sessions", json={"env": ENV})

    full = stage.play(main, max_sessions=8)
    assert code_of(full) == (429, "busy")
    assert "all 8 sessions are open" in full.json()["error"]["message"]


def test_a_core_has_2000_sessions_by_default(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    large = ServerSettings()
    assert large.max_sessions == 64 * 2048
    assert large.max_sessions == large.max_sessions_per_key == large.max_sockets
    assert large.max_concurrent == large.max_sessions
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert ServerSettings().max_sessions == 4096


def test_a_session_belongs_to_its_key(stage, tmp_path):
    path = tmp_path / "keys.json"
    one, other = [add(path, name=name, scopes={"step"}) for name in ("one", "other")]
    verify = add(path, name="judge", scopes={"verify"})

    async def main(app, http):
        def auth(key):
            http.headers["Authorization"] = f"Bearer {key}"

        auth(one)
        sid = (await stage.begin(http))["session"]
        full = await http.post("/v1/sessions", json={"env": ENV})
        auth(other)
        asked = [
            await http.get(f"/v1/sessions/{sid}"),
            await stage.step(http, sid, 1, "a"),
            await http.delete(f"/v1/sessions/{sid}"),
            await http.get("/v1/sessions/none-such"),
        ]
        listed = (await http.get("/v1/sessions")).json()
        begun = await http.post("/v1/sessions", json={"env": ENV})
        auth(verify)
        narrow = await http.post("/v1/sessions", json={"env": ENV})
        auth(one)
        return full, asked, listed, begun, narrow, await stage.step(http, sid, 1, "a")

    full, asked, listed, begun, narrow, own = stage.play(
        main, keys=str(path), max_sessions_per_key=1
    )
    assert code_of(full)[0] == 429
    assert {(answer.status_code, answer.content) for answer in asked} == {
        (404, asked[0].content)  # no word about whether it is somebody else's
    }
    assert listed == {"sessions": []}
    assert begun.status_code == 201
    assert code_of(narrow) == (403, "forbidden_scope")
    assert own.json()["seq"] == 1


def test_a_session_that_is_not_used_ends(stage):
    async def main(app, http):
        loop = asyncio.get_running_loop()
        table = app.state.sessions
        kept, left = (await stage.begin(http))["session"], (await stage.begin(http))["session"]
        expires = table.find("local", left).expires
        renewed = await http.post(f"/v1/sessions/{kept}/renew")
        while len(table) > 1:
            await http.post(f"/v1/sessions/{kept}/renew")
            await asyncio.sleep(0)  # the client without a socket never waits
        assert loop.time() >= expires
        gone = await stage.step(http, left, 1, "a")
        while len(table):
            await asyncio.sleep(0.01)
        return renewed.json(), gone, table.hosts._live[0].load

    renewed, gone, load = stage.play(main, session_lease_s=0.3)
    assert 0 < renewed["lease_s"] <= 0.3
    assert code_of(gone) == (404, "unknown_session")
    assert load == 0


def test_a_deadline_of_the_caller_is_no_end_of_the_step(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        body = {"seq": 1, "action": "sleep 0.3"}
        early = await http.post(
            f"/v1/sessions/{sid}/step", json=body, headers={"Verigym-Deadline-S": "0.05"}
        )
        return early, await stage.step(http, sid, 1, "sleep 0.3")

    early, later = stage.play(main)
    assert early.json()["fault"] == {"status": "timeout", "reason": "deadline", "digest": ""}
    assert later.json()["observation"] == "1 sleep 0.3"
    assert later.headers["Verigym-Replayed"] == "true"


def test_the_catalogue(stage):
    async def main(app, http):
        return [
            await http.get(path)
            for path in (
                "/v1/envs",
                "/v1/envs/stage/obeys-v0",
                "/v1/envs/verigym/stage/obeys-v0",
                "/v1/envs/stage/obeys-v0/tasks?seeds=0,5&split=test&difficulty=two",
                "/v1/envs/stage/nothing",
                "/v1/envs/stage/obeys-v0/tasks?seeds=1,a",
                "/v1/envs/stage/obeys-v0/tasks?split=no",
                "/v1/envs/stage/obeys-v0/tasks?reference=1",
            )
        ]

    all_, one, same, tasks, *refused = stage.play(main)
    assert [env["id"] for env in all_.json()["envs"]] == [
        "verigym/stage/obeys-v0",
        "verigym/stage/pid-v0",
    ]  # the broken one is left out
    assert one.json() == same.json() == all_.json()["envs"][0]
    assert one.json()["params"] == {"difficulty": None, "split": "train", "max_turns": None}
    env = verigym.make(ENV)
    wanted = [env.sample_task(seed, "two", "test").public() for seed in (0, 5)]
    assert tasks.json() == {"tasks": [{**task, "tags": []} for task in wanted]}
    assert [code_of(answer)[0] for answer in refused] == [404, 422, 422, 422]


def test_settings_name_environments(stage):
    assert ServerSettings(envs=("stage/o*",)).env_ids() == ["verigym/stage/obeys-v0"]
    assert ServerSettings().env_ids() == []
    assert set(ServerSettings(envs=("*",)).env_ids()) == set(list_envs())
    with pytest.raises(ConfigError, match="no environment matches"):
        ServerSettings(envs=("stag",)).env_ids()
    with pytest.raises(ConfigError, match="session_lease_s"):
        ServerSettings(session_lease_s=math.nan)


FILE_NAMES = (
    *("a\0.toml", "a\0", "\0", "x.toml", "/etc/passwd", "/etc/passwd.toml", "../x.toml", ".toml"),
    *("verigym/../x.toml", "games/keydoor-v0\0.toml", "~/x.toml", "", "/", "a" * 100_000 + ".toml"),
)


def test_names_never_reach_the_file_system(stage, monkeypatch):
    def touched(self, *_, **__):
        raise AssertionError(f"the file system was asked for {self}")

    async def main(app, http):
        heard = {}
        with monkeypatch.context() as patch:
            patch.setattr("pathlib.Path.resolve", touched)
            patch.setattr("pathlib.Path.is_file", touched)
            for name in FILE_NAMES:
                said = await http.post("/v1/sessions", json={"env": name})
                paths = [f"/v1/envs/{quote(name)}", f"/v1/envs/{quote(name)}/tasks"]
                paths += [f"/openenv/{quote(name)}/health", f"/v1/verifiers/{quote(name)}/card"]
                paths = paths if 0 < len(name) < 1000 else []
                heard[name] = said, [await http.get(path) for path in paths]
        return heard

    for name, (said, shown) in stage.play(main).items():
        assert code_of(said) == (404, "unknown_env"), name
        assert len(said.text) < 2000
        for answer in shown:
            assert answer.status_code == 404 or name == "/", (name, answer.text)


def test_dropped_sessions_leave_the_leases(stage):
    async def main(app, http):
        for _ in range(20):
            body = {"env": ENV, "seed": 7, "count": 16}
            begun = (await http.post("/v1/sessions", json=body)).json()["sessions"]
            for one in begun:
                await http.delete(f"/v1/sessions/{one['session']}")
        return len(app.state.sessions._leases)

    assert stage.play(main, max_sessions=16) <= 80
