"""MiniGrid in words: the grid as the player sees it, seven cells ahead and three to each side.

What lies behind walls is not seen. The actions are MiniGrid's own. Reaching the mission's end scores 1,
however late within the turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verigym.canonical import JSON, digest
from verigym.errors import TaskError
from verigym.verifiers.doors.described import Described, Describer
from verigym.verifiers.doors.game import library

_DIRECTIONS = ("east", "south", "west", "north")
_SIGNS = {"wall": "#", "goal": "G", "lava": "L", "floor": ".", "empty": ".", "unseen": "?"}

_PROMPT = """\
You walk in a grid and see it from above, turned so that you (@) look up the page; # is a wall, . free \
floor, ? unseen, G the goal, L lava, which ends the game. Other things are named below the picture. left \
and right turn you, forward takes a step, pickup takes the thing ahead, drop puts it there, toggle opens \
a door or a box ahead (a locked door needs the key of its colour in your hands), done says that you are \
there."""


def _make(settings: Mapping[str, Any]) -> Any:
    library("minigrid", "minigrid")
    import gymnasium

    name = settings["game"]
    known = [f"MiniGrid-{name}-v{version}" for version in (1, 0)]
    known = [full for full in known if full in gymnasium.registry]
    if not known:
        raise TaskError(f"MiniGrid has no {name!r}")
    # The episode ends where the task's turns do, so that a state does not depend on their number.
    return gymnasium.make(known[0], disable_env_checker=True, max_steps=10**9).unwrapped


def _describe(env: Any, seen: Mapping[str, Any]) -> str:
    """The view as MiniGrid encodes it, column by column; one stands in the middle of the last row."""
    from minigrid.core.constants import IDX_TO_COLOR, IDX_TO_OBJECT

    image = seen["image"]
    width, height = image.shape[:2]
    rows, things = [], []
    for y in range(height):
        row = ""
        for x in range(width):
            kind, colour, state = (int(one) for one in image[x, y])
            name = IDX_TO_OBJECT[kind]
            if (x, y) == (width // 2, height - 1):
                row += "@"
                continue
            row += _SIGNS.get(name, name[0].upper() if name != "ball" else "O")
            if name not in _SIGNS:
                things.append(
                    _thing(name, IDX_TO_COLOR[colour], state, x - width // 2, height - 1 - y)
                )
        rows.append(row)
    carried = env.carrying
    hands = f"You carry a {carried.color} {carried.type}." if carried else "Your hands are empty."
    lines = [
        f"Mission: {env.mission}. You look {_DIRECTIONS[env.agent_dir]}. {hands}",
        *rows,
        *things,
    ]
    return "\n".join(lines)


def _thing(name: str, colour: str, state: int, aside: int, ahead: int) -> str:
    how = {0: "open ", 1: "closed ", 2: "locked "}[state] if name == "door" else ""
    side = "" if not aside else f", {abs(aside)} to the {'right' if aside > 0 else 'left'}"
    sign = "O" if name == "ball" else name[0].upper()
    return f"{sign}: a {how}{colour} {name}, {ahead} ahead{side}"


def _key(env: Any, seen: Any) -> JSON:
    carried = env.carrying
    return [
        digest(env.grid.encode().tolist()),
        [int(one) for one in env.agent_pos],
        int(env.agent_dir),
        [carried.type, carried.color] if carried else None,
        digest(env.np_random.bit_generator.state),
    ]


GRID = Describer(
    make=_make,
    prompt=_PROMPT,
    actions={
        name: number
        for number, name in enumerate(
            ("left", "right", "forward", "pickup", "drop", "toggle", "done")
        )
    },
    describe=_describe,
    key=_key,
)


def start(reference: Mapping[str, Any]) -> Described:
    """Start the MiniGrid environment that `reference` names."""
    return Described(GRID, reference)
