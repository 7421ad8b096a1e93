"""Encodings: law 3 on templates that keep earlier text and on those that do not; parsing actions."""

from __future__ import annotations

import copy
import random
import time
from itertools import chain, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verigym.agents.chat import Conversation, StepRows, Transcript, continued
from verigym.agents.loop import Settings, plan_groups, play
from verigym.agents.policy import Completion
from verigym.agents.rows import token_rows
from verigym.episode import Turn

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from verigym.agents.policies.hf import HFPolicy  # noqa: E402


class Parrot(HFPolicy):
    """Says given ids instead of sampling; the key's last number is the turn."""

    def say(self, script: list[list[int]]) -> Parrot:
        self.script = script
        return self

    def complete(self, requests):
        made = []
        for request in requests:
            ids = self.script[request.key[-1]]
            made.append(
                Completion(
                    text=self.decode(ids),
                    prompt_ids=request.prompt_ids,
                    response_ids=ids,
                    logprobs=[-0.5 - i for i in range(len(ids))],
                    mask=[1] * len(ids),
                    finish_reason="stop" if ids[-1] in self.end_ids else "length",
                )
            )
        return made


@pytest.fixture
def parrot(model, tokenizer, templates):
    def build(template: str) -> Parrot:
        own = copy.deepcopy(tokenizer)
        own.chat_template = templates.get(template, template)
        return Parrot(model, own, max_new_tokens=8)

    return build


def letter_by_letter(policy, text, *, ended=True):
    """Ids that mean `text` and are not those that encoding it gives."""
    ids = [i for letter in text for i in policy.encode(letter)]
    return ids + [policy.tokenizer.eos_token_id] * ended


def play_one(policy, env, verifier, encoding):
    plans = plan_groups(env, [3], env_kwargs={"verifier": verifier})
    return play(plans, policy, encoding, Settings(env_workers=1))[0]


def follows(before: Turn, after: Turn) -> bool:
    sampled = before.prompt_ids + before.response_ids
    return after.prompt_ids[: len(sampled)] == sampled


def test_transcript_keeps_sampled_ids_that_encoding_would_change(parrot, counter, make_verifier):
    policy = parrot("kept")
    spoken = ["<think>hm</think>up", "<think>one more</think>up", "stop"]
    policy.say([letter_by_letter(policy, text) for text in spoken])
    episode = play_one(policy, counter(), make_verifier(), Transcript())
    assert [t.action for t in episode.turns] == ["up", "up", "stop"]
    rendered = policy.tokenize(
        [
            {"role": "user", "content": episode.turns[0].observation},
            {"role": "assistant", "content": spoken[0]},
            {"role": "user", "content": episode.turns[1].observation},
        ]
    )
    assert episode.turns[1].prompt_ids != rendered  # what encoding again would have trained
    assert policy.tokenizer.decode(episode.turns[1].prompt_ids) == policy.tokenizer.decode(rendered)
    assert all(follows(a, b) for a, b in pairwise(episode.turns))
    (row,) = token_rows(episode.turns)
    assert [i for i, m in zip(row.ids, row.mask, strict=True) if m] == list(chain(*policy.script))
    assert row.ids[: len(episode.turns[0].prompt_ids)] == episode.turns[0].prompt_ids
    assert [t for t in row.turn if t >= 0] == sorted(t for t in row.turn if t >= 0)
    # Prompts, observations and glue are never trained.
    assert sum(row.mask) == sum(len(ids) for ids in policy.script)


