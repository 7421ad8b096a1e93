"""The agent of mini-swe-agent, which runs the model's commands in a shell, through the gateway."""

import json
import os

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

model = LitellmModel(
    model_name="openai/m",
    model_kwargs={
        "api_base": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ["OPENAI_API_KEY"],
    },
    cost_tracking="ignore_errors",
)
agent = DefaultAgent(
    model,
    LocalEnvironment(cwd=os.environ["TMPDIR"]),
    system_template="You run commands.",
    instance_template="{{task}}",
    step_limit=3,
    cost_limit=0,
)
found = agent.run("Say hello.")
print(json.dumps({"found": found, "roles": [message.get("role") for message in agent.messages]}))
