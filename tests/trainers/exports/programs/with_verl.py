"""Runs the reward function, the agent loop and the trainer's credit in the real verl, without a rollout engine.

python with_verl.py < {"traces": [{"row": {...}, "actions": [...]}, ...], "graded": [...], "away": {...}, "uids": [...]}
"""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["VERL_USE_EXTERNAL_MODULES"] = (
    "verigym.trainers.exports.verl,verigym.trainers.exports.verl_credit"
)
os.environ["RAY_AUTH_MODE"] = "disabled"

import hydra
import numpy as np
import ray
import torch
import transfer_queue as tq
import verl
from omegaconf import OmegaConf
from transfer_queue import KVBatchMeta
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import (
    DictConfigWrap,
    ToolListWrap,
    _agent_loop_registry,
)
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.trainer.ppo.v1 import get_trainer_cls
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer
from verl.utils.tensordict_utils import list_of_dict_to_tensordict
from verl.workers.rollout.replica import TokenOutput

from verigym.errors import RequestError
from verigym.trainers.tiny import build_tokenizer
from verigym.verdict import VerifierFault

GIVEN = json.load(sys.stdin)
# verl has imported both.
ours = sys.modules["verigym.trainers.exports.verl"]
credit = sys.modules["verigym.trainers.exports.verl_credit"]
TOKENIZER = build_tokenizer()
CONFIG = "_generated_ppo_trainer.yaml"  # of verl, composed
SETTINGS = {
    "reward": {
        "custom_reward_function": {
            "path": "pkg://verigym.trainers.exports.verl",
            "name": "compute_score",
        }
    },
    "actor_rollout_ref": {"rollout": {"prompt_length": 1 << 16, "response_length": 1 << 20}},
    "data": {},
}


def encode(text):
    return [*TOKENIZER.encode(text, add_special_tokens=False), TOKENIZER.eos_token_id]


class Recorded:
    """Stands in for verl's servers: it gives the actions of one episode in turn."""

    def __init__(self, actions):
        self.actions, self.prompts = list(actions), []

    async def generate(self, *, request_id, prompt_ids, sampling_params):
        ids = encode(self.actions.pop(0))
        self.prompts.append(prompt_ids)
        version = {"min_global_steps": len(self.prompts), "max_global_steps": len(self.prompts)}
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), extra_fields=version)


async def play(row, actions, **rollout):
    """Return the episode that the registered loop makes, instantiated as verl's worker does."""
    config = OmegaConf.merge(SETTINGS, {"actor_rollout_ref": {"rollout": rollout}})
    loop = hydra.utils.instantiate(
        config=_agent_loop_registry["verigym"],
        trainer_config=DictConfigWrap(config=config),
        server_manager=Recorded(actions),
        tokenizer=TOKENIZER,
        processor=None,
        hf_model_type="llama",
        dataset_cls=None,
        data_config=DictConfigWrap(config.data),
        tools=ToolListWrap([]),
    )
    return await loop.run({"temperature": 1.0}, extra_info=row, raw_prompt=[], uid="u", index=0)


def shown(output):
    plain = output.as_dict()
    fields = plain["extra_fields"]
    return {
        "prompt_ids": output.prompt_ids,
        "response_ids": output.response_ids,
        "mask": output.response_mask,
        "reward": output.reward_score,
        "rewards": fields["turn_scores"],
        "rm_scores": float(plain["rm_scores"].sum()),
        "at_ends": [float(plain["rm_scores"][end]) for end in fields["turn_ends"]],
        "digest": fields["verdict"] and fields["verdict"]["digest"],
        "state_keys": fields["state_keys"],
        "versions": [fields["min_global_steps"], fields["max_global_steps"]],
        "logprob": sum(output.response_logprobs),
    }