def test_a_template_that_strips_thinking_starts_rows(parrot, counter, make_verifier):
    policy = parrot("stripped")
    spoken = ["<think>hm</think>up", "<think>again</think>up", "down", "stop"]
    policy.say([letter_by_letter(policy, text) for text in spoken])
    episode = play_one(policy, counter(), make_verifier(), Transcript())
    turns = episode.turns
    assert not follows(turns[0], turns[1])
    assert not follows(turns[1], turns[2])
    assert follows(turns[2], turns[3])  # "down" had no thinking to strip
    # The broken turns' prompts are what the template renders, and nothing else.
    messages = [{"role": "user", "content": turns[0].observation}]
    for said, turn in zip(spoken, turns[1:], strict=False):
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": turn.observation},
        ]
        if said != "down":
            assert turn.prompt_ids == policy.tokenize(messages)
    rows = token_rows(turns)
    assert len(rows) == 3
    trained = [i for row in rows for i, m in zip(row.ids, row.mask, strict=True) if m]
    assert trained == list(chain(*policy.script))
    assert [sorted({t for t in row.turn if t >= 0}) for row in rows] == [[0], [1], [2, 3]]


def test_a_cut_answer_gets_the_templates_end_token_unmasked(parrot, counter, make_verifier):
    policy = parrot("kept")
    policy.say([letter_by_letter(policy, "u", ended=False), letter_by_letter(policy, "stop")])
    first, second = play_one(policy, counter(), make_verifier(), Transcript()).turns
    assert follows(first, second)
    glue = second.prompt_ids[len(first.prompt_ids) + len(first.response_ids) :]
    assert glue[0] == policy.tokenizer.eos_token_id
    (row,) = token_rows([first, second])
    assert row.mask[len(first.prompt_ids) + len(first.response_ids)] == 0


def test_another_end_token_than_the_templates_starts_a_row(parrot, counter, make_verifier):
    policy = parrot("kept")
    other = policy.tokenizer.pad_token_id
    policy.end_ids = policy.end_ids | {other}
    up = letter_by_letter(policy, "up", ended=False)
    policy.say([[*up, other], letter_by_letter(policy, "stop")])
    first, second = play_one(policy, counter(), make_verifier(), Transcript()).turns
    assert not follows(first, second)
    assert policy.tokenizer.eos_token_id in second.prompt_ids


def test_a_template_that_trims_starts_a_row(parrot, counter, make_verifier):
    policy = parrot(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    policy.say([letter_by_letter(policy, text) for text in (" up", "up", "stop")])
    turns = play_one(policy, counter(), make_verifier(), Transcript()).turns
    assert [follows(a, b) for a, b in pairwise(turns)] == [False, True]


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), template=st.sampled_from(["kept", "stripped"]))
def test_whatever_is_sampled_is_trained_once(
    parrot, counter, make_verifier, tokenizer, data, template
):
    """Any ids at all: broken UTF-8, special tokens in the middle, spelled-out template marks."""
    policy = parrot(template)
    end = tokenizer.eos_token_id
    answer = st.lists(st.integers(0, len(tokenizer) - 1).filter(lambda i: i != end), max_size=8)
    spelled = st.sampled_from(
        [letter_by_letter(policy, t, ended=False) for t in ("<|im_end|>", "</think>", "<think>é")]
    )
    script = []
    for _ in range(12):
        ids = data.draw(
            st.one_of(answer, spelled, st.tuples(spelled, answer).map(lambda p: [*p[0], *p[1]]))
        )
        script.append([*ids, end] if not ids or data.draw(st.booleans()) else ids)
    policy.say(script)
    turns = play_one(policy, counter(), make_verifier(), Transcript()).turns
    assert [t.response_ids for t in turns] == script[: len(turns)]
    rows = token_rows(turns)
    trained = [
        (i, p, t)
        for row in rows
        for i, p, t, m in zip(row.ids, row.logprobs, row.turn, row.mask, strict=True)
        if m
    ]
    assert trained == [
        (i, p, k)
        for k, turn in enumerate(turns)
        for i, p in zip(turn.response_ids, turn.logprobs, strict=True)
    ]
    if template == "kept":
        assert len(rows) == 1
    for before, after in pairwise(turns):
        said = policy.decode(before.response_ids)
        if template == "stripped" and "</think>" in said and not said.startswith("</think>"):
            assert not follows(before, after)


