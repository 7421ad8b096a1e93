"""Trains a tiny model by TRL's own OpenRewardSpec on Verigym's server; prints what it saw as one line of JSON.

python with_trl_ors.py URL FOLDER < {"plays": [[INDEX, [ACTION, ...]], ...], "reward": SNIPPET}

TRL's tool loop plays one group for each entry of `plays`. The model cannot call tools, so two members are given theirs: one
plays the actions, one plays "nonsense" and says no more. The other two say what the model says. Then episodes of an environment with faults are rewarded, by TRL and by the snippet.
"""

import json
import os
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template
from trl.experimental.openreward import OpenRewardSpec

from verigym.trainers import tiny

MARKS = ["<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<think>", "</think>"]


def model_that_trl_can_parse(folder):
    """Return a tiny model and its tokenizer, with the template and marks of Qwen3."""
    path = tiny.build(folder, seed=1, words=("on", "off"))
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.chat_template = qwen3_chat_template
    tokenizer.add_special_tokens({"additional_special_tokens": [*MARKS, "<tool_response>"]})
    tokenizer.eos_token = "<|im_end|>"
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    model.resize_token_embeddings(len(tokenizer))
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    return model, tokenizer


def give_calls(trainer, tokenizer, plays):
    """Put calls of `act` in place of replies of each group's first two members."""
    generate = trainer._generate_single_turn
    groups = iter(plays)
    left = []

    def given(prompt_ids, *rest, **more):
        made, logprobs = generate(prompt_ids, *rest, **more)
        said = []
        if (
            len(made) == trainer.num_generations
        ):  # a new group; afterwards only who called is asked again
            left[:] = next(groups)[1]
            said = [left.pop(0), "nonsense"]
        elif left:
            said = [left.pop(0)]
        for i, action in enumerate(said):
            made[i] = call_of(tokenizer, action)
            if logprobs is not None:
                logprobs[i] = [-1.0] * len(made[i])
        return made, logprobs

    trainer._generate_single_turn = given


def call_of(tokenizer, action):
    """Return the tokens of a call of the environment's tool."""
    call = json.dumps({"name": "act", "arguments": {"action": action}})
    text = f"<tool_call>\n{call}\n</tool_call><|im_end|>"
    return tokenizer(text, add_special_tokens=False).input_ids


def main():
    url, folder = sys.argv[1], Path(sys.argv[2])
    # Else the client asks hosts named `sessions.` and `api.` before the server's own name, and PyPI for updates.
    os.environ.update(
        OPENREWARD_SESSION_URL=url, OPENREWARD_API_URL=url, OPENREWARD_DISABLE_UPDATE_CHECK="1"
    )
    torch.set_num_threads(1)
    given = json.load(sys.stdin)
    found = {
        "trained": train(url, folder, given["plays"]),
        "rewarded": reward(url, given["reward"]),
    }
    print(json.dumps(found))


def reward(url, snippet):
    """Return what TRL and the snippet pay for episodes of an environment with faults."""
    defined = {}
    exec(snippet, defined)
    spec = OpenRewardSpec(url, env_name="stage-obeys-v0", indices=[0])
    played = []
    for actions in (["3", "4", "end"], ["4", "fault", "3"], ["fault"], []):
        one = spec.environment_factory()
        one.reset(task_index=0)
        for action in actions:
            one.act(action)
        played.append(one)
    found = {"trl": spec.reward_funcs(played), "snippet": defined["rewards"](played)}
    for one in played:
        one._close()
    return found


def train(url, folder, plays):
    """Return what a step of training for each of `plays` saw."""
    spec = OpenRewardSpec(url, env_name="games-lights-v0", indices=[index for index, _ in plays])
    model, tokenizer = model_that_trl_can_parse(folder / "model")
    groups = []

    def watched(environments, **given):
        rewards = spec.reward_funcs(environments, **given)
        outputs = [one.last_output for one in environments]
        groups.append({"rewards": rewards, "outputs": outputs})
        return rewards

    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=GRPOConfig(
            output_dir=str(folder / "out"),
            use_cpu=True,
            bf16=False,
            max_steps=len(plays),
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=512,
            max_tool_calling_iterations=8,
            learning_rate=1e-2,
            report_to=[],
            save_strategy="no",
            logging_steps=1,
            disable_tqdm=True,
            shuffle_dataset=False,
            seed=1,
        ),
        train_dataset=spec.train_dataset,
        environment_factory=spec.environment_factory,
        reward_funcs=watched,
    )
    give_calls(trainer, tokenizer, plays)
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    trainer.train()
    pairs = zip(before, trainer.model.parameters(), strict=True)
    return {
        "tools": [tool.__name__ for tool in trainer.tools],
        "steps": trainer.state.global_step,
        "groups": groups,
        "change": max(float((old - new).detach().abs().max()) for old, new in pairs),
    }


if __name__ == "__main__":
    main()
