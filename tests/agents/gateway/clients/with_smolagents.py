"""An agent of smolagents that calls its tool through the gateway."""

import json
import os

from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def add(a: int) -> int:
    """Add one.

    Args:
        a: The number.
    """
    return a + 1


model = OpenAIServerModel(
    model_id="m", api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"]
)
agent = ToolCallingAgent(tools=[add], model=model, max_steps=3, verbosity_level=0)
print(json.dumps({"answer": str(agent.run("Add one to 1."))}))
