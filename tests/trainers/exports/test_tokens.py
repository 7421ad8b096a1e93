"""A play in token ids is one row in which the sampled ids stay as they were."""

from itertools import chain

import pytest

pytest.importorskip("transformers")

from verigym.errors import RequestError
from verigym.trainers.exports.rows import task_rows
from verigym.trainers.exports.tokens import TokenPlay, chat_tokens
from verigym.trainers.tiny import build_tokenizer


@pytest.fixture
def chat():
    return chat_tokens(build_tokenizer())


def encode(chat, text):
    return [*chat.encode(text), chat.tokenizer.eos_token_id]


def test_an_episode_is_one_row(chat):
    (row,) = task_rows("games/keydoor", n=1, difficulty="tiny")
    play = TokenPlay(row, chat, max_tokens=4096)
    said, wanted = [], []
    while not play.over:
        said.append(encode(chat, play.play.env.oracle()))
        wanted.append(play.ids)
        play.answer(said[-1], [-0.5] * len(said[-1]))
    sampled = [token for token, m in zip(play.response_ids, play.mask, strict=True) if m]
    assert sampled == list(chain.from_iterable(said))
    assert sum(play.logprobs) == -0.5 * len(sampled)
    assert [play.ids[: len(prompt)] for prompt in wanted] == wanted
    assert [play.response_ids[end] for end in play.ends] == [chat.tokenizer.eos_token_id] * len(
        said
    )
    assert len(play.state_keys) == len(play.rewards) == len(said)
    assert (play.reward, play.rewards[-1], sum(play.rewards)) == (1.0, 1.0, 1.0)


def test_an_answer_without_an_end_is_closed_by_the_template(chat):
    (row,) = task_rows("games/keydoor", n=1, difficulty="tiny")
    play = TokenPlay(row, chat, max_tokens=4096)
    play.answer(chat.encode("up"), [0.0])
    end = chat.tokenizer.eos_token_id
    assert (play.response_ids[1], play.mask[:2]) == (end, [1, 0])


def test_an_episode_without_room_ends(chat):
    (row,) = task_rows("games/keydoor", n=1, difficulty="tiny")
    play = TokenPlay(row, chat, max_tokens=8)
    play.answer(encode(chat, "up"), [0.0, 0.0])
    assert play.over
    assert (len(play.response_ids), play.reward) == (2, 0.0)


def test_a_template_that_changes_earlier_messages_is_refused():
    tokenizer = build_tokenizer()
    tokenizer.chat_template = (
        "{{ messages|length }}{% for m in messages %}{{ m['content'] }}<|end|>{% endfor %}"
    )
    (row,) = task_rows("games/keydoor", n=1, difficulty="tiny")
    play = TokenPlay(row, chat_tokens(tokenizer), max_tokens=4096)
    with pytest.raises(RequestError, match="changes earlier messages"):
        play.answer(encode(chat_tokens(tokenizer), "up"), [0.0, 0.0])
