"""TRL's side of `trainer_memory.py`: one step of its GRPOTrainer on given rows, and its figures as JSON.

Runs with the Python of `make peers-trl`. Answers are drawn at random, not generated, so that the peak is that of
the update.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from vs_trl_config import memory, settings

# After the settings, which silence them.
from datasets import Dataset  # isort: skip
from transformers import AutoTokenizer, TrainerCallback  # isort: skip
from trl import GRPOTrainer  # isort: skip


def main() -> None:
    """Take the step that the JSON of the first argument asks for."""
    job = json.loads(sys.argv[1])
    tokenizer = AutoTokenizer.from_pretrained(job["model"])
    rng = random.Random(0)

    def rollout(prompts, trainer):
        """Answer with random tokens, all of them trained."""
        first = [[7]] * len(prompts)
        rest = [rng.choices(range(1, job["vocabulary"]), k=job["tokens"] - 1) for _ in prompts]
        masks = [[1] * len(ids) for ids in rest]
        return {"prompt_ids": first, "completion_ids": rest, "logprobs": None, "env_mask": masks}

    with tempfile.TemporaryDirectory() as scratch:
        trainer = GRPOTrainer(
            model=job["model"],
            args=settings(
                scratch,
                per_device_train_batch_size=job["rows"],
                num_generations=job["rows"],
                max_completion_length=job["tokens"],
                max_steps=1,
                learning_rate=1e-5,
            ),
            reward_funcs=lambda completions, **_: [rng.random() for _ in completions],
            train_dataset=Dataset.from_dict({"prompt": [[{"role": "user", "content": "a"}]]}),
            processing_class=tokenizer,
            callbacks=[Clock()],
            rollout_func=rollout,
        )
        trainer.train()


class Clock(TrainerCallback):
    """Reports the step."""

    def on_step_begin(self, args, state, control, **_) -> None:
        """Forget the peak of loading."""
        Path("/proc/self/clear_refs").write_text("5")
        self.before, self.began = memory("VmRSS"), time.perf_counter()

    def on_step_end(self, args, state, control, **_) -> None:
        """Print the peak above the loaded model, and the seconds."""
        figures = {
            "peak_above_model_mib": (memory("VmHWM") - self.before) / 1024,
            "seconds": time.perf_counter() - self.began,
        }
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
