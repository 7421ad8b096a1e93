"""Compares the speed of environments with those of other libraries: resets, steps and memory, in one run.

    python -m venv peers
    peers/bin/pip install reasoning-gym==0.1.25 textarena==0.7.4 skyrl-gym==0.4.0 math-verify
    peers/bin/pip install --no-deps gem-llm==0.1.0   # its pins exclude the others'
    python benchmarks/env_throughput.py --peer-python peers/bin/python --out results/env_throughput.json

Each library plays the same game at the setting nearest to ours (SUBJECTS says which), in a process of its
own, in rounds that take turns: resets with fresh seeds, and random moves, up to 20 an episode. An episode
is one reset and as many steps as it has here; `ratio` is the fastest peer's time for one over ours, above 1
where ours is faster. Where a library asks for one reply, its step is scoring that, and it is compared with
a reset and one step. Processor time, medians of the rounds. Memory is what each further instance adds.

skyrl-gym has none of these games. textarena's wordle wants a tagger from a network, its countdown is one
fixed instance, and its sokoban of 8 by 8 did not come to an end here: left out. gem's wordle gets our words in place of the list that it fetches. A field of
gem's or textarena's minesweeper is drawn when its first cell is opened, and may need a guess; ours is
proved to need none. Exits with 1 where a peer is faster or smaller.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOVES = 20
INSTANCES = 50

# Game and setting: how many steps an episode has here, and what plays it: library, its name, arguments.
SUBJECTS: dict[str, tuple[int, dict[str, tuple[str, dict[str, Any]]]]] = {
    "countdown, 6 numbers": (
        1,
        {
            "verigym": ("math/countdown", {"difficulty": "hard"}),
            "reasoning-gym": ("countdown", {"min_numbers": 6, "max_numbers": 6}),
        },
    ),
    "sudoku 4x4": (
        MOVES,
        {
            "verigym": ("games/sudoku", {"difficulty": "easy"}),
            "gem": ("sudoku:SudokuEnv", {"clues": 10, "max_turns": 15, "scale": 4}),
            "reasoning-gym": ("mini_sudoku", {}),
        },
    ),
    "sudoku 9x9": (
        MOVES,
        {
            "verigym": ("games/sudoku", {"difficulty": "hard"}),
            "gem": ("sudoku:SudokuEnv", {"clues": 50, "max_turns": 50, "scale": 9}),
            "reasoning-gym": ("sudoku", {"min_empty": 51, "max_empty": 51}),
            "textarena": ("Sudoku-v0-medium", {}),
        },
    ),
    "minesweeper, small": (
        MOVES,
        {
            "verigym": ("games/minesweeper", {"difficulty": "easy"}),
            "gem": ("minesweeper:MinesweeperEnv", {"rows": 5, "cols": 5, "num_mines": 5}),
            "textarena": ("Minesweeper-v0-small", {}),
        },
    ),
    "minesweeper, large": (
        MOVES,
        {
            "verigym": ("games/minesweeper", {"difficulty": "hard"}),
            "gem": ("minesweeper:MinesweeperEnv", {"rows": 9, "cols": 9, "num_mines": 16}),
            "textarena": ("Minesweeper-v0-medium", {}),
        },
    ),
    "wordle, 5 letters": (
        6,
        {
            "verigym": ("games/wordle", {"difficulty": "medium"}),
            "gem": ("wordle:WordleEnv", {"word_length": 5, "max_turns": 6}),
        },
    ),
    "sokoban, 2 boxes": (
        MOVES,
        {
            "verigym": ("games/sokoban", {"difficulty": "medium"}),
            "gem": ("sokoban:SokobanEnv", {"dim_room": (7, 7), "num_boxes": 2, "max_turns": 50}),
        },
    ),
    "sokoban, larger": (
        MOVES,
        {
            "verigym": ("games/sokoban", {"difficulty": "hard"}),
            "gem": ("sokoban:SokobanEnv", {"dim_room": (9, 9), "num_boxes": 2, "max_turns": 50}),
        },
    ),
    "2048": (
        MOVES,
        {
            "verigym": ("games/2048", {"difficulty": "hard"}),
            "gem": ("game_2048:Game2048Env", {"target_tile": 512, "max_turns": 50}),
            "textarena": ("2048-v0", {}),
        },
    ),
}

DIRECTIONS = ("up", "down", "left", "right")


class Played:
    """One library's game: `reset(seed)` and `step(action)`, which tells whether the episode is over; and
    what takes memory."""

    held: Any
    reset: Callable[[int], Any]
    step: Callable[[str], bool]
    action: Callable[[random.Random], str]


def action_of(game: str, library: str) -> Callable[[random.Random], str]:
    """Random moves as `library` reads them; 1 is the first row in ours."""
    wrap = {"gem": "\\boxed{%s}", "textarena": "[%s]"}.get(library, "%s")
    if game.startswith(("sokoban", "2048")):
        return lambda rng: wrap % rng.choice(DIRECTIONS)
    if game.startswith("wordle"):
        words = ["crane", "slope", "grind", "mouth", "fable", "plant", "shirt", "dough", "blink"]
        return lambda rng: wrap % rng.choice(words)
    side = int(game[7]) if game.startswith("sudoku") else 5 if "small" in game else 9
    if game.startswith("sudoku"):
        return lambda rng: wrap % " ".join(str(rng.randint(1, side)) for _ in range(3))
    first = 0 if library in ("gem", "textarena") else 1
    verb = {"gem": "reveal ", "textarena": ""}.get(library, "")
    last = side - 1 + first
    return lambda rng: wrap % f"{verb}{rng.randint(first, last)} {rng.randint(first, last)}"


def verigym_game(name: str, game: str, options: dict[str, Any]) -> Played:
    import verigym

    env = verigym.make(name, **options)
    played = Played()

    def step(action: str) -> bool:
        moved = env.step(action)
        return moved[2] or moved[3]

    played.held = env
    played.reset = lambda seed: env.reset(seed=seed)
    played.step = step
    if game.startswith("countdown"):
        played.action = lambda rng: (
            "<answer>" + "+".join(map(str, env.task.reference["numbers"])) + "</answer>"
        )  # type: ignore[index,call-overload]
    else:
        played.action = action_of(game, "verigym")
    return played


def gem_game(name: str, game: str, options: dict[str, Any]) -> Played:
    place, _, kind = name.partition(":")
    module = "gem.envs.game_env." + ("sokoban.sokoban" if place == "sokoban" else place)
    env = getattr(importlib.import_module(module), kind)(**options)
    played = Played()

    def step(action: str) -> bool:
        moved = env.step(action)
        return bool(moved[2] or moved[3])

    played.held = env
    played.reset = lambda seed: env.reset(seed=seed)
    played.step = step
    played.action = action_of(game, "gem")
    return played


def reasoning_game(name: str, game: str, options: dict[str, Any]) -> Played:
    import reasoning_gym

    data = reasoning_gym.create_dataset(name, size=1 << 30, seed=7, **options)
    held: list[Any] = [None, data]
    played = Played()
    played.held = held

    def reset(seed: int) -> None:
        held[0] = data[seed]

    def step(action: str) -> bool:
        data.score_answer(action, held[0])
        return True

    played.reset = reset
    played.step = step
    played.action = lambda rng: str(held[0]["answer"])
    return played


def textarena_game(name: str, game: str, options: dict[str, Any]) -> Played:
    import textarena

    env = textarena.make(name)
    played = Played()

    def step(action: str) -> bool:
        env.get_observation()
        return bool(env.step(action)[0])

    played.held = env
    played.reset = lambda seed: env.reset(num_players=1, seed=seed)
    played.step = step
    played.action = action_of(game, "textarena")
    return played


LIBRARIES = {
    "verigym": verigym_game,
    "gem": gem_game,
    "reasoning-gym": reasoning_game,
    "textarena": textarena_game,
}


def child(library: str, game: str, seconds: float) -> dict[str, float]:
    """One library's figures, in this process."""
    _, players = SUBJECTS[game]
    name, options = players[library]
    make = LIBRARIES[library]
    played = make(name, game, options)
    rng = random.Random(3)
    resets = steps = 0
    reset_s = step_s = 0.0
    seed = 0
    played.reset(seed)  # what is made once for a process is not counted
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or resets < 3:
        seed += 1
        began = time.process_time()
        played.reset(seed)
        reset_s += time.process_time() - began
        resets += 1
        actions = [played.action(rng) for _ in range(MOVES)]
        began = time.process_time()
        for action in actions:
            steps += 1
            if played.step(action):
                break
        step_s += time.process_time() - began
    gc.collect()
    tracemalloc.start()
    kept = []
    before = tracemalloc.get_traced_memory()[0]
    for n in range(INSTANCES if reset_s / resets < 0.05 else 5):
        one = make(name, game, options)
        one.reset(n)
        kept.append(one.held)
    del one
    gc.collect()
    memory = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    return {"reset_us": 1e6 * reset_s / resets, "step_us": 1e6 * step_s / steps, "bytes": memory}


