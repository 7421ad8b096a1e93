"""Evaluates the oracle's replies with the real Inspect; prints scores and the number of messages of each sample.

python with_inspect.py < {"envs": [...], "n": ..., "replies": {first prompt: [reply, ...]}, "options": {...}}
"""

import importlib.metadata
import json
import sys

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi

from verigym.trainers.exports.inspect_ai import verigym_task

GIVEN = json.load(sys.stdin)


@modelapi("recorded")
class Recorded(ModelAPI):
    """Replies as recorded, by the first message and the number of replies so far.

    Inspect's own mock counts tokens with a file that it downloads.
    """

    async def generate(self, input, tools, tool_choice, config):
        turn = sum(message.role == "assistant" for message in input)
        return ModelOutput.from_content("recorded/m", GIVEN["replies"][input[0].text][turn])


def run():
    asked = {name: GIVEN[name] for name in ("envs", "n", "seed", "difficulty", "options")}
    (log,) = evaluate(
        verigym_task(**asked, split="train"),
        model=get_model("recorded/m"),
        display="none",
        log_dir="logs",
    )
    assert log.status == "success", log.error
    (scores,) = log.results.scores
    samples = []
    for sample in log.samples:
        score = sample.scores["outcome"]
        samples.append(
            {
                "id": sample.id,
                "value": None if score.value != score.value else score.value,
                "digest": score.metadata["digest"],
                "reason": score.reason,
                "shown": [message.text for message in sample.messages],
            }
        )
    return {
        "mean": scores.metrics["mean"].value,
        "unscored": scores.unscored_samples,
        "samples": samples,
    }


found = {"play": run(), "version": importlib.metadata.version("inspect-ai")}
print(json.dumps(found))
