"""Plays traces on Verigym's server with openreward's client; prints what it saw, one line of JSON.

python with_ors.py URL < [{"row": {...}, "actions": [...]}, ...]
"""

import json
import os
import sys

from openreward import OpenReward
from openreward.api.environments.client import Task


def play(client, url, row, actions):
    """Return the prompt and, for each call, observation, reward, end and digest."""
    name = row["env"].removeprefix("verigym/").replace("/", "-")
    env = client.environments.get(name="verigym", variant=name, base_url=url)
    spec = {key: row[key] for key in ("seed", "split", "difficulty")}
    task = Task(server_name="verigym", environment_name=name, task_spec=spec, namespace=None)
    steps = []
    with env.session(task=task) as session:
        (prompt,) = session.get_prompt()
        for action in actions:
            output = session.call_tool("act", {"action": action})
            verdict = output.metadata.get("verdict")
            digest = verdict["digest"] if verdict else None
            steps.append([output.blocks[0].text, output.reward, output.finished, digest])
    return {"first": prompt.text, "steps": steps}


def main():
    url = sys.argv[1]
    os.environ.update(
        OPENREWARD_SESSION_URL=url, OPENREWARD_API_URL=url, OPENREWARD_DISABLE_UPDATE_CHECK="1"
    )
    client = OpenReward(base_url=url, api_key="none")
    print(json.dumps([play(client, url, **one) for one in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
