"""Ids, short names, suggestions, and what installed packages publish."""

import copy
import json
import os
import pickle
import subprocess
import sys
import textwrap

import gymnasium
import pytest

import verigym
from verigym.registry import resolve


def test_ours_are_listed():
    envs = verigym.list_envs()
    assert {
        "verigym/code/stdio-v0",
        "verigym/games/keydoor-v0",
        "verigym/math/countdown-v0",
    } <= set(envs)
    entry = envs["verigym/math/countdown-v0"]
    assert (entry.family, entry.version) == ("math", 0)
    assert list(envs) == sorted(envs)
    assert {"code/stdio", "games/keydoor", "math/countdown"} <= set(verigym.list_verifiers())


@pytest.mark.parametrize(
    "name",
    [
        "verigym/math/countdown-v0",
        "math/countdown-v0",
        "verigym/math/countdown",
        "math/countdown",
        "countdown-v0",
        "countdown",
    ],
)
def test_short_names(name):
    assert resolve(name) == "verigym/math/countdown-v0"
    assert verigym.make(name, difficulty="hard").difficulty == "hard"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("countdwn", "unknown environment 'countdwn'; did you mean .*'math/countdown-v0'"),
        ("math/countdown-v9", "did you mean .*'math/countdown-v0'"),
        ("verigym/games/keydor-v0", "did you mean .*'games/keydoor-v0'"),
        ("zzzzzzzz", "known: "),
        ("", "unknown environment ''"),
    ],
)
def test_unknown_names_get_suggestions(name, message):
    with pytest.raises(verigym.RequestError, match=message):
        verigym.make(name)


@pytest.mark.parametrize("name", ["math/countdwn", "countdown"])
def test_unknown_verifiers_get_suggestions(name):
    with pytest.raises(verigym.RequestError, match="did you mean 'math/countdown'"):
        verigym.make_verifier(name)


@pytest.mark.parametrize("options", [{}, {"difficulty": "tiny"}])
def test_what_is_made_can_be_copied_in_the_midst_of_play(options):
    env = verigym.make("keydoor", **options)
    env.reset(seed=3)
    env.step(env.oracle())
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert other.spec == env.spec
        assert other.snapshot() == env.snapshot()


def test_gymnasium_knows_them_by_full_id():
    env = gymnasium.make("verigym/math/countdown-v0", difficulty="medium")
    assert env.spec.id == "verigym/math/countdown-v0"
    assert env.unwrapped.difficulty == "medium"
    again = gymnasium.make(env.spec)
    assert again.unwrapped.difficulty == "medium"
    assert gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()).id == env.spec.id


@pytest.mark.parametrize(
    "name", ["CartPole-v1", "phys2d/CartPole-v1", "a:b-v0", "x/y", "x", "x-v1"]
)
def test_other_ids_still_parse_as_gymnasium_parses_them(name):
    from gymnasium.envs.registration import parse_env_id

    expected = {
        "CartPole-v1": (None, "CartPole", 1),
        "phys2d/CartPole-v1": ("phys2d", "CartPole", 1),
        "a:b-v0": (None, "a:b", 0),
        "x/y": ("x", "y", None),
        "x": (None, "x", None),
        "x-v1": (None, "x", 1),
    }
    assert parse_env_id(name) == expected[name]


@pytest.mark.parametrize("name", ["verigym/", "a/b/c/d-v0", "a b-v0", "/x-v0"])
def test_malformed_ids_are_still_refused(name):
    with pytest.raises(gymnasium.error.Error):
        gymnasium.make(name)


# Another author's package, as pip would leave it: a module beside its dist-info.

MODULE = """
from verigym import Draft, Env, Transition, Verifier, scored


class GuessVerifier(Verifier):
    id = "guesses/guess"
    version = 1

    def judge(self, task, submission):
        right = submission == str(task.reference)
        return scored(float(right), "correct" if right else "wrong")


class Guess(Env[int]):
    id = "verigym/guesses/guess-v{version}"
    verifier_id = "guesses/guess"
    difficulties = ("a", "b", "c")

    def generate(self, rng, level):
        secret = int(rng.integers(1000))
        return Draft(prompt=f"Repeat {{secret}}.", reference=secret)

    def initial(self, task):
        return task.reference

    def observe(self, state):
        return ""

    def transition(self, state, action):
        return Transition(state=state, terminated=True, submission=action)

    def solve(self, state):
        return str(state)

    def turns_allowed(self, task):
        return 1

    def key(self, state):
        return state
"""


def install(folder, dist, module, points, source):
    """Lay a package down as an installer would; `points` is the text of entry_points.txt."""
    info = folder / f"{dist}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    (folder / f"{module}.py").write_text(source)


