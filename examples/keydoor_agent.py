"""An agent program for `[harness]`: it plays a game over HTTP, and asks any OpenAI-compatible model for its moves.

It has no code of Verigym's: the addresses come from the variables that such programs read.
"""

import json
import os
import urllib.request

import openai

GAME = os.environ["VERIGYM_ENV_URL"]


def ask_game(move=None):
    """Return the game's state, after a move if there is one."""
    headers = {"x-api-key": os.environ["OPENAI_API_KEY"]}
    data = None if move is None else json.dumps({"action": move}).encode()
    with urllib.request.urlopen(urllib.request.Request(GAME, data, headers)) as answer:
        return json.load(answer)


def main():
    """Play until the game is over."""
    client = openai.OpenAI()
    state = ask_game()
    while not state["done"]:
        question = f"{state['observation']}\nLegal actions: {', '.join(state['legal_actions'])}"
        reply = client.chat.completions.create(
            model=os.environ["OPENAI_MODEL"], messages=[{"role": "user", "content": question}]
        )
        state = ask_game(reply.choices[0].message.content)


if __name__ == "__main__":
    main()
