"""Gymnasium environments with discrete actions, as text: a `Describer` says what is seen and what is said.

    DESCRIBERS["MyGrid"] = Describer(
        make=lambda settings: gymnasium.make("MyGrid-v1"),
        prompt="Walk to the goal.",
        actions={"left": 0, "right": 1},
        describe=lambda env, observation: f"You stand at {observation}.",
        key=lambda env, observation: observation,
    )

Everything random in them comes from Gymnasium's own `reset(seed=...)`. `key` must give all that decides
what follows; where dice fall in play, their generator's state is part of it. Reaching the goal scores 1:
by default an episode that the environment itself ends with a reward above 0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gymnasium
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

from verigym.canonical import JSON, digest
from verigym.errors import TaskError, suggestion


@dataclass(frozen=True, kw_only=True)
class Describer:
    """Text form of one environment. `chart` returns its transition table, if it has one."""

    make: Callable[[Mapping[str, Any]], Any]
    """The environment from the task's settings."""
    prompt: str
    actions: Mapping[str, Any]
    describe: Callable[[Any, Any], str]
    """(environment without wrappers, observation) -> text"""
    key: Callable[[Any, Any], JSON]
    place: Callable[[Any, Any, Mapping[str, Any]], Any] | None = None
    """Put the environment elsewhere after its reset: (environment, observation, settings) -> observation."""
    chart: Callable[[Any], Mapping[int, Mapping[int, Any]]] | None = None
    won: Callable[[float, bool], bool] = lambda reward, ended: ended and reward > 0
    """(last reward, whether the environment ended the episode) -> whether the goal is reached."""


class Described:
    """A Gymnasium environment in words. See `Game`."""

    def __init__(self, describer: Describer, settings: Mapping[str, Any]) -> None:
        self._by = describer
        self._env = describer.make(settings)
        self._seen, _ = self._env.reset(seed=settings["seed"])
        if describer.place is not None:
            self._seen = describer.place(self._bare, self._seen, settings)
        self.prompt = (
            f"{describer.prompt} You have {settings['turns']} turns. "
            f"Answer with one of: {', '.join(describer.actions)}."
        )
        self.over = False
        self.score = 0.0

    @property
    def _bare(self) -> Any:
        return self._env.unwrapped

    @property
    def view(self) -> str:
        """Description of the last observation in words."""
        return self._by.describe(self._bare, self._seen)

    def act(self, text: str) -> bool:
        """Play one action; return False if it is unknown or changes nothing."""
        action = self._by.actions.get(text.strip().lower())
        if self.over or action is None:
            return False
        before = self.key()
        self._seen, reward, ended, truncated, _ = self._env.step(action)
        self.over = bool(ended or truncated)
        self.score = float(self._by.won(float(reward), bool(ended)))
        return self.over or self.key() != before

    def key(self) -> JSON:
        """Return the environment's key and whether the game is over."""
        return [self._by.key(self._bare, self._seen), self.over]

    def legal(self) -> list[str] | None:
        """Return None: many actions change nothing here, so they are not listed."""
        return None

    def best(self) -> str | None:
        """Return the first action of a shortest path by `chart`; None if there is no chart or no
        path."""
        if self._by.chart is None:
            return None
        way = shortest(self._by.chart(self._bare), int(self._seen), self._by.won)
        names = {number: name for name, number in self._by.actions.items()}
        return names[way[0]] if way else None


def shortest(
    chart: Mapping[int, Mapping[int, Any]], start: int, won: Callable[[float, bool], bool]
) -> list[int] | None:
    """Return the actions of a shortest path to the goal if every action has one outcome; None if
    there is no path."""
    queue: deque[tuple[int, list[int]]] = deque([(start, [])])
    met = {start}
    while queue:
        here, way = queue.popleft()
        for action, outcomes in chart[here].items():
            ((_, there, reward, ended),) = outcomes
            if won(float(reward), bool(ended)):
                return [*way, action]
            if not ended and there not in met:
                met.add(there)
                queue.append((int(there), [*way, action]))
    return None


@lru_cache
def _starts(game: str) -> Mapping[int, list[int]]:
    """Return the states of a game with a chart, by the length of their shortest path."""
    by = TOYS[game]
    assert by.chart is not None
    chart = by.chart(by.make({}).unwrapped)
    found: dict[int, list[int]] = {}
    for state in chart:
        found.setdefault(len(shortest(chart, state, by.won) or ()), []).append(state)
    return found


