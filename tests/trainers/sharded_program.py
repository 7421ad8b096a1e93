"""Started by torchrun in test_sharded.py: writes how far the sharded engine is from one process."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.trainers.test_head import SIZES
from tests.trainers.test_tree import ROWS
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.engine import Engine
from verigym.trainers.learner import Imitation, Preference, Reinforcement
from verigym.trainers.ranks import Ranks
from verigym.trainers.sharded import ShardedEngine

CASES = {
    "ppo, tied": (True, {}, Reinforcement()),
    "ppo, untied": (False, {}, Reinforcement()),
    "trajectory-mean": (False, {"aggregation": "trajectory-mean"}, Reinforcement()),
    "entropy bonus": (True, {"entropy_coef": 0.01}, Reinforcement()),
    "ranked tokens": (True, {"entropy_control": "high-entropy"}, Reinforcement()),
    "divergence": (True, {"kl_coef": 0.1}, Reinforcement()),
    "recomputed activations": (False, {"recomputes": True}, Reinforcement()),
    "bfloat16": (True, {"dtype": torch.bfloat16}, Reinforcement()),
    "imitation": (True, {}, Imitation(smoothing=0.1, used_ids=range(20))),
    "preference": (False, {}, Preference(reference=[-9.0, -8.0] * 3, beta=0.1)),
}


class Measured(ShardedEngine):
    """Shows its gradients."""

    def gradients(self):
        return self._all("_gradients")

    def _gradients(self):
        return [p.grad.full_tensor() for p in self.model.parameters()]


def gloo_threads():
    """Names of the threads of gloo that this process still has."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    return [name for name in names if "gloo" in name]


def distance(found, want):
    """Relative distance of two lists of tensors."""
    both = [torch.cat([t.flatten().double() for t in one]) for one in (found, want)]
    return float((both[0] - both[1]).norm() / both[1].norm())


def compare(ranks, name):
    is_tied, algorithm, loss = CASES[name]
    algorithm = dict(algorithm)
    dtype = algorithm.pop("dtype", torch.float32)
    recomputes = algorithm.pop("recomputes", False)
    torch.manual_seed(0)
    model = (
        LlamaForCausalLM(LlamaConfig(**{**SIZES, "tie_word_embeddings": is_tied})).eval().to(dtype)
    )
    options = {
        "pad_id": 0,
        "temperature": 1.0,
        "train": TrainSection(
            lr=1e-3, max_grad_norm=1e9, microbatch_tokens=12, gradient_checkpointing=recomputes
        ),
        "algorithm": AlgorithmSection(**{"name": "grpo", "kl_coef": 0.0, **algorithm}),
        "max_tokens": 8,
    }
    one = Engine(copy.deepcopy(model), **options)
    ranks.share({"config": model.config, "device": "cpu", "dtype": dtype, **options})
    two = Measured(ranks, model, **options)
    one.start_reinforcement()
    two.start_reinforcement()
    out = {}
    for step in range(3):
        stats = [engine.train_step(ROWS, loss) for engine in (one, two)]
        if step == 0:
            want = [p.grad for p in one.model.parameters()]
            out["gradient"] = distance(two.gradients(), want)
            out["stats"] = [
                {k: v for k, v in vars(s).items() if k not in ("gap", "computed")} for s in stats
            ]
    out["weights"] = distance(list(two.weights(1).tensors.values()), [*one.model.parameters()])
    out["logprobs"] = distance(
        *([torch.tensor([p for line in e.logprobs(ROWS) for p in line])] for e in (two, one))
    )
    if two.reference is not None:
        kept = two.reference_state()
        out["reference"] = distance(
            list(kept["reference"].values()), list(one.reference.state_dict().values())
        )
        two.load_reference_state(kept)
    # What one saved the other goes on from.
    state = two.optimizer_state()
    inner = [found.get("inner", found) for found in (state, one.optimizer_state())]
    moments = [[m["exp_avg"] for m in found["state"].values()] for found in inner]
    out["moments"] = distance(*moments)
    two.save(Path(sys.argv[1], "saved"))
    third = Engine(
        LlamaForCausalLM.from_pretrained(Path(sys.argv[1], "saved"), dtype=dtype).eval(), **options
    )
    third.reference = one.reference
    third.load_optimizer_state(copy.deepcopy(state))
    third.train_step(ROWS, loss)
    kept = two.reference_state()
    two.start_reinforcement()
    two.load_reference_state(kept)
    two.load(Path(sys.argv[1], "saved"))
    two.load_optimizer_state(state)
    two.train_step(ROWS, loss)
    out["resumed"] = distance([*two.weights(2).tensors.values()], [*third.model.parameters()])
    ranks.share(None)
    return out


if __name__ == "__main__":
    torch.set_num_threads(1)
    ranks = Ranks()
    found = {}
    for name in CASES:
        if ranks.rank == 0:
            found[name] = compare(ranks, name)
        else:
            Measured.of(ranks, **ranks.share(None)).follow()
    if found:
        Path(sys.argv[1], "found.json").write_text(json.dumps(found))
    ranks.leave()
    assert not gloo_threads()
