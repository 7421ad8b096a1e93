"""Files of programs on the caller's disk: new ones only, and none elsewhere."""

from pathlib import Path

import pytest

from verigym import RequestError
from verigym.sandbox.save import save_files


def test_files_and_folders(tmp_path):
    files = {"a": b"1", "d/e/f": b"2", "d/g": b"", "~": b"3", "-rf": b"4"}
    assert save_files(files, tmp_path / "new" / "out") == {}
    found = {
        str(path.relative_to(tmp_path / "new" / "out")): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert found == files


@pytest.mark.parametrize(
    "name",
    [
        *("/etc/x", "../x", "d/../../x", "./x", "d//x", "", ".", "..", "a\0b", "x/", "\ud800"),
        *("\x1b]0;owned\x07", "a\nb", "a\x9bb", "exe\u202etxt", "n" * 300),
    ],
)
def test_names_that_are_not_written(tmp_path, name):
    folder = tmp_path / "out"
    assert save_files({name: b"bad", "good": b"good"}, folder).keys() == {name}
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "good"]


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(RequestError, match="not empty"):
        save_files({"x": b""}, tmp_path)


def test_nothing_is_written_through_what_another_process_puts_there(tmp_path):
    """The mapping stands for the other process: it plants a link before each file is written."""
    out, away = tmp_path / "out", tmp_path / "away"
    away.mkdir()
    mine = tmp_path / "mine"
    mine.write_text("mine")

    class Planting(dict):
        def items(self):
            for name, data in super().items():
                top = out / Path(name).parts[0]
                if not top.is_symlink():
                    top.symlink_to(away if "/" in name else mine)
                yield name, data

    refused = save_files(Planting({"file": b"theirs", "folder/x": b"theirs"}), out)
    assert refused.keys() == {"file", "folder/x"}
    assert mine.read_text() == "mine"
    assert not list(away.iterdir())
