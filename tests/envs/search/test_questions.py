"""Every question has one right answer, found a second way: by reading all pages (by_hand.py)."""

import importlib.util
import re
from pathlib import Path

import pytest

import verigym
from verigym.envs.search.library import world_library

_SPEC = importlib.util.spec_from_file_location("by_hand", Path(__file__).with_name("by_hand.py"))
by_hand = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(by_hand)

PAGES = 3000
NAMES = ("hops", "lookup", "noise", "unanswerable")


@pytest.fixture(scope="module")
def facts():
    return by_hand.ByHand(world_library(5, 0, PAGES))


def tasks(name, seeds):
    env = verigym.make(f"search/{name}-v0", world=5, pages=PAGES)
    for difficulty in env.difficulties:
        for seed in range(seeds):
            yield env.sample_task(seed, difficulty)


def question(task):
    asked = task.prompt.split("Question: ")[1].split("\n\n")[0]
    return re.sub(r"^(?:By what counts, )?(?:Name|What is|name|give|Give) |[.?]$", "", asked)


@pytest.mark.parametrize("name", NAMES)
def test_a_question_has_one_right_answer(facts, name):
    answered = 0
    for task in tasks(name, 25):
        phrase, reference = question(task), task.reference
        if "disputed" in task.tags:
            ((answer, page),) = facts.counting(phrase)
            assert reference["supporting"][-1] == [page], task.prompt
            assert reference["answers"][0] == answer, task.prompt
        elif "unanswerable" in task.tags:
            assert facts.answers(phrase) == set(), task.prompt
            assert reference["answers"] == ["unknown"]
        else:
            assert facts.answers(phrase) == {reference["answers"][0]}, task.prompt
        answered += "unanswerable" not in task.tags
    assert answered >= 25


def test_a_quarter_of_the_questions_has_no_answer():
    lacking = ["unanswerable" in task.tags for task in tasks("unanswerable", 100)]
    assert 0.18 < sum(lacking) / len(lacking) < 0.32


def test_saying_unknown_without_reading_earns_nothing():
    env = verigym.make("search/unanswerable-v0", world=5, pages=PAGES)
    for task in tasks("unanswerable", 40):
        for cited in ([], ["p00001"]):
            said = {"answer": "unknown", "citations": cited}
            assert env.verifier.verify(task, said).score == 0


def test_the_words_do_not_betray_that_there_is_no_answer():
    # Of each fact that is asked for, about as many questions have no answer.
    shares = {}
    for task in tasks("unanswerable", 250):
        last = re.match(r"the (\w+)", question(task))[1]
        shares.setdefault(last, []).append("unanswerable" in task.tags)
    assert set(shares) == {"spouse", "teacher", "school", "river"}
    for last, lacking in shares.items():
        assert 0.13 < sum(lacking) / len(lacking) < 0.38, last


def test_long_tasks_are_added_up_rightly(facts):
    for task in tasks("long", 12):
        asked = task.prompt.split("Question: Take ")[1].split("\n\n")[0]
        wanted, listed = asked.split(", for each of these:\n")
        items, ask = re.findall(r"^- (.*)$", listed, re.MULTILINE), listed.splitlines()[-1]
        kind = re.search(r"the (firm|work|event)\b", wanted)[1]
        rows = []
        for item in items:
            (value,) = facts.answers(wanted.replace(f"the {kind}", item))
            rows.append((by_hand.day(value) if " " in value else int(value), item))
        rows.sort()
        bound = re.search(r"(?:before|less than) (.*)\?$", ask)
        if "the earliest" in ask or "the smallest" in ask:
            right = rows[0][1]
        elif "the latest" in ask or "the largest" in ask:
            right = rows[-1][1]
        elif bound:
            limit = by_hand.day(bound[1]) if " " in bound[1] else int(bound[1])
            right = str(sum(value < limit for value, _ in rows))
        else:
            assert "sum" in ask
            right = str(sum(value for value, _ in rows))
        assert task.reference["answers"] == [right], task.prompt


@pytest.mark.parametrize("name", [*NAMES, "long"])
def test_cited_pages_are_all_needed_and_no_others_help(name):
    env = verigym.make(f"search/{name}-v0", world=5, pages=PAGES)
    for difficulty in env.difficulties:
        task = env.sample_task(4, difficulty)
        reply, cited = task.reference["reply"], task.reference["cite"]

        def score(answer, pages, task=task):
            return env.verifier.verify(task, {"answer": answer, "citations": pages}).score

        assert score(reply, cited) == 1
        assert score(reply, []) == 0
        assert score(reply, cited[1:]) == 0
        other = next(p for p in ("p00001", "p00002", "p00003") if p not in cited)
        assert score(reply, [*cited, other]) == 0
        assert score("Nobody Atall", cited) == 0


@pytest.mark.parametrize("name", NAMES)
def test_what_has_to_be_searched_can_be_found(name):
    # In the world of full size: by the words that a reader knows at that point, among the first 20.
    env = verigym.make(f"search/{name}-v0")
    sought = found = 0
    for difficulty in env.difficulties:
        for seed in range(12):
            task = env.sample_task(seed, difficulty)
            library = env.library(task)
            for query, page in task.reference["route"]:
                if query:
                    sought += 1
                    hits = [hit.id for skip in (0, 10) for hit in library.search(query, skip)]
                    found += page in hits
    assert found == sought
