"""Datasets as environments: what is read, what is dropped, what is refused, and the laws."""

import copy
import csv
import json
import pickle
from pathlib import Path

import gymnasium
import pytest

import verigym
from verigym.envs.check import LAWS, check
from verigym.envs.dataset import Dataset, load
from verigym.envs.dataset.rows import filled
from verigym.errors import ConfigError, RequestError, TaskError

EXAMPLE = Path(__file__).parents[3] / "examples" / "datasets" / "rivers.toml"

CITIES = [
    "Arvo",
    "Brenn",
    "Calix",
    "Dorne",
    "Esker",
    "Folde",
    "Garn",
    "Hestle",
    "Ivor",
    "Jarrow",
    "Kelm",
    "Lorne",
    "Marsk",
    "Norrin",
    "Osk",
]


def rows(count=45):
    return [
        {
            "city": f"{CITIES[i % 15]} {'upon Lund' if i % 2 else 'in Thal'}",
            "mayor": f"{CITIES[(7 * i + 3) % 15]} {i}",
            "year": 1900 + i,
            "level": ("easy", "medium", "hard")[i % 3],
        }
        for i in range(count)
    ]


def described(tmp_path, name="cities", values=None, **changes):
    """A TOML file beside its rows."""
    values = rows() if values is None else values
    lines = "\n".join(json.dumps(one) for one in values)
    (tmp_path / "rows.jsonl").write_text(lines + "\n", encoding="utf-8")
    parts = {
        "id": f'"verigym/data/{name}-v0"',
        "verifier": '"qa/answer"',
        "source": '{ path = "rows.jsonl" }',
        "fields": '{ prompt = "Who was mayor of {city} in {year}?", reference = { answers = ["{mayor}"] } }',
        "oracle": '"<answer>{answers}</answer>"',
        **changes,
    }
    path = tmp_path / f"{name}.toml"
    path.write_text("".join(f"{key} = {value}\n" for key, value in parts.items() if value))
    return path


def math(tmp_path, values, **changes):
    fields = '{ prompt = "{q}", reference = { answer = "{a}" } }'
    return described(
        tmp_path,
        **{
            "values": values,
            "verifier": '"math/answer"',
            "fields": fields,
            "oracle": None,
            **changes,
        },
    )


def sums(count=60):
    return [{"q": f"Add {i} and {3 * i + 1} in base ten.", "a": 4 * i + 1} for i in range(count)]


def kept(path):
    return {key: len(some) for key, some in load(str(path)).rows().kept.items()}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_it_keeps_every_law_that_it_claims(tmp_path, law):
    values = [{**one, "l": ("low", "middle", "high")[n % 3]} for n, one in enumerate(sums(240))]
    fields = '{ prompt = "{q}", reference = { answer = "{a}" }, difficulty = "l" }'
    path = math(tmp_path, values, fields=fields, difficulties='["low", "middle", "high"]')
    path = path.rename(tmp_path / f"{law.__name__}.toml")
    path.write_text(path.read_text().replace("cities", law.__name__.replace("_", "-")))
    report = check(str(path), seeds=10, laws=[law])
    assert report.passed, report.outcomes


@pytest.mark.slow
def test_the_example_of_the_page_is_sound():
    report = check(str(EXAMPLE), seeds=10)
    assert report.passed, report.outcomes


def test_seeds_go_through_all_rows_of_a_split_once(tmp_path):
    path = math(tmp_path, sums())
    env = load(str(path))()
    counts = kept(path)
    assert sum(counts.values()) == 60
    prompts = set()
    for (split, _), count in counts.items():
        some = {env.sample_task(seed, split=split).prompt for seed in range(count)}
        assert len(some) == count
        assert env.sample_task(count, split=split).prompt in some
        prompts |= some
    assert len(prompts) == 60


def test_a_reply_is_judged_by_the_verifier_with_its_parameters(tmp_path):
    path = math(tmp_path, [{"q": f"What is {i} thirds?", "a": f"{i}/3"} for i in range(10, 30)])
    env = load(str(path))()
    env.reset(seed=0)
    assert env.step(env.oracle())[1] == 1.0
    path = math(tmp_path, sums(), params="{ no_such = 1 }")
    load.cache_clear()
    with pytest.raises(RequestError, match="no_such"):
        load(str(path))()


