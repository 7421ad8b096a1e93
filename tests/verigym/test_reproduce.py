"""docs/reproduce.md: configurations are read, datasets judged, names looked up, commands parsed or run."""

import fnmatch
import json
import re
import shlex
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import verigym
from verigym.cli.main import app
from verigym.registry import list_doors, list_envs, list_group_verifiers, list_verifiers

pytest.importorskip("torch")

from verigym.trainers import tiny
from verigym.trainers.config import Config, parse_config
from verigym.trainers.run import train

PAGE = Path(__file__).parents[2] / "docs" / "reproduce.md"
TEXT = PAGE.read_text(encoding="utf-8")
TABLES, _, MISSING = TEXT.partition("\n## What is missing\n")
SECTIONS = re.findall(r"^## (S\d+) .*?\n(.*?)(?=^## |\Z)", TABLES, re.MULTILINE | re.DOTALL)
ROWS = [
    (section, *cells)
    for section, body in SECTIONS
    for cells in re.findall(r"^\| (?!system |--)(.*?) \| (.*?) \| (.*?) \|$", body, re.MULTILINE)
]
SPANS = [span for *_, how, missing in ROWS for span in re.findall(r"`([^`]+)`", how + missing)]
BLOCKS = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)]
DATASETS = [block for block in BLOCKS if "source" in block]
COMMANDS = sorted({span for span in SPANS if span.startswith("verigym ")})


def keys_of(how):
    """Return the configuration that the keys of a row make, or None if it has none."""
    sections = tuple(f"{name}." for name in Config.model_fields)
    keys = [span for span in re.findall(r"`([^`]+)`", how) if span.startswith(sections)]
    tree = tomllib.loads("\n".join(key for key in keys if " = " in key))
    return {"env": {"id": "games/keydoor"}} | tree if tree else None


TREES = {f"{section} {system}": tree for section, system, how, _ in ROWS if (tree := keys_of(how))}


def file_of(dataset):
    """Return the name of the file that a dataset stands in."""
    return dataset["id"].split("/")[2].removesuffix("-v0") + ".toml"


