"""Trains a tiny model with the real TRL, once for each way; prints one line of JSON with what was seen.

python with_trl.py FOLDER
"""

import importlib.metadata
import json
import pickle
import sys
from itertools import chain
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

import verigym
from verigym.trainers import tiny
from verigym.trainers.exports.trl import VerigymSpec


def config(out, tokenizer, words, **more):
    """Return settings under which the model says one of `words`, or nothing, in each turn."""
    said = {*tokenizer.convert_tokens_to_ids(list(words)), tokenizer.eos_token_id}
    silent = [i for i in range(len(tokenizer)) if i not in said]
    return GRPOConfig(
        output_dir=str(out),
        use_cpu=True,
        bf16=False,
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=4,
        learning_rate=1e-2,
        beta=0.0,
        loss_type="dapo",
        report_to=[],
        save_strategy="no",
        logging_steps=1,
        disable_tqdm=True,
        seed=1,
        generation_kwargs={"max_new_tokens": 1, "suppress_tokens": silent} if words else None,
        **more,
    )


def answers(spec):
    """Return the right answers of a spec's tasks."""
    found = set()
    for row in spec.rows:
        env = verigym.make(row["env"], difficulty=row["difficulty"])
        env.reset(seed=row["seed"])
        found.add(env.oracle())
    return sorted(found)


def train(folder, spec, words, way=""):
    """Return what a few steps of training saw."""
    spec = pickle.loads(pickle.dumps(spec))
    path = tiny.build(folder / "model", seed=1, words=words or ("hit", "stand"))
    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    more = {}
    if way == "rollout":
        more["rollout_func"] = spec.rollout_func
    seen = []

    def watched(**given):
        (reward,) = spec.reward_funcs
        seen.append(reward(**given))
        return seen[-1]

    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=config(folder / "out", tokenizer, words, max_completion_length=512),
        train_dataset=spec.train_dataset,
        reward_funcs=watched,
        **more,
    )
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    trainer.train()
    pairs = zip(before, trainer.model.parameters(), strict=True)
    return {
        "steps": trainer.state.global_step,
        "rewards": list(chain.from_iterable(seen)),
        "change": max(float((old - new).detach().abs().max()) for old, new in pairs),
    }


def main():
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    one_turn = VerigymSpec("math/counting", "math/arithmetic", n=2, difficulty="tiny")
    cards = VerigymSpec("games/blackjack", n=16, difficulty="tiny")
    words = answers(one_turn)
    found = {
        "reward": train(folder / "reward", one_turn, words),
        "rollout": train(folder / "rollout", cards, ("hit", "stand"), "rollout"),
    }
    print(json.dumps({"version": importlib.metadata.version("trl"), **found}))


if __name__ == "__main__":
    main()
