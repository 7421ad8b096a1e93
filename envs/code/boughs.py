"""An endless tree whose branches are painted and closed: questions about levels that are too wide to be listed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import Params, one_of, whole
from verigym.envs.code.systems import System, draw_asked

_QUESTIONS = ("count", "within", "nth", "way", "clear")
_ASKED = 4
_COLOURS = ("white", "red", "blue", "gold")
_SMALL_SIZE = 5
_LARGEST = 10**17
_WINS = {
    "latest": "the colour in the last paint command, before the question, for the node itself or any node above it",
    "nearest": "the colour in the last paint command, before the question, for the nearest node that has one: the node itself, else its "
    "parent, and so on upwards",
}
_RULES = """\
A tree has no end: its nodes are all whole numbers from 1 on, node 1 is the root, and the children of node v are the {width} nodes from \
{width} * (v - 1) + 2 to {width} * (v - 1) + {last}. Nodes above a node are its parent, the parent of that, and so on. \
paint v c: paint node v with colour c. The colour of a node is {wins}; it is {first} if there is none. \
close v and open v: node v gets a gate or loses it (a second gate, or losing none, changes nothing). A node is closed if it or any node above it has \
a gate, and open if not. Numbers of nodes are at most 10**18. All other commands are questions. """


class Boughs(System):
    """Counts in an implicit tree under marks on whole branches."""

    name: ClassVar[str] = "boughs"
    faults: ClassVar[tuple[tuple[str, str], ...]] = (
        ("found[0][1]\n", "found[-1][1]\n"),
        ("for u in [*paints, *closed]:", "for u in paints:"),
        ("amount(depth - len(places[u]), is_up_to)", "amount(depth - len(places[u]), False)"),
        ("total[above[0]] -= own[u]", "total[above[-1]] -= own[u]"),
        ("total[above[0]] -= own[u]", "total[above[0]] -= total[u]"),
        ("any(u in closed for u in line_of(v))", "any(u in closed for u in line_of(v)[1:])"),
        ("if not (is_open(u) and is_open(v)):", "if not (is_open(u) or is_open(v)):"),
        ("if is_open(u) and colour(u) == wanted:", "if colour(u) == wanted:"),
        ("paints[v] = (time, rest[1])", "paints.setdefault(v, (time, rest[1]))"),
        ("max(found)[1] if WINS", "found[-1][1] if WINS"),
        (
            '(wanted == "any" or colour(u) == wanted)',
            '(wanted == "any" or colour(u) in (wanted, FIRST))',
        ),
    )

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {
            "asked": draw_asked(rng, _QUESTIONS, _ASKED),
            "width": whole(rng, 2, 5),
            "wins": one_of(rng, tuple(_WINS)),
            "first": one_of(rng, _COLOURS),
        }

    @override
    def rules(self, p: Params) -> str:
        says = {
            "count": "count v d c: how many open nodes of colour c there are d levels below v (v itself is 0 levels below v).",
            "within": "within v d c: how many open nodes of colour c there are at most d levels below v, v itself included.",
            "nth": "nth v d c n: of the open nodes of colour c that are d levels below v, the nth in ascending order, or none if there are "
            "fewer.",
            "way": "way u v: the number of steps of the shortest way between u and v, each from a node to its parent or child, or closed if a node "
            "of this way, u and v included, is closed.",
            "clear": "clear v c: the number of steps upwards from v to the nearest node, v itself included, that is open and has colour c, or "
            "none if there is none.",
        }
        width = int(p["width"])
        head = _RULES.format(
            width=width, last=width + 1, wins=_WINS[str(p["wins"])], first=p["first"]
        )
        asked = str(p["asked"]).split()
        coloured = [question for question in asked if question in ("count", "within", "nth")]
        any_colour = (
            f" In {' and in '.join(coloured)}, c may also be the word any, which stands for all colours."
            if coloured
            else ""
        )
        return head + " ".join(says[question] for question in asked) + any_colour

    @override
    def lines(self, rng: np.random.Generator, p: Params, size: int) -> list[str]:
        is_small = size <= _SMALL_SIZE
        width = int(p["width"])
        deepest = 3 if is_small else 1
        while not is_small and width ** (deepest + 1) < _LARGEST:
            deepest += 1
        met = [1]

        def node() -> int:
            """A node below one that was met before, or such a node itself."""
            v = met[whole(rng, 0, len(met) - 1)]
            for _ in range(whole(rng, 0, 2 if is_small else 12)):
                child = width * (v - 1) + 2 + whole(rng, 0, width - 1)
                if child > (60 if is_small else _LARGEST):
                    break
                v = child
            met.append(v)
            return v

        def above(v: int, most: int) -> int:
            """A node above one, or that node."""
            for _ in range(whole(rng, 0, most)):
                v = (v - 2) // width + 1 if v > 1 else 1
            return v

        gates: list[int] = []
        painted = [node()]
        colours = [one_of(rng, _COLOURS) for _ in range(3)]
        found: list[str] = [f"paint {painted[0]} {colours[0]}"]
        asked = str(p["asked"]).split()
        for question in asked if is_small else [*asked, *asked]:
            for _ in range(whole(rng, 1, 2 if is_small else 4)):
                kind = whole(rng, 0, 5)
                if kind < 2:
                    painted.append(node())
                elif kind < 4:
                    # A node above one that is painted: which paint counts then?
                    painted.append(above(one_of_nodes(rng, painted), 3))
                if kind < 4:
                    found.append(f"paint {painted[-1]} {one_of(rng, tuple(colours))}")
                elif not gates or (kind == 4 and rng.random() < 0.6):
                    gates.append(node())
                    found.append(f"close {gates[-1]}")
                else:
                    found.append(f"open {gates.pop(whole(rng, 0, len(gates) - 1))}")
            v = above(one_of_nodes(rng, painted), 2 if is_small else 4)
            below = deepest - _level(v, width)
            levels = whole(rng, max(below - 2, 0), max(below, 0))
            colour = one_of(rng, (*colours, "any"))
            n = 1 + int(rng.random() ** 3 * width**levels)
            deep = one_of_nodes(rng, painted[-3:])
            found.append(
                {
                    "nth": f"nth {v} {levels} {colour} {n}",
                    "way": f"way {deep} {node()}",
                    "clear": f"clear {node()} {one_of(rng, (*colours, str(p['first'])))}",
                }.get(question, f"{question} {v} {levels} {colour}")
            )
        return found


def one_of_nodes(rng: np.random.Generator, nodes: list[int]) -> int:
    """Return one of some nodes."""
    return nodes[whole(rng, 0, len(nodes) - 1)]


def _level(v: int, width: int) -> int:
    """Return the number of steps from the root to a node."""
    level = 0
    while v > 1:
        v = (v - 2) // width + 1
        level += 1
    return level