def test_gymnasium_makes_it_once_it_is_known(tmp_path):
    env = verigym.make(str(EXAMPLE))
    assert env.id == "verigym/data/rivers-v0"
    again = gymnasium.make("verigym/data/rivers-v0", split="test")
    assert again.unwrapped.split == "test"
    assert verigym.make("verigym/data/rivers-v0").id == env.id
    made = verigym.make(str(EXAMPLE), split="test")
    assert gymnasium.make(made.spec).unwrapped.split == "test"
    copy = tmp_path / "rivers.toml"
    copy.write_text(EXAMPLE.read_text())
    with pytest.raises(RequestError, match="both call themselves"):
        verigym.make(str(copy))


def test_an_environment_of_a_file_can_be_copied(tmp_path):
    env = verigym.make(str(math(tmp_path, sums(), name="copied")), split="test")
    env.reset(seed=3)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.state_key() == env.state_key()
        assert other.spec == env.spec
        assert other.step(f"<answer>{env.task.reference['answer']}</answer>")[1] == 1.0


def test_a_package_names_its_file():
    class Rivers(Dataset, path=EXAMPLE):
        """Ours."""

    env = Rivers(split="test")
    env.reset(seed=1)
    assert env.step(env.oracle())[1] == 1.0


def test_formats_give_the_same_tasks(tmp_path):
    import duckdb

    values = [{**row, "year": str(row["year"])} for row in rows()]
    path = described(tmp_path, values=values)
    wanted = [load(str(path))().sample_task(seed).content for seed in range(5)]
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(values[0]))
        table.writeheader()
        table.writerows(values)
    (tmp_path / "rows.json").write_text(json.dumps(values))
    duckdb.sql(f"SELECT * FROM read_csv('{tmp_path}/rows.csv', all_varchar=true)").write_parquet(
        str(tmp_path / "rows.parquet")
    )
    for ending in ("csv", "json", "parquet"):
        described(tmp_path, values=values, source=f'{{ path = "rows.{ending}" }}')
        load.cache_clear()
        env = load(str(path))()
        assert [env.sample_task(seed).content for seed in range(5)] == wanted


def test_columns_keep_their_types_and_several_files_are_one_source(tmp_path):
    for part in range(2):
        lines = [
            {"q": f"How many are {n} boxes of {k} each?", "a": n * k, "why": {"n": n}}
            for n in range(2, 9)
            for k in range(2 + 10 * part, 9 + 10 * part)
        ]
        (tmp_path / f"part-{part}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    fields = (
        '{ prompt = "{q} {{exact}}", reference = { answer = "{a}", note = ["{why}", "n {a}"] } }'
    )
    path = math(tmp_path, [], source='{ path = "part-*.jsonl" }', fields=fields)
    assert sum(kept(path).values()) == 98
    task = load(str(path))().sample_task(0)
    assert task.prompt.split("\n")[0].endswith("{exact}")
    assert isinstance(task.reference["answer"], int)
    assert task.reference["note"][1] == f"n {task.reference['answer']}"
    assert isinstance(task.reference["note"][0], dict)


def test_a_source_s_own_splits_are_kept_and_the_test_keeps_its_copy(tmp_path):
    for name, start, stop in (("learn", 0, 30), ("held", 25, 40)):
        lines = "\n".join(json.dumps(one) for one in sums()[start:stop])
        (tmp_path / f"{name}.jsonl").write_text(lines)
    source = '{ splits = { train = "learn.jsonl", test = "held.jsonl" } }'
    path = math(tmp_path, [], source=source)
    assert kept(path) == {("train", "all"): 25, ("test", "all"): 15}
    rows_ = load(str(path)).rows()
    assert rows_.dropped == {"repeats another": 5}
    assert "learn.jsonl line 26 repeats held.jsonl line 1" in rows_.examples["repeats another"]
    with pytest.raises(TaskError, match="no row of split 'validation'"):
        load(str(path))().sample_task(0, split="validation")


LONG = (
    "The keeper of the old lighthouse at {0} counted every ship that passed between the two shoals in "
    "the month of {1} and wrote the number into a grey book which her niece found much later. She had "
    "seen {2} barges and twice as many schooners. How many ships were there?"
)


