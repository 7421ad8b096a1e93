"""The real GRPOTrainer trains on tasks of a spec (`make peers-trl`)."""

import re
import shutil
from pathlib import Path

import pytest

import verigym
from verigym.server.process import ServerProcess

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_trl_trains_on_one_turn_and_on_several(peer, tmp_path):
    found = peer("trl", "with_trl.py", tmp_path, timeout_s=880)
    one_turn, several = found["reward"], found["rollout"]
    assert (one_turn["steps"], several["steps"]) == (2, 2)
    assert set(one_turn["rewards"]) == {0.0, 1.0}
    assert one_turn["change"] > 0
    assert len(several["rewards"]) == 8
    assert set(several["rewards"]) <= {0.0, 1.0}


@pytest.mark.slow
def test_trl_trains_by_its_own_spec_on_our_server_of_the_open_reward_standard(peer, tmp_path):
    plays, wanted = [], []
    with verigym.make("games/lights") as env:
        for seed in (3, 5):
            env.reset(seed=seed, options={"split": "train"})
            actions, shown = [], env.step("nonsense")[0]
            env.reset(seed=seed, options={"split": "train"})
            over = False
            while not over:
                actions.append(env.oracle())
                last, _, terminated, truncated, _ = env.step(actions[-1])
                over = terminated or truncated
            plays.append([seed, actions])
            wanted.append({"rewards": [1.0, 0.0, None, None], "outputs": [last, shown, "", ""]})
    page = (ROOT / "docs" / "ors.md").read_text(encoding="utf-8")
    reward = re.search(r"^def rewards.*?(?=^```)", page, re.MULTILINE | re.DOTALL)[0]
    with ServerProcess(
        envs=["games/lights-v0", "stage/obeys-v0"],
        workers=1,
        options=["--ors"],
        env={"PYTHONPATH": str(stage(tmp_path / "stage"))},
    ) as server:
        given = {"plays": plays, "reward": reward}
        found = peer("trl", "with_trl_ors.py", server.url, tmp_path, given=given)
    trained = found["trained"]
    assert (trained["tools"], trained["steps"]) == (["act"], len(plays))
    assert trained["groups"] == wanted
    assert trained["change"] > 0
    # Played to the end, ended by a fault, nothing but a fault, nothing at all.
    assert found["rewarded"] == {"trl": [1.0, 0.0, None, None], "snippet": [1.0, None, None, 0.0]}


def stage(folder):
    """Install the environment of tests that does as it is told; return the folder for PYTHONPATH."""
    info = folder / "stage-1.dist-info"
    info.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "data" / "stage_envs.py", folder)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stage\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[verigym.envs]\nstage/obeys-v0 = stage_envs:Obeys\n"
        "[verigym.verifiers]\nstage/count = stage_envs:Count\n"
    )
    return folder