def _placed(env: Any, seen: Any, settings: Mapping[str, Any]) -> int:
    """Return a start drawn by the seed, whose shortest path has a length within the settings."""
    low, high = settings["way"]
    by_length = _starts(settings["game"])
    env.s = int(env.np_random.choice([s for n in range(low, high + 1) for s in by_length[n]]))
    return int(env.s)


def _lake(settings: Mapping[str, Any]) -> Any:
    rows = generate_random_map(settings["size"], p=0.8, seed=settings["seed"])
    return gymnasium.make("FrozenLake-v1", desc=rows, is_slippery=False)


def _show_lake(env: Any, seen: Any) -> str:
    rows = [[cell.decode() for cell in row] for row in env.desc]
    row, column = divmod(int(seen), env.ncol)
    rows[row][column] = "@"
    return "\n".join(map("".join, rows))


def _show_cliff(env: Any, seen: Any) -> str:
    rows = [["."] * 12 for _ in range(4)]
    rows[3] = [".", *"C" * 10, "G"]
    row, column = divmod(int(seen), 12)
    rows[row][column] = "@"
    return "\n".join(map("".join, rows))


def _show_taxi(env: Any, seen: Any) -> str:
    row, column, passenger, goal = env.decode(int(seen))
    lines = [[cell.decode() for cell in line] for line in env.desc]
    lines[1 + row][2 * column + 1] = "@"
    where = "in the taxi" if passenger == 4 else f"at {'RGYB'[passenger]}"
    picture = "\n".join(map("".join, lines))
    return f"{picture}\nThe passenger is {where} and wants to go to {'RGYB'[goal]}."


def _show_cards(env: Any, seen: Any) -> str:
    total, dealer, ace = (int(one) for one in seen)
    return (
        f"Your hand counts {total}{' with an ace as 11' if ace else ''}; the dealer shows {dealer}."
    )


_DIRECTIONS = {"left": 0, "down": 1, "right": 2, "up": 3}

TOYS: dict[str, Describer] = {
    "FrozenLake": Describer(
        make=_lake,
        prompt="You stand on a frozen lake. @ is you, F is ice, H is a hole, G is the goal, S is where "
        "you began. A step into a hole ends the game. Reach the goal.",
        actions=_DIRECTIONS,
        describe=_show_lake,
        key=lambda env, seen: int(seen),
        chart=lambda env: env.P,
    ),
    "CliffWalking": Describer(
        make=lambda settings: gymnasium.make("CliffWalking-v1"),
        prompt="You walk beside a cliff. @ is you, C is the cliff, G is the goal. A step off the cliff "
        "puts you back to the corner at the lower left. Reach the goal.",
        actions={"up": 0, "right": 1, "down": 2, "left": 3},
        describe=_show_cliff,
        key=lambda env, seen: int(seen),
        place=_placed,
        chart=lambda env: env.P,
        won=lambda reward, ended: ended,
    ),
    "Taxi": Describer(
        make=lambda settings: gymnasium.make("Taxi-v4"),
        prompt="You drive a taxi. @ is you; | is a wall, : is open; R, G, Y and B are places. Pick the "
        "passenger up where they wait and drop them off where they want to go.",
        actions={"south": 0, "north": 1, "east": 2, "west": 3, "pickup": 4, "dropoff": 5},
        describe=_show_taxi,
        key=lambda env, seen: int(seen),
        place=_placed,
        chart=lambda env: env.P,
    ),
    "Blackjack": Describer(
        make=lambda settings: gymnasium.make("Blackjack-v1"),
        prompt="You play one hand of blackjack. Cards are drawn with replacement; over 21 loses. Beat "
        "the dealer, who draws to 17.",
        actions={"stick": 0, "hit": 1},
        describe=_show_cards,
        key=lambda env, seen: [
            *map(int, seen),
            *map(int, env.player),
            *map(int, env.dealer),
            digest(env.np_random.bit_generator.state),
        ],
    ),
}

DESCRIBERS: dict[str, Describer] = dict(TOYS)
"""Describers by the name in a reference; register your own in the processes that run episodes and in those that judge them."""


def start(reference: Mapping[str, Any]) -> Described:
    """Start the Gymnasium environment that `reference` names."""
    name = reference.get("game")
    if name not in DESCRIBERS:
        raise TaskError(f"no describer for {name!r}; {suggestion(str(name), DESCRIBERS)}")
    return Described(DESCRIBERS[name], reference)