@pytest.mark.parametrize("encoding", [Transcript(), StepRows(history=1)], ids=["grow", "rows"])
@pytest.mark.parametrize("template", ["kept", "stripped"])
def test_rows_have_the_log_probabilities_of_the_sampler(
    model, tokenizer, templates, counter, make_verifier, template, encoding
):
    """One pass over each finished row, as the trainer makes it, gives what the sampler recorded."""
    own = copy.deepcopy(tokenizer)
    own.chat_template = templates[template]
    policy = HFPolicy(model, own, max_new_tokens=5)
    verifier = make_verifier()
    plans = plan_groups(counter(), [1, 2], members=3, env_kwargs={"verifier": verifier})
    for episode in play(plans, policy, encoding):
        rows = token_rows(episode.turns)
        assert sum(sum(row.mask) for row in rows) == sum(len(t.response_ids) for t in episode.turns)
        for row in rows:
            with torch.no_grad():
                logp = model(input_ids=torch.tensor([row.ids])).logits[0].log_softmax(-1)
            for at, (token, mask) in enumerate(zip(row.ids, row.mask, strict=True)):
                if mask:
                    assert logp[at - 1, token].item() == pytest.approx(row.logprobs[at], abs=2e-4)


@pytest.mark.slow
def test_cohorts_repeat_to_the_last_bit(model, tokenizer, counter, make_verifier):
    """Ids and log-probabilities are equal, not close, though steps finish in any order."""

    def jittery(self, state, action):
        time.sleep(random.random() * 0.003)  # the test's own trouble, not synchronisation
        return type(self).__mro__[1].transition(self, state, action)

    made = counter(transition=jittery)
    played = [
        play(
            plan_groups(made, range(5), members=3, env_kwargs={"verifier": make_verifier()}),
            HFPolicy(model, tokenizer, max_new_tokens=4),
            StepRows(history=1),
            Settings(batching="cohorts", n_cohorts=2, max_live=8, env_workers=workers),
        )
        for workers in (1, 7)
    ]
    first, second = (
        [(t.prompt_ids, t.response_ids, t.logprobs) for e in p for t in e.turns] for p in played
    )
    assert first == second
    assert len(first) > 15


def talk(turns: int) -> Conversation:
    return Conversation(
        task_prompt="Count.",
        observations=[f"at {i}" for i in range(turns + 1)],
        actions=["up"] * turns,
        legal_actions=["up", "stop"],
    )


def test_step_rows_show_the_task_the_last_turns_and_now():
    system, user = StepRows(history=2).messages(talk(4))
    assert system == {"role": "system", "content": "Count."}
    assert user["content"] == (
        "Before:\nat 2\nAction: up\nBefore:\nat 3\nAction: up\nNow:\nat 4\nLegal actions: up, stop"
    )
    (user,) = StepRows(history=0, show_legal=False, system=False).messages(talk(4))
    assert user == {"role": "user", "content": "Count.\n\nat 4"}


def test_step_rows_of_a_task_without_observation_ask_the_task():
    bare = Conversation(task_prompt="What is 2 + 2 ?", observations=[""])
    assert StepRows().messages(bare) == [{"role": "user", "content": "What is 2 + 2 ?"}]
    assert Transcript(system=True).messages(bare) == StepRows().messages(bare)


def test_negative_history_is_refused(refused):
    with refused("history must be 0 or more"):
        StepRows(history=-1)


def test_transcript_without_a_tokenizer_has_messages_alone(counter, make_verifier):
    class Texts:
        name, max_batch = "texts", 4

        def complete(self, requests):
            assert all(r.prompt_ids is None for r in requests)
            return [Completion(text="up" if len(r.messages) < 5 else "stop") for r in requests]

    episode = play_one(Texts(), counter(), make_verifier(), Transcript())
    assert [t.action for t in episode.turns] == ["up", "up", "stop"]
    assert token_rows(episode.turns) == []


def test_nothing_is_continued_without_ids(parrot):
    from verigym.agents.chat import Prompt

    policy = parrot("kept")
    assert continued(Prompt(messages=[]), Completion(text="up"), "up", policy) is None