def run(folder, program):
    """Run `program` in a fresh interpreter that sees the packages in `folder`."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def entry_points(version=1, module="guesses", name=None):
    return (
        f"[verigym.envs]\n{name or f'guesses/guess-v{version}'} = {module}:Guess\n"
        f"[verigym.verifiers]\nguesses/guess = {module}:GuessVerifier\n"
    )


def test_an_installed_package_is_found_listed_and_played(tmp_path):
    install(tmp_path, "guesses", "guesses", entry_points(), MODULE.format(version=1))
    done = run(
        tmp_path,
        """
        import json, sys
        import verigym, gymnasium
        assert "guesses" not in sys.modules, "imported before it was made"
        env = verigym.make("guess")
        env.reset(seed=1)
        step = env.step(env.oracle())
        other = gymnasium.make("verigym/guesses/guess-v1")
        other.reset(seed=1)
        print(json.dumps({
            "reward": step[1],
            "verifier": step[4]["verdict"].verifier,
            "family": verigym.list_envs()[env.id].family,
            "same": other.unwrapped.task == env.task,
        }))
        """,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "reward": 1.0,
        "verifier": "guesses/guess@1",
        "family": "guesses",
        "same": True,
    }


def test_a_name_without_version_takes_the_newest(tmp_path):
    install(tmp_path / "a", "guesses", "guesses", entry_points(), MODULE.format(version=1))
    points = "[verigym.envs]\nguesses/guess-v12 = newer:Guess\n"
    install(tmp_path / "a", "newer", "newer", points, MODULE.format(version=12))
    done = run(
        tmp_path / "a",
        """
        import verigym
        print(verigym.make("guess").id, verigym.make("guess-v1").id)
        """,
    )
    assert done.stdout.split() == ["verigym/guesses/guess-v12", "verigym/guesses/guess-v1"], (
        done.stderr
    )


def test_an_ambiguous_short_name_is_refused(tmp_path):
    install(tmp_path, "others", "others", entry_points(name="others/countdown-v0"), MODULE)
    done = run(tmp_path, "import verigym; verigym.make('countdown')")
    assert "environment 'countdown' is ambiguous: verigym/math/countdown-v0" in done.stderr


def test_two_packages_that_claim_one_name_are_named(tmp_path):
    install(tmp_path, "one", "one", entry_points(module="one"), MODULE.format(version=1))
    install(tmp_path, "two", "two", entry_points(module="two"), MODULE.format(version=1))
    done = run(tmp_path, "import verigym")
    assert "two packages register 'guesses/guess-v1' in verigym.envs" in done.stderr
    assert "one:Guess" in done.stderr
    assert "two:Guess" in done.stderr


@pytest.mark.parametrize("name", ["guess", "guesses/guess", "a/b/c-v1", "guesses/guess-v"])
def test_a_name_that_does_not_follow_the_scheme_is_refused(tmp_path, name):
    install(tmp_path, "guesses", "guesses", f"[verigym.envs]\n{name} = guesses:Guess\n", "")
    done = run(tmp_path, "import verigym")
    assert f"entry point '{name}'" in done.stderr
    assert "must read <family>/<name>-v<N>" in done.stderr


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class GuessVerifier: pass", "is not a verigym.Verifier"),
        (
            "import verigym\nclass GuessVerifier(verigym.Verifier):\n    id = 'other'",
            "calls itself 'other'",
        ),
    ],
)
def test_a_verifier_that_is_none_is_the_author_s_fault(tmp_path, source, message):
    points = "[verigym.verifiers]\nguesses/guess = guesses:GuessVerifier\n"
    install(tmp_path, "guesses", "guesses", points, source)
    done = run(tmp_path, "import verigym; verigym.make_verifier('guesses/guess')")
    assert "TaskError" in done.stderr
    assert message in done.stderr


def test_an_environment_registered_under_another_name_is_the_author_s_fault(tmp_path):
    install(tmp_path, "guesses", "guesses", entry_points(version=2), MODULE.format(version=1))
    done = run(tmp_path, "import verigym; verigym.make('guess')")
    assert "'verigym/guesses/guess-v2' calls itself 'verigym/guesses/guess-v1'" in done.stderr


def test_a_package_that_does_not_import_breaks_only_itself(tmp_path):
    install(tmp_path, "guesses", "guesses", entry_points(), "raise RuntimeError('mine')")
    done = run(
        tmp_path,
        """
        import verigym
        verigym.make("countdown").reset(seed=0)
        try:
            verigym.make("guess")
        except RuntimeError as error:
            print(error)
        """,
    )
    assert done.stdout == "mine\n", done.stderr