def words(letters: int) -> tuple[str, ...]:
    from verigym.envs.games.words import words

    return tuple(words(letters))


def measure(python: str, library: str, game: str, seconds: float) -> dict[str, float] | None:
    """As `child`, in a fresh process; None if the library is not there or fails."""
    command = [python, __file__, "--child", library, "--game", game, "--seconds", str(seconds)]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpora" / "words"
        corpus.mkdir(parents=True)
        (corpus / "en-basic").write_text("\n".join(words(5)))
        env = {**os.environ, "PYTHONWARNINGS": "ignore", "NLTK_DATA": folder}
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        print(f"{game}, {library}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(game: str, peer_python: str, rounds: int, seconds: float) -> dict[str, Any]:
    """Medians over rounds in which the libraries take turns."""
    steps, players = SUBJECTS[game]
    seen: dict[str, list[dict[str, float]]] = {library: [] for library in players}
    for _ in range(rounds):
        for library in players:
            python = sys.executable if library == "verigym" else peer_python
            found = measure(python, library, game, seconds)
            if found is not None:
                seen[library].append(found)
    table: dict[str, dict[str, float]] = {}
    for library, some in seen.items():
        if some:
            one = {name: statistics.median(r[name] for r in some) for name in some[0]}
            one["episode_us"] = one["reset_us"] + steps * one["step_us"]
            # Who takes a whole solution in one reply is compared with one of our steps.
            one["one_step_us"] = one["reset_us"] + one["step_us"]
            table[library] = one
    ours = table.pop("verigym")
    ratios = {
        library: one["one_step_us"] / ours["one_step_us"]
        if library == "reasoning-gym"
        else one["episode_us"] / ours["episode_us"]
        for library, one in table.items()
    }
    return {
        "steps": steps,
        "figures": {"verigym": ours, **table},
        "ratios": ratios,
        "ratio": min(ratios.values(), default=1.0),
        "reset_ratio": min((p["reset_us"] for p in table.values()), default=1.0) / ours["reset_us"],
        "memory_ratio": min((p["bytes"] for p in table.values()), default=1.0) / ours["bytes"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", default=sys.executable, help="has the peers installed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each library and round")
    parser.add_argument("--games", nargs="*", help="beginnings of names; all if left out")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--game", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child, given.game, given.seconds)))
        return 0
    chosen = [g for g in SUBJECTS if not given.games or g.startswith(tuple(given.games))]
    found = {}
    for game in chosen:
        one = found[game] = compare(game, given.peer_python, given.rounds, given.seconds)
        print(f"{game}: {one['steps']} steps an episode")
        for library, figures in one["figures"].items():
            print(
                f"  {library:14} {1e6 / figures['reset_us']:10,.0f} resets/s "
                f"{1e6 / figures['step_us']:10,.0f} steps/s "
                f"{1e6 / figures['episode_us']:9,.0f} episodes/s {figures['bytes'] / 1024:8.1f} KiB"
            )
        print(
            f"  ratio {one['ratio']:.2f}, resets {one['reset_ratio']:.2f}, memory {one['memory_ratio']:.2f}",
            flush=True,
        )
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    report = {"settings": vars(given), "machine": machine, "games": found}
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(report, default=str, indent=1) + "\n")
    return int(any(g["ratio"] < 1 or g["memory_ratio"] < 1 for g in found.values()))


if __name__ == "__main__":
    sys.exit(main())