def test_near_and_equal_rows_are_dropped_and_boilerplate_makes_none_equal(tmp_path):
    values = [{"q": LONG.format("Osvik", "May", 14), "a": 42}]
    values.append({"q": LONG.format("Osvik", "May", 14).upper().replace(".", " !"), "a": 42})
    values.append({"q": LONG.format("Osvik", "June", 14), "a": 42})
    values.append({"q": LONG.format("Osvik", "May", 15), "a": 45})
    values += sums(20)
    assert sum(kept(math(tmp_path, values)).values()) == 21
    dropped = load(str(tmp_path / "cities.toml")).rows().dropped
    assert dropped == {"repeats another": 2, "repeats another, with another reference": 1}
    load.cache_clear()
    exact = math(tmp_path, values, clean="{ near = 1.0 }")
    assert sum(kept(exact).values()) == 23
    load.cache_clear()
    # What the template adds to each prompt is not the row's.
    fields = '{ prompt = "' + "Think about this very carefully and well, please. " * 9 + '{q}"'
    fields += ', reference = { answer = "{a}" } }'
    assert sum(kept(math(tmp_path, sums(), fields=fields)).values()) == 60


def test_sums_with_other_signs_are_not_the_same(tmp_path):
    sums_of = {"1 + 2": "3", "1 - 2": "-1", "(1 + 2) * 3": "9", "1 + (2 * 3)": "7", "5!": "120"}
    values = [{"q": q, "a": a} for q, a in sums_of.items()]
    values += [{"q": "What is  seven", "a": 7}, {"q": "what is SEVEN?", "a": 7}]
    (tmp_path / "held.json").write_text(json.dumps([{"text": "1 * 2"}, {"text": "5!"}]))
    for near in (0.8, 1.0):
        clean = f'{{ near = {near}, against = ["held.json"] }}'
        found = load(str(math(tmp_path, values, clean=clean))).rows()
        assert found.dropped == {"repeats another": 1, "held by a test set": 1}
        load.cache_clear()


def test_what_a_test_set_holds_is_dropped(tmp_path):
    values = [{"q": LONG.format(city, "May", n), "a": 3 * n} for n, city in enumerate(CITIES)]
    values += sums(20)
    held = [
        {"text": "Quoted: " + LONG.format("Garn", "July", 6)[:150], "other": 3},
        {"text": sums()[4]["q"]},
    ]
    (tmp_path / "benchmark.json").write_text(json.dumps(held))
    clean = '{ against = ["benchmark.json"], near = 1.0, ngram = 30 }'
    path = math(tmp_path, values, clean=clean)
    found = load(str(path)).rows()
    # Runs of 30 words: the one with its city and month, and the short one as a whole.
    assert found.dropped["held by a test set"] == 1
    load.cache_clear()
    path = math(tmp_path, values, clean=clean.replace("30", "13"))
    assert load(str(path)).rows().dropped["held by a test set"] == 16


def test_a_folder_of_the_hub_is_read_by_its_library(tmp_path):
    pytest.importorskip("datasets", reason="the extra hub is not installed")
    folder = tmp_path / "owner" / "river"
    folder.mkdir(parents=True)
    for split, values in (("train", sums()[:30]), ("test", sums()[30:45])):
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, values)))
    source = '{ hub = "owner/river", splits = { train = "train", test = "test" } }'
    assert kept(math(tmp_path, [], source=source)) == {("train", "all"): 30, ("test", "all"): 15}
    load.cache_clear()
    path = math(tmp_path, [], source=source.replace('"test" }', '"tests" }'))
    with pytest.raises(ConfigError, match="no split 'tests'; did you mean 'test'"):
        kept(path)


