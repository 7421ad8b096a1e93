"""Games of two played from both sides: turns, forfeits, rewards, and the laws with `opponent="self"`."""

import gymnasium
import numpy as np
import pytest

import verigym
from verigym.envs.check.laws import contract, determinism, keys, purity, splits
from verigym.envs.check.subject import Subject
from verigym.envs.games.self_play import Duel

GAMES = [
    env_id
    for env_id in sorted(verigym.list_envs())
    if env_id.startswith("verigym/games/") and isinstance(verigym.make(env_id), Duel)
]
LAWS = [
    contract.info_always_has_its_keys,
    contract.legal_actions_are_valid,
    contract.episodes_are_bounded,
    determinism.a_seed_decides_the_task,
    determinism.snapshots_continue_identically,
    splits.seeds_give_different_tasks,
    splits.splits_share_no_content,
    keys.equal_keys_have_equal_futures,
    keys.keys_have_no_history,
    purity.it_is_pure,
]


class Both(Subject):
    """The subject with both sides played."""

    def make(self, **kwargs):
        return super().make(opponent="self", **kwargs)


def test_the_games_that_have_two_sides():
    names = [env_id.rpartition("/")[2] for env_id in GAMES]
    assert names == ["connect-four-v0", "liars-dice-v0", "nim-v0", "tic-tac-toe-v0"]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("env_id", GAMES)
def test_the_law_holds_with_both_sides_played(env_id, law):
    law(Both(env_id, 6))


def finish(env):
    step = None
    while step is None or not (step[2] or step[3]):
        step = env.step(env.oracle())
    return step


@pytest.mark.parametrize("env_id", GAMES)
def test_sides_take_turns_and_rewards_sum_to_zero(env_id):
    env = verigym.make(env_id, opponent="self")
    seen = set()
    for seed in range(64):
        if seed >= 8 and len(seen) > 1:
            break
        observation, info = env.reset(seed=seed)
        turn = 0
        over = False
        while not over:
            assert info["player"] == env.player == turn % 2
            assert info["rewards"] == (0.0, 0.0)
            assert f"You are {env.names[turn % 2]}; it is your turn." in observation
            observation, reward, over, truncated, info = env.step(env.oracle())
            turn += 1
            assert not truncated
        assert sum(info["rewards"]) == 0
        assert reward == info["verdict"].score == (info["rewards"][0] + 1) / 2
        assert info["verdict"].reason in ("first_wins", "draw", "second_wins")
        seen.add(info["rewards"][0])
        # Someone else who is handed the moves comes to the same score.
        moves = list(env.state.moves)
        assert env.verifier.verify(env.task, moves).score == reward
        assert env.verifier.verify(env.task, "; ".join(moves)).score == reward
        assert env.verifier.verify(env.task, [*moves, moves[0]]).reason == "moves_after_end"
        if len(moves) > 1:
            assert env.verifier.verify(env.task, moves[:-1]).reason == "not_over"
    assert len(seen) > 1


JUNK = ["", "no such move", "99 99", "x" * 5000, "\ud800", "1" + " " * 200 + "2"]


@pytest.mark.parametrize("env_id", GAMES)
@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_junk_forfeits_the_game_of_whoever_made_it(env_id, junk):
    env = verigym.make(env_id, opponent="self")
    _, reward, terminated, _, info = (env.reset(seed=3), env.step(junk))[1]
    assert (reward, terminated, info["valid_action"]) == (0.0, True, False)
    assert info["rewards"] == (-1.0, 1.0)
    assert info["verdict"].reason == "first_forfeits"
    for seed in range(20):
        env.reset(seed=seed)
        if not env.step(env.legal_actions(env.state)[0])[2]:
            break
    _, reward, terminated, _, info = env.step(junk)
    assert (reward, terminated, info["rewards"]) == (1.0, True, (1.0, -1.0))
    assert info["verdict"].reason == "second_forfeits"


@pytest.mark.parametrize("env_id", GAMES)
def test_a_game_that_is_cut_short_pays_nobody(env_id):
    env = verigym.make(env_id, opponent="self", max_turns=1)
    for seed in range(20):
        env.reset(seed=seed)
        _, reward, terminated, truncated, info = env.step(env.legal_actions(env.state)[0])
        if not terminated:
            assert (reward, truncated, info["rewards"]) == (0.0, True, (0.0, 0.0))
            assert info["verdict"] is None
            return
    raise AssertionError("every game ended at the first move")


def test_hidden_dice_stay_hidden_until_the_end():
    env = verigym.make("games/liars-dice-v0", opponent="self", difficulty="hard")
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        hands = env.task.reference["rounds"][0]
        over = False
        while not over:
            own = " ".join(map(str, hands[info["player"]]))
            assert observation.count("dice:") == 1
            assert f"Your dice: {own}\n" in observation
            assert "rounds" not in str(info)
            observation, _, over, _, info = env.step(env.oracle())


def test_the_best_play_of_nim_and_tic_tac_toe_is_found():
    env = verigym.make("games/nim-v0", opponent="self")
    for seed in range(30):
        env.reset(seed=seed)
        total = 0
        for heap in env.task.reference["heaps"]:
            total ^= heap
        assert (finish(env)[4]["rewards"][0] == 1) == (total != 0)  # Bouton 1901
    env = verigym.make("games/tic-tac-toe-v0", opponent="self")
    env.reset(options={"task": board_of("XO.......", env)})
    assert finish(env)[4]["rewards"] in [(0.0, 0.0), (1.0, -1.0)]


def start_of(task):
    """Return the start of the task in canonical form: the same for other orders of heaps or a
    symmetry."""
    if heaps := task.reference.get("heaps"):
        return tuple(sorted(heaps))
    board = np.array(list(task.reference["board"])).reshape(3, 3)
    turned = [np.rot90(side, k) for side in (board, board.T) for k in range(4)]
    return min("".join(one.ravel()) for one in turned)


@pytest.mark.parametrize("opponent", [None, "self"])
@pytest.mark.parametrize("env_id", ["games/nim-v0", "games/tic-tac-toe-v0"])
def test_splits_differ_in_where_games_start(env_id, opponent):
    env = verigym.make(env_id, opponent=opponent)
    starts = {
        split: {
            start_of(env.sample_task(seed, difficulty, split))
            for difficulty in env.difficulties
            for seed in range(40)
        }
        for split in verigym.SPLITS
    }
    assert min(map(len, starts.values())) >= 15
    assert len(set().union(*starts.values())) == sum(map(len, starts.values()))


def board_of(board, env):
    env.reset(seed=1)
    return verigym.Task(
        id="x",
        env_id=env.id,
        seed=0,
        prompt="p",
        difficulty="easy",
        reference={"game": "tic-tac-toe", "opponent": "self", "board": board, "turns": 9},
    )


def test_vectors_of_self_play_carry_players_and_rewards():
    envs = gymnasium.make_vec(
        "verigym/games/nim-v0", num_envs=3, vectorization_mode="sync", opponent="self"
    )
    _, infos = envs.reset(seed=[1, 2, 3])
    assert infos["player"].tolist() == [0, 0, 0]
    _, _, terminated, _, infos = envs.step(("1 1", "junk", "1 1"))
    assert terminated.tolist() == [False, True, False]
    assert infos["player"].tolist() == [1, 0, 1]
    assert [tuple(r) for r in infos["rewards"]] == [(0, 0), (-1, 1), (0, 0)]
    envs.close()


def test_another_opponent_is_refused():
    with pytest.raises(verigym.RequestError, match="opponent"):
        verigym.make("games/nim-v0", opponent="random")
