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


def parts(task):
    """Return the question of the task, in parts, and the answers."""
    asked = task.prompt.split("Question: ")[1].split("\n\n")[0]
    several = re.findall(r"^\(\d+\) (.*)$", asked, re.MULTILINE)
    plain = [
        re.sub(r"^(?:According to the source that counts, )?(?:[Nn]ame|[Ww]hat is) |[.?]$", "", one)
        for one in several or [asked]
    ]
    return list(zip(plain, task.reference["answers"][0].split("; "), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_question_has_one_right_answer(facts, name):
    for task in tasks(name, 20):
        for phrase, answer in parts(task):
            if "disputed" in task.tags:
                ((right, page),) = facts.counting(phrase)
                assert answer == right, task.prompt
                assert [page] in task.reference["supporting"], task.prompt
            else:
                # What is unknown stands on no page.
                right = set() if answer == "unknown" else {answer}
                assert facts.answers(phrase) == right, task.prompt


@pytest.mark.parametrize("level", [1, 5, 6])
def test_the_figures_on_long_ways_are_put_together_by_counted_steps(level):
    env = verigym.make("search/long-v0", world=5, pages=PAGES)
    for seed in range(6):
        env.reset(seed=seed, options={"difficulty": level})
        answer, operations = env.put_together()
        assert answer == env.task.reference["told"], env.task.prompt
        assert operations >= len(env.task.reference["route"]) / 2


def test_saying_unknown_always_or_never_is_hardly_paid():
    env = verigym.make("search/unanswerable-v0", world=5, pages=PAGES)
    paid = {"always": 0.0, "never": 0.0, "unread": 0.0}
    for task in tasks("unanswerable", 60):
        answers = [answer for _, answer in parts(task)]
        cited = task.reference["cite"]

        def score(said, pages, task=task):
            reply = {"answer": "; ".join(said), "citations": pages}
            return env.verifier.verify(task, reply).score

        assert score(answers, cited) == 1
        paid["always"] += score(["unknown"] * 3, cited)
        paid["never"] += score([a.replace("unknown", "Nobody Atall") for a in answers], cited)
        paid["unread"] += score(["unknown"] * 3, []) + score(["unknown"] * 3, ["p00001"])
    assert paid["unread"] == 0
    # Of 180, of which a twelfth is 15; a seed draws the same for each difficulty.
    assert 0 < paid["always"] < 30
    assert 0 < paid["never"] < 30


def test_the_words_do_not_betray_that_there_is_no_answer():
    # Of each fact that is asked for, about as many are unknown, and of each place.
    shares = {}
    for task in tasks("unanswerable", 300):
        for place, (phrase, answer) in enumerate(parts(task)):
            for what in (place, re.match(r"the (\w+)", phrase)[1]):
                shares.setdefault(what, []).append(answer == "unknown")
    assert set(shares) == {0, 1, 2, "spouse", "teacher", "school", "river"}
    for what, lacking in shares.items():
        assert 0.42 < sum(lacking) / len(lacking) < 0.58, what


def of_item(wanted, item):
    """The phrase of a list of items, said of one of them."""
    wanted = wanted.replace("the town in which it is set", "the town that is the setting of it")
    return re.sub(r"its (\w+)$", r"the \1 of it", wanted).replace(" of it", f" of {item}")


def test_long_tasks_are_added_up_rightly(facts):
    for task in tasks("long", 12):
        asked = task.prompt.split("Question: For each ")[1].split("\n\n")[0]
        wanted, listed = re.fullmatch(
            r"\w+ in this list, find (.*?)\.\n(.*)", asked, re.DOTALL
        ).groups()
        items, ask = re.findall(r"^- (.*)$", listed, re.MULTILINE), listed.splitlines()[-1]
        rows = []
        for item in items:
            (value,) = facts.answers(of_item(wanted, item))
            rows.append((by_hand.day(value) if " " in value else int(value), item))
        rows.sort()
        bound = re.search(r"(?:before|less than) (.*)\?$", ask)
        # Dates are early or late, numbers small or large.
        assert not re.search(
            "smallest|largest|less" if "date of birth" in wanted else "earliest|latest|before", ask
        ), task.prompt
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
        told, cited = task.reference["told"], task.reference["cite"]

        def score(answer, pages, task=task):
            return env.verifier.verify(task, {"answer": answer, "citations": pages}).score

        assert score(told, cited) == 1
        assert score(told, []) == 0
        needed = next(group[0] for group in task.reference["supporting"] if len(group) == 1)
        assert score(told, [page for page in cited if page != needed]) == 0
        other = next(p for p in ("p00001", "p00002", "p00003") if p not in cited)
        assert score(told, [*cited, other]) == 0
        assert score("Nobody Atall", cited) == 0


@pytest.mark.parametrize("name", [*NAMES, "long"])
def test_every_form_of_the_right_answer_is_right(name):
    env = verigym.make(f"search/{name}-v0", world=5, pages=PAGES)
    for level in range(1, 11):
        for seed in range(12):
            task = env.sample_task(seed, level)
            cited = task.reference["cite"]
            for answer in task.reference["answers"]:
                verdict = env.verifier.verify(task, {"answer": answer, "citations": cited})
                assert verdict.score == 1, (task.prompt, answer, verdict.evidence)


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


def test_pages_that_a_question_names_may_be_cited_and_need_not_be():
    env = verigym.make("search/unanswerable-v0", world=5, pages=PAGES)
    beside = 0
    for seed in range(4):
        task = env.sample_task(seed, 10)
        told, cited = task.reference["told"], task.reference["cite"]
        others = [page for page in task.reference["optional"] if page not in cited]
        beside += len(others)
        citations = [*cited, *others][:100]
        verdict = env.verifier.verify(task, {"answer": told, "citations": citations})
        assert verdict.score == 1, verdict
    assert beside
