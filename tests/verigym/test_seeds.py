"""Seeds and their generators: the same everywhere, all different, and to be copied and split."""

import copy
import hashlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import verigym
from verigym.errors import RequestError
from verigym.seeds import checked_seed, generator_of

DRAWN = {0: 5886206784917472829, 7: 15455315603219604499, 10**30: 8187803316512965548}


@pytest.mark.parametrize("seed", DRAWN)
def test_what_a_seed_draws_is_fixed_for_good(seed):
    assert generator_of(seed).bit_generator.random_raw() == DRAWN[seed]


def test_the_state_is_what_shake_128_gives_read_from_its_low_byte():
    for seed in (0, 7, 2**64, 10**6000):
        drawn = hashlib.shake_128(f"{seed:x}".encode()).digest(32)
        high, low, turn_high, turn_low = (
            int.from_bytes(drawn[at : at + 8], "little") for at in range(0, 32, 8)
        )
        # As `pcg64_srandom_r` does it (O'Neill 2014).
        inc = (turn_high << 65 | turn_low << 1 | 1) % 2**128
        state = (inc + (high << 64 | low)) * 0x2360ED051FC65DA44385DF649FCCF645 + inc
        assert generator_of(seed).bit_generator.state["state"] == {
            "state": state % 2**128,
            "inc": inc,
        }


def test_another_process_draws_the_same():
    code = (
        "from verigym.seeds import generator_of; print(generator_of(7).bit_generator.random_raw())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(told.stdout) == DRAWN[7]


def test_seeds_near_each_other_have_nothing_in_common():
    seeds = [*range(2000), *(2**n for n in range(11, 130))]
    states = [generator_of(seed).bit_generator.state["state"] for seed in seeds]
    for name in ("state", "inc"):
        assert len({state[name] for state in states}) == len(seeds)
    firsts = np.array([generator_of(seed).random() for seed in range(2000)])
    # Four deviations of the mean of so many, and of the correlation with the next seed's.
    assert abs(firsts.mean() - 0.5) < 4 / np.sqrt(12 * 2000)
    assert abs(np.corrcoef(firsts[:-1], firsts[1:])[0, 1]) < 4 / np.sqrt(2000)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32, np.uint64])
def test_numpy_s_numbers_are_seeds_too(kind):
    env = verigym.make("countdown")
    assert checked_seed(kind(7)) == 7
    assert type(checked_seed(kind(7))) is int
    assert env.sample_task(kind(7)) == env.sample_task(7)
    assert env.reset(seed=kind(7)) == env.reset(seed=7)


@pytest.mark.parametrize("seed", [-1, True, 1.0, "7", None, np.float64(1), np.int64(-1)])
def test_what_is_no_seed(seed):
    with pytest.raises(RequestError, match="a seed is a whole number of at least 0"):
        checked_seed(seed)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_a_copy_goes_on_as_the_first_would(again):
    rng = generator_of(7)
    rng.random()
    rng.spawn(1)
    other = again(rng)
    assert rng.random() == other.random()
    assert rng.spawn(1)[0].random() == other.spawn(1)[0].random()


def test_a_generator_can_be_split_into_others():
    rng, again = generator_of(7), generator_of(7)
    children = [*rng.spawn(2), *rng.spawn(1)]
    grandchildren = children[1].spawn(2)
    every = [
        rng,
        *children,
        *grandchildren,
        *(generator_of(seed) for seed in range(20) if seed != 7),
    ]
    assert len({one.bit_generator.state["state"]["inc"] for one in every}) == len(every)
    assert [one.random() for one in again.spawn(3)] == [one.random() for one in children]
    assert again.random() == rng.random() == generator_of(7).random()
