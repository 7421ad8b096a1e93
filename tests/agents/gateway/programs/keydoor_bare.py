"""An agent program without any package: it plays a game over HTTP by asking a chat API for each move."""

import json
import os
import urllib.request


def post(url, data=None):
    """Return the JSON that `url` answers."""
    headers = {
        "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
        "Content-Type": "application/json",
    }
    body = None if data is None else json.dumps(data).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)


game, model = os.environ["VERIGYM_ENV_URL"], os.environ["OPENAI_BASE_URL"] + "/chat/completions"
state = post(game)
while not state["done"]:
    question = state["observation"] + "\nLegal actions: " + ", ".join(state["legal_actions"])
    reply = post(model, {"model": "m", "messages": [{"role": "user", "content": question}]})
    state = post(game, {"action": reply["choices"][0]["message"]["content"]})
