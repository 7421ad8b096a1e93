"""A tiny environment, a tiny tokenizer and a tiny model for the tests of agents."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from verigym import Draft, Env, RequestError, Status, Task, Transition, Verdict, Verifier
from verigym.verdict import fault, scored

THINK_KEPT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# As Qwen3 and others do: thinking is shown while it is made and taken out of earlier turns.
THINK_STRIPPED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and '</think>' in m.content %}"
    "{{ m.content.split('</think>')[-1] }}{% else %}{{ m.content }}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class CounterVerifier(Verifier):
    """Full marks at the target; `outage` verdicts come first, as long as there are any."""

    id = "tests/counter"
    version = 1

    def __init__(self, outage: list[Verdict] | None = None) -> None:
        super().__init__()
        self.outage = outage or []
        self.calls = 0

    def judge(self, task: Task, submission: object) -> Verdict:
        self.calls += 1
        if self.outage:
            return self.outage.pop(0)
        right = submission == task.reference
        return scored(float(right), "correct" if right else "wrong_value")


class Counter(Env[int]):
    """Count up or down from 0 to a target that the prompt names; `stop` submits."""

    id = "verigym/tests/counter-v0"
    verifier_id = "tests/counter"
    difficulties = ("easy", "medium", "hard")
    closed = 0

    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        top = {2: 9, 4: 40, 6: 400}.get(level, 9 * level)
        target = int(rng.integers(1, top))
        return Draft(prompt=f"Count to {target} . Say up , down or stop .", reference=target)

    def initial(self, task: Task) -> int:
        return 0

    def observe(self, state: int) -> str:
        return f"at {state}"

    def transition(self, state: int, action: str) -> Transition[int]:
        if action == "stop":
            return Transition(state=state, terminated=True, submission=state)
        move = {"up": 1, "down": -1}.get(action)
        return Transition(state=state + (move or 0), valid=move is not None)

    def submission(self, state: int) -> int:
        return state

    def solve(self, state: int) -> str:
        target = self.task.reference
        assert isinstance(target, int)
        return "stop" if state == target else "up" if state < target else "down"

    def turns_allowed(self, task: Task) -> int:
        return 12

    def key(self, state: int) -> int:
        return state

    def legal_actions(self, state: int) -> list[str]:
        return ["up", "down", "stop"]

    def close(self) -> None:
        type(self).closed += 1
        super().close()


@dataclass
class Gate:
    """Holds whoever comes until it is opened."""

    open: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)

    def pass_through(self) -> None:
        self.reached.set()
        self.open.wait(60)


@pytest.fixture(scope="session")
def bare():
    """Gives episodes without timings and without how often something was tried."""

    def stripped(episodes):
        return [
            replace(
                e,
                retries=0,
                turns=[replace(t, generate_s=0.0, step_s=0.0, verify_s=0.0) for t in e.turns],
            )
            for e in episodes
        ]

    return stripped


@pytest.fixture
def counter():
    """Makes counters; each call gives a fresh class, so that its counts are the test's own."""

    def build(**members: object) -> type[Counter]:
        return type("Counted", (Counter,), {"closed": 0, **members})

    return build


@pytest.fixture
def make_verifier():
    return CounterVerifier


@pytest.fixture
def outage():
    """`n` verdicts without a score."""

    def build(n: int, status: Status = Status.INFRA, reason: str = "unreachable") -> list[Verdict]:
        return [fault(status, reason, "nobody home")] * n

    return build


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.open.set()


@pytest.fixture
def templates():
    return {"kept": THINK_KEPT, "stripped": THINK_STRIPPED}


@pytest.fixture(scope="session")
def tokenizer():
    """Byte-level BPE with chat tokens, trained on a few lines."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    bare = tokenizers.Tokenizer(tokenizers.models.BPE())
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpus = ["Count to 7 . Say up , down or stop .", "at 3", "user assistant system <think> go up"]
    bare.train_from_iterator(corpus * 4, trainer)
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bare, pad_token="<pad>", eos_token="<|im_end|>"
    )
    made.chat_template = THINK_KEPT
    return made


@pytest.fixture(scope="session")
def model(tokenizer):
    """A random Llama, two layers of width 32; large logits, so that choices matter."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = transformers.LlamaForCausalLM(config)
        for parameter in made.parameters():
            if parameter.ndim == 2:
                parameter.data.normal_(0.0, 0.25)
    return made.eval()


@pytest.fixture
def refused():
    """`with refused(text):` expects a RequestError that says `text`."""
    return lambda match: pytest.raises(RequestError, match=match)