class ScriptedJudge(BaseHTTPRequestHandler):
    """A judge model that is content with an answer that holds a number from 15 to 37."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][-1]["content"]
        marker = re.search(r"\[QUESTION (M[0-9a-f]+)\]", asked)[1]
        answer = re.search(r"\[ANSWER (M\w+)\]\n(.*?)\n\[/ANSWER \1\]", asked, re.DOTALL)[2]
        verdict = "yes" if re.search(r"\b(1[5-9]|2\d|3[0-7])\b", answer) else "no"
        wanted = len(re.findall(r"\[CRITERION \d+ M\w+\]", asked))
        said = {"verdicts": [verdict] * wanted} if wanted else {"verdict": verdict}
        text = json.dumps({"marker": marker, **said})
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        data = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def judge_url():
    with ThreadingHTTPServer(("127.0.0.1", 0), ScriptedJudge) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def files(tmp_path_factory, judge_url):
    """Return a folder with the datasets of the page, rows for them, and `corpus`."""
    folder = tmp_path_factory.mktemp("files")
    pairs = [(a, b) for a in range(11, 31) for b in (4, 7)]
    rows = [{"question": f"What is {a} plus {b}?", "answer": str(a + b)} for a, b in pairs]
    setup = "CREATE TABLE river (name TEXT, km INTEGER); INSERT INTO river VALUES ('Rhine', 1233);"
    queries = [
        {
            "question": f"Which rivers are longer than {km} km?",
            "setup": setup,
            "query": f"SELECT name FROM river WHERE km > {km}",
        }
        for km in range(100, 1200, 50)
    ]
    translations = [
        {"source": f"{number} {noun}", "translation": f"{number} {word}"}
        for number in range(20, 30)
        for noun, word in (("Katzen schlafen", "cats sleep"), ("Hunde bellen", "dogs bark"))
    ]
    tables = {"rows": rows, "queries": queries, "translations": translations}
    for name, lines in tables.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for block in re.findall(r"```toml\n(id = .*?)```", TEXT, re.DOTALL):
        name = file_of(tomllib.loads(block))
        text = block.replace("http://127.0.0.1:8000/v1", judge_url)
        (folder / name).write_text(text, encoding="utf-8")
    own = (folder / "tagged.toml").read_text(encoding="utf-8").replace("tagged-v0", "rows-v0")
    (folder / "rows.toml").write_text(own, encoding="utf-8")
    (folder / "corpus").mkdir()
    (folder / "corpus" / "sums.txt").write_text("Eleven plus four is fifteen.", encoding="utf-8")
    return folder


def test_every_section_of_the_list_has_its_table():
    assert [name for name, _ in SECTIONS] == [f"S{n}" for n in range(1, 36)]
    assert all(any(row[0] == name for row in ROWS) for name, _ in SECTIONS)


@pytest.mark.parametrize("row", TREES)
def test_the_keys_of_a_row_are_a_configuration(row):
    parse_config(TREES[row])


def test_whole_configurations_are_read():
    whole = [block for block in BLOCKS if block not in DATASETS]
    assert whole
    for block in whole:
        parse_config({"env": {"id": "games/keydoor"}} | block)


def test_every_id_is_registered():
    known = {name.removeprefix("verigym/")[:-3] for name in (*list_envs(), *list_doors(False))}
    known |= {*list_verifiers(), *list_group_verifiers()}
    ids = {span for span in SPANS if re.fullmatch(r"[a-z][a-z-]*/[\w*-]+", span)}
    ids |= {env["id"] for tree in TREES.values() for env in [tree["env"]] if "/" in env["id"]}
    unknown = {one for one in ids if not fnmatch.filter(known, one)}
    assert len(ids) > 40
    assert not unknown


@pytest.mark.parametrize("spec", DATASETS, ids=lambda spec: spec["id"])
def test_a_dataset_pays_its_own_answers_alone(spec, files):
    with verigym.make(str(files / file_of(spec))) as env:
        env.reset(seed=0)
        right = env.step(env.oracle())
        env.reset(seed=0)
        wrong = env.step("I do not know, sorry.")
    assert right[1] == 1.0, right[4]["verdict"]
    assert wrong[1] < 1.0
    assert wrong[4]["verdict"].score is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one(command):
    arguments = shlex.split(command)[1:]
    group = typer.main.get_command(app)
    context = group.make_context("verigym", list(arguments))
    while hasattr(group, "resolve_command"):
        name, group, arguments = group.resolve_command(context, [*arguments])
        context = group.make_context(name, list(arguments), parent=context)


@pytest.mark.slow
@pytest.mark.parametrize("command", [one for one in COMMANDS if " oracle" in one])
def test_a_command_of_the_oracle_runs(command, tmp_path, monkeypatch):
    if "textworld" in command:
        pytest.importorskip("textworld")
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, shlex.split(command)[1:])
    assert found.exit_code == 0, found.output


def record(env_id, policy, folder):
    """Record episodes of the oracle, or of a policy that says the same wrong thing."""
    path = folder / f"{policy}.jsonl"
    if policy == "wrong":
        (folder / "said.txt").write_text("I do not know, sorry.\n" * 200, encoding="utf-8")
        policy = f"scripted:{folder / 'said.txt'}"
    play = ["run", env_id, "--policy", policy, "--split", "train", "--out", str(path), "-n", "4"]
    found = CliRunner().invoke(app, play)
    assert found.exit_code == 0, found.output
    return path


# Its model needs a chat template with a switch for thoughts.
NOT_TRAINED = ("S29 Large Hybrid-Reasoning Models",)


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    """A tiny model that reads longer prompts than `policy.model = "tiny"`."""
    folder = tiny.build(tmp_path_factory.mktemp("reader"), seed=1, width=32)
    config = json.loads((folder / "config.json").read_text())
    config["max_position_embeddings"] = 16_384
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in TREES if not row.startswith(NOT_TRAINED)])
def test_one_step_is_trained(row, files, reader, tmp_path, monkeypatch):
    monkeypatch.chdir(files)
    tree = TREES[row]
    if "paths" in tree.get("warmup", {}):
        paths = [str(record(tree["env"]["id"], policy, tmp_path)) for policy in ("oracle", "wrong")]
        tree = tree | {"warmup": tree["warmup"] | {"paths": paths}}
    small = {
        "policy": {"model": str(reader), "max_new_tokens": 4},
        "train": {"steps": 1, "groups": 2, "group_size": 4, "threads": 1},
        "eval": {"episodes": 2},
        "canary": {"every": 0},
    }
    for name, section in small.items():
        tree = tree | {name: section | tree.get(name, {})}
    tree["policy"] |= {"model": str(reader)}
    tree["env"] = {"max_turns": 3} | tree["env"]
    folder = train(parse_config(tree), tmp_path / "run")
    steps = parse_config(tree).train.steps
    assert (folder / "last").is_dir()
    if steps:
        assert len((folder / "metrics.jsonl").read_text().splitlines()) == steps


def test_what_is_missing_is_counted_and_sorted():
    listed = re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \|$", MISSING, re.MULTILINE)
    numbers = [int(number) for number, *_ in listed]
    assert numbers == sorted(numbers, reverse=True)
    for number, what, systems in listed:
        names = systems.split(", ")
        assert len(names) == int(number), what
        for name in names:
            lacking = [row[3] for row in ROWS if name in row[1]]
            assert any(cell != "-" for cell in lacking), f"{name} is not said to lack anything"


def test_what_cannot_be_had_waits_for_something():
    waiting = MISSING.split("\n")
    for _, system, how, _ in ROWS:
        if how == "-":
            for name in system.split(", "):
                assert any(name in line for line in waiting), name
