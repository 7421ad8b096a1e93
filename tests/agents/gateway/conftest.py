"""A gateway on a sampler that says what a test has written down."""

from __future__ import annotations

import copy
import threading
import time
from dataclasses import dataclass, field

import httpx2
import pytest

from verigym.agents.engines.sampler import Sample, Span
from verigym.agents.plan import Settings

# As Qwen's: tools in the system message, calls and results in tags.
TOOLS = (
    "{% if tools %}<|im_start|>system\nTools: {{ tools | tojson }}<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass
class Scripted:
    """Says the texts of `script` in turn, then the last again; letter by letter, as encoding would not."""

    tokens: object
    script: list[str]
    max_context: int = 4096
    name: str = "scripted"
    version: int = 3
    precision_nats: float = 0.0
    delay_s: float = 0.0
    fails: list[Exception] = field(default_factory=list)
    asked: list[list[int]] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sample(self, prompts, params, keys):
        if self.delay_s:
            time.sleep(self.delay_s)
        with self.lock:
            if self.fails:
                raise self.fails.pop(0)
            self.batches.append(len(prompts))
            return [self._one(list(prompt), params) for prompt in prompts]

    def _one(self, prompt, params):
        text = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(prompt)
        ids = [i for letter in text for i in self.tokens.encode(letter)]
        ids = [*ids, min(params.end_ids)]
        cut = ids[: params.max_tokens]
        return Sample(
            ids=cut,
            logprobs=[-0.5 - i for i in range(len(cut))],
            versions=[Span(self.version, 0, len(cut))],
            finish_reason="stop" if len(cut) == len(ids) else "length",
        )

    def close(self):
        pass


@pytest.fixture
def tokens(tokenizer, templates):
    """Makes the token half of a policy with a chat template."""
    from verigym.agents.policies.chat_tokens import ChatTokens

    def build(template: str = TOOLS) -> ChatTokens:
        own = copy.deepcopy(tokenizer)
        own.chat_template = templates.get(template, template)
        return ChatTokens(
            own, name="m", n_embeddings=len(own), end_ids=frozenset({own.eos_token_id})
        )

    return build


@pytest.fixture
def serve(tokens):
    """Makes gateways; `serve(*texts)` gives one with a sampler that says them, as `gateway.sampler`."""
    from verigym.agents.engines.sampler import SamplingParams
    from verigym.agents.gateway.gateway import Gateway

    made = []

    def build(*script: str, template: str = TOOLS, sampler: dict | None = None, **options):
        half = tokens(template)
        scripted = Scripted(half, list(script), **(sampler or {}))
        options = {"settings": Settings(patience_s=0.0), **options}
        gateway = Gateway(
            half, scripted, SamplingParams(max_tokens=400, end_ids=half.end_ids), **options
        )
        gateway.sampler = scripted
        made.append(gateway)
        return gateway

    yield build
    for gateway in made:
        gateway.close()


@pytest.fixture
def stepwise():
    """Gives a gateway's sampler the tokens of a sample one after another, and a gate behind the first `n`."""

    def change(gateway, n=0):
        held = threading.Event()
        whole = gateway.sampler.sample

        def sample_watched(prompts, params, keys, watch):
            samples = whole(prompts, params, keys)
            for step in range(max(len(one.ids) for one in samples)):
                if step == n:
                    held.wait(30)
                rows = [row for row, one in enumerate(samples) if step < len(one.ids)]
                watch(rows, [samples[row].ids[step] for row in rows])
            return samples

        gateway.sampler.sample_watched = sample_watched
        return held

    return change


@pytest.fixture
def http():
    with httpx2.Client(timeout=20) as client:
        yield client
