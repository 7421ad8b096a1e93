"""Sessions that nobody comes back to: all of them end, and leave nothing behind."""

import asyncio

import pytest

SESSIONS = 10_000


@pytest.mark.slow
def test_ten_thousand_abandoned_sessions_are_reclaimed(stage):
    async def main(app, http):
        table = app.state.sessions
        body = {"env": "stage/obeys-v0", "seed": 1, "count": 200}
        most = 0
        for _ in range(SESSIONS // 200):
            answer = await http.post("/v1/sessions", json=body)
            assert answer.status_code == 201, answer.text
            most = max(most, len(table))
        while len(table):
            await asyncio.sleep(0.05)
        # Orders that drop them go before this one, so that the host has none when it answers.
        assert (await http.get("/v1/envs/stage/pid-v0")).status_code == 200
        return most, table, [host.load for host in table.hosts._live]

    most, table, loads = stage.play(
        main,
        session_lease_s=3.0,
        max_sessions=SESSIONS,
        max_sessions_per_key=SESSIONS,
        env_workers=2,
        timeout_s=120.0,
        max_timeout_s=300.0,
    )
    assert most > 0
    assert loads == [0, 0]
    assert not table._owned
    assert not table._leases._heap
    assert not any(table._by_host.values())
