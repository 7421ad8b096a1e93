"""Records `trace.json` anew: `python tests/envs/tools/record.py`, after a change that alters tasks or keys."""

import json
from pathlib import Path

import verigym

ENV, SEED, DIFFICULTY = "verigym/tools/office-v0", 11, "medium"


def record():
    """Two looks, calls that fail in three ways, the plan, and the end."""
    env = verigym.make(ENV)
    _, info = env.reset(seed=SEED, options={"difficulty": DIFFICULTY})
    plan = [(name, arguments) for name, arguments, _ in env.task.reference["env"]["plan"]]
    calls = [
        ("list_mails", {"folder": "inbox"}),
        ("find_contacts", {}),
        ("send_letter", {"to": "x"}),
        ("read_mail", {"mail": 999}),
        plan[0],
        ("move_mail", {"mail": "two"}),
        *plan[1:],
        ("finish", {}),
    ]
    start, steps = info["state_key"], []
    for name, arguments in calls:
        call = {"name": name, "arguments": arguments}
        observation, reward, terminated, _, info = env.step(json.dumps(call))
        steps.append(
            {
                "call": call,
                "observation": observation,
                "reward": reward,
                "terminated": terminated,
                "valid_action": info["valid_action"],
                "state_key": info["state_key"],
            }
        )
    return {"env": ENV, "seed": SEED, "difficulty": DIFFICULTY, "start": start, "steps": steps}


if __name__ == "__main__":
    path = Path(__file__).with_name("trace.json")
    path.write_text(json.dumps(record(), indent=1) + "\n")