def test_rows_without_right_replies_have_no_oracle(tmp_path):
    env = load(str(math(tmp_path, sums(), oracle='""')))()
    env.reset(seed=0)
    with pytest.raises(RequestError, match="no right replies"):
        env.oracle()
    assert env.step(f"<answer>{env.task.reference['answer']}</answer>")[1] == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": '"verigym/data/bad id!-v0"'}, "id: must be verigym/<family>/<name>-v<N>"),
        ({"id": '"data/rivers-v0"'}, "id: must be verigym/<family>/<name>-v<N>"),
        ({"verifer": '"x"'}, "no key 'verifer'; did you mean 'verifier'"),
        ({"source": '{ pth = "x" }'}, "no key 'source.pth'; did you mean 'path'"),
        ({"source": "{ }"}, "give either path or hub"),
        ({"source": '{ path = "a", hub = "b" }'}, "give either path or hub"),
        (
            {"source": '{ splits = { training = "a.jsonl" } }'},
            "no split 'training'; did you mean 'train'",
        ),
        ({"difficulties": '["easy"]'}, "difficulties and fields.difficulty go together"),
        ({"source": '{ path = "rows.xml" }'}, "can read .jsonl"),
        ({"source": '{ path = "no.jsonl" }'}, "no such file"),
        ({"source": '{ path = "no*.jsonl" }'}, "no file matches"),
        (
            {"fields": '{ prompt = "{cty}", reference = 1 }'},
            "line 1: no column 'cty'; did you mean 'city'",
        ),
        ({"fields": '{ prompt = "{city", reference = 1 }'}, "a brace of the text is written twice"),
        (
            {"fields": '{ prompt = "{city!r}", reference = 1 }'},
            "the name of a column, nothing else",
        ),
        ({"clean": "{ near = 0 }"}, "clean.near"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, change, message):
    with pytest.raises((ConfigError, TaskError)) as raised:
        load(str(described(tmp_path, **change))).rows()
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": "x", "a": 1}\n{"q": ', "rows.jsonl line 2: not JSON"),
        ("[1]\n", "a row is an object with columns, got list"),
        ('{"q": "x", "a": 1}\n{"q": " ", "a": 1}', "line 2: 'q' is empty"),
        ('{"q": "x", "a": 1}\n{"q": null, "a": 1}', "line 2: 'q' is null"),
        ('{"q": "x", "a": 1}\n{"q": "y", "a": ""}', "line 2: 'a' is empty"),
        ('{"q": "x"}', "line 1: no column 'a'"),
        ("\n", "its source has no rows"),
        ('{"q": "x", "a": NaN}', "rows.jsonl line 1: holds nan"),
        ('{"q": "\\ud800", "a": 1}', "rows.jsonl line 1: contains text that is not valid Unicode"),
        ('{"q": "x", "a": ' + "9" * 5000 + "}", "line 1: not JSON"),
    ],
)
def test_a_bad_row_is_named(tmp_path, text, message):
    path = math(tmp_path, [])
    (tmp_path / "rows.jsonl").write_text(text)
    with pytest.raises((ConfigError, TaskError)) as raised:
        load(str(path)).rows()
    assert message in str(raised.value)


def test_one_of_several_columns_may_be_empty():
    assert filled("{task} {input}", {"task": "Count to 3.", "input": ""}, "row 1") == "Count to 3. "


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_files_are_utf_8_with_or_without_its_mark(tmp_path, ending):
    texts = {
        "jsonl": '{"q": "Grö?", "a": 1}\n',
        "json": '[{"q": "Grö?", "a": 1}]',
        "csv": "q,a\nGrö?,1\n",
    }
    path = math(tmp_path, [], source=f'{{ path = "rows.{ending}" }}')
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / f"rows.{ending}").write_bytes(texts[ending].encode(encoding))
        load.cache_clear()
        assert sum(kept(path).values()) == 1
    (tmp_path / f"rows.{ending}").write_bytes(texts[ending].encode("latin-1"))
    load.cache_clear()
    with pytest.raises(TaskError, match="must be UTF-8"):
        kept(path)


def test_a_column_of_two_is_not_guessed(tmp_path):
    path = math(tmp_path, [], source='{ path = "rows.csv" }')
    (tmp_path / "rows.csv").write_text("q,a,a\nx,1,2\n")
    with pytest.raises(TaskError, match="names the column 'a' twice"):
        kept(path)


def test_an_unknown_difficulty_is_named(tmp_path):
    fields = '{ prompt = "{city} {year}", reference = 1, difficulty = "level" }'
    path = described(tmp_path, fields=fields, difficulties='["easy", "hard", "cruel"]')
    with pytest.raises(TaskError, match="line 2: difficulty 'medium'"):
        load(str(path)).rows()
