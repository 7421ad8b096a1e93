"""The headers of attacks, and the attacks that come with Verigym."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from verigym.errors import RequestError
from verigym.sandbox.job import Job
from verigym.sandbox.selfcheck.attack import LANGUAGES, LIMITS, Attack, choose, load, parse


def parsed(text: str, file: str = "1_x.py") -> Attack:
    attack = parse(text, file)
    assert attack is not None
    return attack


def test_a_header_is_read_up_to_the_program() -> None:
    attack = parsed(
        "# attack: x\n# threat: net\n# expect: CONTAINED: no way\n# oracle: a: b\n"
        "# status: ok, signal\n# exit: 3\n# wall: 1.5\n# cpu: 2\nimport os\n# threat: other\n"
    )
    assert (attack.name, attack.threat, attack.oracle) == ("x", "net", "a: b")
    assert attack.statuses == ("ok", "signal")
    assert (attack.exit_code, attack.wall_s, attack.cpu_s) == (3, 1.5, 2.0)
    assert not attack.tolerated
    assert attack.then is None
    assert parsed("# attack: y\n# expect: LEAK tolerated\n").tolerated
    assert parsed("// attack: z\nint main() {}\n", "z.c").language == "c"


def test_a_second_program_follows() -> None:
    attack = parsed("# attack: x\nfirst()\n# then: look\nsecond()\n")
    assert attack.source.endswith("first()\n")
    assert attack.then == "second()\n"
    again = parsed("# attack: x\nfirst()\n# then: again\n")
    assert again.then == again.source


@pytest.mark.parametrize("line", ["# wall: soon", "# exit: x", "# status: fine"])
def test_a_bad_header_is_told(line: str) -> None:
    with pytest.raises(RequestError, match=r"bad\.py"):
        parse(f"# attack: x\n{line}\n", "bad.py")


def test_what_has_no_header_is_no_attack(tmp_path: Path) -> None:
    assert parse("print(1)\n", "x.py") is None
    (tmp_path / "notes.txt").write_text("# attack: not one\n")
    (tmp_path / "plain.py").write_text("print(1)\n")
    (tmp_path / "hacks").mkdir()
    with pytest.raises(RequestError, match="no attack in"):
        load(tmp_path)
    (tmp_path / "10_b.py").write_text("# attack: b\n")
    (tmp_path / "9_a.py").write_bytes(b"# attack: a\n\xff\n")
    assert [attack.name for attack in load(tmp_path)] == ["a", "b"]
    (tmp_path / "11_b.py").write_text("# attack: b\n")
    with pytest.raises(RequestError, match="both called 'b'"):
        load(tmp_path)
    with pytest.raises(RequestError, match="not a folder"):
        load(tmp_path / "absent")


def test_attacks_are_chosen_by_name_or_file() -> None:
    attacks = load()
    assert choose(attacks, []) == attacks
    two = choose(attacks, ["sleep_forever", "01_fork_bomb"])
    assert [attack.name for attack in two] == ["fork_bomb", "sleep_forever"]
    with pytest.raises(RequestError, match="fork_bomb"):
        choose(attacks, ["forkbomb"])


def test_there_are_attacks_of_every_kind() -> None:
    attacks = load()
    assert len(attacks) >= 80
    assert {attack.language for attack in attacks} == set(LANGUAGES.values())
    threats = " ".join(attack.threat for attack in attacks)
    for kind in ("memory", "pids", "disk", "output", "wall", "cpu", "net", "fs", "info", "status"):
        assert kind in threats


@pytest.mark.parametrize("attack", load(), ids=lambda attack: attack.name)
def test_an_attack_is_well_formed(attack: Attack) -> None:
    assert attack.threat
    assert attack.expect.startswith(("CONTAINED", "LEAK"))
    assert 0 < attack.wall_s <= 10
    for source in filter(None, (attack.source, attack.then)):
        Job(source=source, language=attack.language, limits=LIMITS)
        if attack.language == "python":
            ast.parse(source)
