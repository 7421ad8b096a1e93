"""An endless tree whose branches are copied, turned and dyed as a whole: questions about levels far too wide to be
gone through."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import Params, one_of, whole
from verigym.envs.code.filters import draw_machine, told_samples
from verigym.envs.code.systems import System, draw_asked

_COLOURS = ("white", "red", "blue", "gold")
_MAKES = ("spot", "swap", "mirror", "spin", "dye", "stripe", "raise")
_QUESTIONS = ("count", "within", "runs", "patches", "chain", "twins", "alike", "far")
_LARGEST, _SMALL_SIZE, _STATES = 10**18, 5, 5
_ROW = "".join(colour[0] for colour in _COLOURS)

_RULES = """\
A tree has no end: its nodes are all whole numbers from 1 on, node 1 is the root, and the children of node v are the {WIDTH} nodes from \
{WIDTH} * (v - 1) + 2 to {WIDTH} * (v - 1) + 3, in this order from left to right. The branch of v is v with all nodes below it: its children, \
their children, and so on; a node d steps below v is d levels below it, v itself 0. Each node has a colour, {first} at first. Nodes keep their \
numbers; commands change colours alone. A branch that becomes a copy of another has at each place of it the colour that stands at the same \
place of the other, a place being the way down to it: which child, which child of that, and so on. All that a command reads is as it was \
before the command. Numbers of nodes are at most 10**18. paint v c: all nodes of the branch of v get colour c. \
graft u v: the branch of v becomes a copy of the branch of u. \
sift v: a certain machine goes down from v on all ways at once. It has {states} states and begins at v in the first one. At each node to \
which it comes it reads the colour that the node has, gives it a colour and goes into one of its states, another or the same, in which it goes on \
to each child of the node; its state and the colour that is read decide both. You only know what it writes when it reads some rows of \
colours, beginning in the first state, where a colour is given by its first letter and ? stands for one colour that you do not know: \
{samples}. No other machine with at most {states} states writes this, but for the names of the states. {makes} All other commands are questions. {questions}"""


class Grafts(System):
    """Copies, reflections and stripes of branches of an endless tree, which share what is equal."""

    name: ClassVar[str] = "grafts"
    hidden_sizes: ClassVar[tuple[int, ...]] = (4, 5, 20, 30, 40, 40)
    faults: ClassVar[tuple[tuple[str, str], ...]] = (
        ("found = [mirrored(y) for y in below(rest[0])][::-1]", "found = below(rest[0])[::-1]"),
        ("found = [spun(y) for y in below(rest[0])]", "found = list(below(rest[0]))"),
        ("found = found[-1:] + found[:-1]", "found = found[1:] + found[:1]"),
        ("new if colours[x] == old else colours[x]", "new if colours[x] in (old, new) else old"),
        (
            "step, wait = rest[1], (rest[2] - 1) % rest[1]",
            "step, wait = rest[1], (rest[2] - 1) % (rest[1] + 1)",
        ),
        (
            'make(colours[x] if wait else c, ("stripe"',
            'make(c if wait == 1 else colours[x], ("stripe"',
        ),
        ("hung(y, rest[1] - 1, rest[2])", "hung(y, rest[1] - 1, y if rest[1] == 2 else rest[2])"),
        ("if levels == 0 or is_up_to else 0", "if levels == 0 else 0"),
        ("found[2] + other[2] - meets)", "found[2] + other[2] - (other[0] == other[1]))"),
        ("meets = found[1] == other[0]", "meets = found[0] == other[0]"),
        (
            "borders(y, levels - 1) + (colours[x] != colours[y])",
            "borders(y, levels - 1) + (colours[x] != colours[found[0]])",
        ),
        ("max([down, *[one for _, one in found]])", "max([down, *[one for one, _ in found]])"),
        (
            "down = 1 + max([one for one, _ in found], default=0)",
            "down = 1 + max([one for _, one in found], default=0)",
        ),
        ("shape(found[-1], levels - 1)", "shape(found[-1], levels)"),
        (
            "total = sum(twins(y, levels - 1) for y in found)",
            "total = 2 * twins(found[0], levels - 1)",
        ),
        ("if a != b for pair", "if colours[a] != colours[b] for pair"),
        ("if way[:short] != other[:short]", "if len(way) == len(other)"),
        (
            "replaced(replaced(root, way, y), other, x)",
            "replaced(replaced(root, way, y), other, y)",
        ),
        ("n -= here\n", "n -= 1\n"),
        ("met = {z for y in met for z in below(y)}", "met = {below(y)[0] for y in met}"),
        ('make(rest[1], ("own", (x,) * WIDTH))', 'make(rest[1], ("own", tuple(below(x))))'),
    )

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        asked = f"{draw_asked(rng, _MAKES, 5)} deep {draw_asked(rng, _QUESTIONS, 5)} nth"
        width = whole(rng, 2, 3)
        table, samples = draw_machine(rng, _ROW, _STATES)
        p: Params = {
            "asked": asked,
            "width": width,
            "first": one_of(rng, _COLOURS),
            "colours": " ".join(_COLOURS),
            "table": table,
            "samples": samples,
        }
        if not {"alike", "far"}.isdisjoint(asked.split()):
            p["deepest"] = _level(_LARGEST, width) - whole(rng, 1, 9)
        return p

    @override
    def constants(self, p: Params) -> Params:
        return {name: value for name, value in p.items() if name not in ("asked", "samples")}

    @override
    def rules(self, p: Params) -> str:
        asked = str(p["asked"]).split()
        says = {
            "spot": "spot v c: node v alone gets colour c.",
            "swap": "swap u v: the branches of u and v become copies of each other; nothing happens if u is v or one of them lies below the other.",
            "mirror": "mirror v: the branch of v becomes its own mirror image: the colour at each place is that which was at the place whose way "
            "down takes the first child from the right where the way of the place takes the first from the left, the second from the right for the second "
            "from the left, and so on, at each step.",
            "spin": "spin v: in the branch of v, at v and at each node below it at once, what hangs on the first child moves to the second, from there to the "
            "next, and what hangs on the last child moves to the first: the colour at each place is that which was at the place whose way down takes the child "
            "before the one that the way of the place takes, the last for the first, at each step.",
            "dye": "dye v c d: each node of the branch of v that has colour c gets colour d.",
            "stripe": "stripe v k r c: each node that is m levels below v, where the remainder of m divided by k is r, gets colour c.",
            "raise": "raise v c: v gets colour c, and the branch of each child of v becomes a copy of the branch that v had.",
            "deep": "deep v d u: the branch of each node that is d levels below v becomes a copy of the branch that u had before the command, with all its levels.",
            "count": "count v d c: how many nodes that are d levels below v have colour c.",
            "within": "within v d c: how many nodes that are at most d levels below v, v included, have colour c.",
            "nth": "nth v d c n: of the nodes of colour c that are d levels below v, the nth in ascending order, or none if there are fewer.",
            "runs": "runs v d: the nodes that are d levels below v stand in a row in ascending order; the number of blocks of nodes of one colour side by side, each "
            "as long as it can be.",
            "patches": "patches v d: the number of patches among the nodes at most d levels below v, v included; nodes of one colour are in one patch if a way from each "
            "node to its parent or child leads from one to the other through nodes of this colour that are among these nodes.",
            "chain": "chain v d c: the greatest number of nodes of colour c, all of them at most d levels below v, v included, each of which but the first is a child of "
            "the one before.",
            "twins": "twins v d: how many nodes at most d - 1 levels below v, v included, have a first and a last child whose branches have the same colours at the same "
            "places, where only nodes at most d levels below v are looked at.",
            "alike": f"alike u v: the largest m, at most {p.get('deepest')}, for which the branches of u and v have the same colours at all places that are fewer than m levels below "
            "u and v.",
            "far": f"far v c: the least d, at most {p.get('deepest')}, for which a node that is d levels below v has colour c, or none if there is none.",
        }
        return _RULES.replace("{WIDTH} * (v - 1) + 3", "{WIDTH} * (v - 1) + {last}").format(
            WIDTH=p["width"],
            last=int(p["width"]) + 1,
            first=p["first"],
            states=_STATES,
            samples=told_samples(str(p["samples"])),
            makes=" ".join(says[one] for one in asked if one in _MAKES or one == "deep"),
            questions=" ".join(says[one] for one in asked if one not in _MAKES and one != "deep"),
        )

    @override
    def lines(self, rng: np.random.Generator, p: Params, size: int) -> list[str]:
        width, is_small = int(p["width"]), size <= _SMALL_SIZE
        asked = str(p["asked"]).split()
        makes = (
            *(one for one in asked if one in _MAKES or one == "deep"),
            "graft",
            "graft",
            "sift",
            "sift",
            "paint",
        )
        questions = [one for one in asked if one not in _MAKES and one != "deep"]
        deepest = (4 if width == 3 else 5) if is_small else _level(_LARGEST, width)
        met = [1]

        def node() -> int:
            """A node near one that was met lately: above it, below it, or both."""
            v = met[max(whole(rng, 0, len(met) - 1), whole(rng, 0, len(met) - 1))]
            for _ in range(whole(rng, 0, 4)):
                v = max((v + width - 2) // width, 1)
            for _ in range(whole(rng, 0, 2 if is_small else 5)):
                child = width * (v - 1) + 2 + whole(rng, 0, width - 1)
                if child > (12 if is_small else _LARGEST):
                    break
                v = child
            met.append(v)
            return v

        colours = [_COLOURS[int(at)] for at in rng.permutation(4)[:3]]
        found = [f"paint {1 + whole(rng, 1, 2 * width)} {c}" for c in colours]
        wanted: list[int] = []
        for question in questions if is_small else [*questions, *questions]:
            for _ in range(whole(rng, 1, 2) if is_small else whole(rng, 2, 3 + size // 20)):
                found.append(self._draw_change(rng, one_of(rng, makes), node, colours, deepest))
            if len(found) > (25 if is_small else 57):
                break
            v, c = node(), one_of(rng, tuple(colours))
            for _ in range(0 if is_small else whole(rng, 0, 6)):
                v = max((v + width - 2) // width, 1)
            below = max(deepest - _level(v, width), 0)
            levels = below - whole(rng, 0, min(below, 2 if is_small else 6))
            other = node()
            if question == "alike" and rng.random() < 0.5:
                # Then all levels are alike, but where one of both lies in the other.
                found.append(f"graft {v} {other}")
            if question == "nth":
                wanted.append(len(found))
            found.append(
                {
                    "alike": f"alike {v} {other}",
                    "far": f"far {v} {c}",
                    "runs": f"runs {v} {levels}",
                    "patches": f"patches {v} {levels}",
                    "twins": f"twins {v} {levels}",
                    "nth": f"count {v} {levels} {c}",
                }.get(question, f"{question} {v} {levels} {c}")
            )
        if wanted:
            self._number(rng, p, found, wanted)
        return found

    @staticmethod
    def _draw_change(
        rng: np.random.Generator,
        kind: str,
        node: Callable[[], int],
        colours: list[str],
        deepest: int,
    ) -> str:
        """Return a command that changes colours."""
        v, c = node(), one_of(rng, tuple(colours))
        other = colours[(colours.index(c) + whole(rng, 1, 2)) % 3]
        step = whole(rng, 2, 5)
        return {
            "graft": lambda: f"graft {node()} {v}",
            "swap": lambda: f"swap {v} {node()}",
            "mirror": lambda: f"mirror {v}",
            "sift": lambda: f"sift {v}",
            "spin": lambda: f"spin {v}",
            "dye": lambda: f"dye {v} {c} {other}",
            "stripe": lambda: f"stripe {v} {step} {whole(rng, 0, step - 1)} {c}",
            "deep": lambda: f"deep {v} {whole(rng, 1, max(deepest // 3, 2))} {node()}",
        }.get(kind, lambda: f"{kind} {v} {c}")()

    def _number(
        self, rng: np.random.Generator, p: Params, found: list[str], wanted: list[int]
    ) -> None:
        """Change questions how many nodes there are into ones for a node that there is, for the most part."""
        changes = [
            line
            for at, line in enumerate(found)
            if at in wanted or line.split()[0] in (*_MAKES, "deep", "paint", "graft", "sift")
        ]
        counts = self.answers({**p, "asked": f"{p['asked']} count"}, changes)
        for at, count in zip(wanted, counts, strict=True):
            n = whole(rng, 1, int(count) + int(rng.random() < 0.1)) if int(count) else 1
            found[at] = f"nth {found[at].removeprefix('count ')} {n}"


def _level(v: int, width: int) -> int:
    """Return the number of steps from the root to a node."""
    level = 0
    while v > 1:
        v = (v - 2) // width + 1
        level += 1
    return level