def score(row, reply):
    """Return what verl's own reward manager makes of a reply."""
    (line,) = ours.dataset_rows(row["env"], n=1, seed=row["seed"])
    assert line["extra_info"] == row
    ids = encode(reply)
    mask = torch.ones(1, len(ids) + 1, dtype=torch.int64)
    columns = {name: np.array([line[name]]) for name in ("data_source", "reward_model")}
    columns["extra_info"] = np.array([dict(row)], dtype=object)
    data = DataProto.from_dict(
        tensors={
            "prompts": torch.ones(1, 1, dtype=torch.int64),
            "responses": torch.tensor([ids]),
            "attention_mask": mask,
        },
        non_tensors=columns,
    )

    async def run():
        function = get_custom_reward_fn(OmegaConf.create(SETTINGS))
        return await NaiveRewardManager(None, TOKENIZER, function).run_single(data)

    found = asyncio.run(run())
    return [found["reward_score"], found["reward_extra_info"]["digest"]]


def raises(function, *given, **named):
    try:
        made = function(*given, **named)
        asyncio.run(made) if asyncio.iscoroutine(made) else None
    except VerifierFault as error:
        return error.verdict.reason
    except RequestError as error:
        return str(error)
    return None


def train(outputs, uids):
    """Return the advantages that the trainer writes for episodes, and a row of padding, through the transfer queue."""
    tq.init()
    fields = []
    for uid, output in zip(uids, outputs, strict=True):
        # As verl's worker for the queue does.
        field = output.as_dict()
        field |= {"uid": uid, "old_log_probs": field["rollout_log_probs"]}
        fields.append(field)
    padding = dict(fields[0])
    tensors = ("response_mask", "rm_scores", "rollout_log_probs", "old_log_probs")
    for name in tensors:
        padding[name] = torch.zeros_like(fields[0][name][:1])
    padding["responses"] = fields[0]["responses"][:1]
    fields.append(padding)
    keys = [f"{uid}_{i}_0" for i, uid in enumerate([*uids, "pad"])]
    kept = ("uid", "extra_fields", "responses", *tensors)
    rows = list_of_dict_to_tensordict([{name: field[name] for name in kept} for field in fields])
    tags = [{"status": "success"}] * len(keys)
    tq.kv_batch_put(keys=keys, partition_id="train", fields=rows, tags=tags)
    config = OmegaConf.load(Path(verl.__file__).parent / "trainer/config" / CONFIG)
    config.trainer.v1.trainer_mode = "verigym"
    config.actor_rollout_ref.rollout.n = len(uids)
    config.algorithm.adv_estimator = "grpo"
    config.verigym = {"name": "gigpo", "options": {"omega": 0.5}}
    trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config)
    assert (trainer.trainer_mode, type(trainer.replay_buffer)) == ("sync", ReplayBuffer)
    batch = KVBatchMeta(partition_id="train", keys=keys, tags=tags)
    trainer._compute_advantage(batch, {})
    found = tq.kv_batch_get(keys=keys, partition_id="train", select_fields=["advantages"])
    return [row.tolist() for row in found["advantages"].unbind()]


def main():
    with contextlib.redirect_stdout(sys.stderr):
        traces = GIVEN["traces"]
        outputs = [asyncio.run(play(**one)) for one in traces]
        found = {
            "loop": [shown(output) for output in outputs],
            "scores": [score(one["row"], one["actions"][0]) for one in GIVEN.get("graded", ())],
        }
        if away := GIVEN.get("away"):
            found["faults"] = [
                raises(ours.compute_score, "x", "7", "", away, retries=0),
                raises(play, away, ["7"]),
            ]
            one = traces[0]
            none = torch.zeros(1, 1)
            found["refused"] = raises(credit.turn_advantages, none, none, ["a"], [{}], name="ppo")
            found["long"] = raises(play, one["row"], one["actions"], prompt_length=3)
            cut = asyncio.run(play(one["row"], one["actions"], response_length=12))
            found["cut"] = [len(cut.response_ids), cut.reward_score, cut.extra_fields["cut"]]
            # The path of a socket is short.
            with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
                ray.init(
                    num_cpus=4,
                    include_dashboard=False,
                    _node_ip_address="127.0.0.1",
                    _temp_dir=folder,
                )
                try:
                    found["advantages"] = train(outputs, GIVEN["uids"])
                finally:
                    ray.shutdown()
            found["ends"] = [output.extra_fields["turn_ends"] for output in outputs]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
