"""TRL's side of `trainer_vs_trl.py`: its GRPOTrainer, a step for each line on standard input.

Runs with the Python of `make peers-trl`. The first line on standard output says that the model is loaded; each
further one is a step's figures as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from vs_trl_config import memory, settings

# After the settings, which silence them.
import torch  # isort: skip
from datasets import Dataset  # isort: skip
from transformers import AutoTokenizer, TrainerCallback  # isort: skip
from trl import GRPOTrainer  # isort: skip
from vs_trl_texts import reward, shown


def main() -> None:
    """Train as the JSON of the first argument says."""
    job = json.loads(sys.argv[1])
    torch.set_num_threads(job["threads"])
    tokenizer = AutoTokenizer.from_pretrained(job["model"])
    turns, answer = job["turns"], job["answer_tokens"]

    def drawn(completions, **_):
        texts = [c[0]["content"] for c in completions]
        return [reward([text]) for text in texts]

    def rollout(prompts, trainer):
        """Play all turns; each reads the whole transcript again, as TRL's own loop over tools does."""
        first = [encode(p) for p in prompts]
        rows, masks, said = (
            [list(ids) for ids in first],
            [[] for _ in prompts],
            [[] for _ in prompts],
        )
        for turn in range(turns):
            made, _ = trainer._generate_single_turn(rows, None, {}, trainer.num_generations)
            for i, ids in enumerate(made):
                rows[i] += ids
                masks[i] += [1] * len(ids)
                if turn + 1 < turns:
                    said[i].append(tokenizer.decode(ids))
                    glue = observation(shown(said[i], job["shown_letters"]))
                    rows[i] += glue
                    masks[i] += [0] * len(glue)
        rest = [row[len(ids) :] for row, ids in zip(rows, first, strict=True)]
        return {"prompt_ids": first, "completion_ids": rest, "logprobs": None, "env_mask": masks}

    def encode(messages):
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    def observation(text):
        # The answer's own end, then the user's turn; as our transcripts have it.
        return [tokenizer.eos_token_id, *encode([{"role": "user", "content": text}])]

    config = settings(
        job["out"],
        per_device_train_batch_size=job["groups"] * job["group_size"],
        num_generations=job["group_size"],
        max_completion_length=answer,
        max_steps=job["steps"],
        learning_rate=1e-4,
        loss_type="dapo",
        temperature=1.0,
        top_k=0,
        shuffle_dataset=False,
    )
    prompts = [[{"role": "user", "content": text}] for text in job["prompts"]]
    trainer = GRPOTrainer(
        model=job["model"],
        args=config,
        reward_funcs=drawn,
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=tokenizer,
        callbacks=[Clock(job["steps"])],
        rollout_func=rollout if turns > 1 else None,
    )
    # Random weights would end some answers at once; both sides make answers of full length.
    trainer.eos_token_ids = [-1]
    trainer.generation_config.eos_token_id = None
    trainer.model.generation_config.eos_token_id = None
    trainer.generation_kwargs["eos_token_id"] = None
    trainer.train()


class Clock(TrainerCallback):
    """Waits for a line before each step, and reports after it."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def on_step_begin(self, args, state, control, **_) -> None:
        """Wait for the other side's turn to end."""
        if state.global_step == 0:
            say({"ready": True, **sizes()})
            Path("/proc/self/clear_refs").write_text("5")
        sys.stdin.readline()
        self.began = time.perf_counter(), time.process_time()

    def on_step_end(self, args, state, control, **_) -> None:
        """Report the step."""
        wall, cpu = time.perf_counter() - self.began[0], time.process_time() - self.began[1]
        say({"wall_s": wall, "cpu_s": cpu, **sizes()})


def sizes() -> dict[str, int]:
    """Return the resident size now and its peak, in KiB."""
    return {"rss": memory("VmRSS"), "peak": memory("VmHWM")}


def say(figures: dict[str, object]) -> None:
    """Print one line for the driver."""
    print("@" + json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
