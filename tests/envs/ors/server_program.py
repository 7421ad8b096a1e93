"""A server of the package openreward, on the port that the first argument gives; runs in a Python that has it."""

import sys

from openreward.environments import Environment, Server, Split, TextBlock, ToolOutput, tool
from pydantic import BaseModel


class Move(BaseModel):
    direction: str
    steps: int = 1


class Corridor(Environment):
    @classmethod
    def list_splits(cls):
        return [Split(name="train", type="train")]

    @classmethod
    def list_tasks(cls, split):
        return [{"seed": number} for number in range(4)]

    def setup(self):
        self.moves = 0

    def get_prompt(self):
        return [TextBlock(text=f"This is task {self.task_spec['seed']}: move twice.")]

    @tool
    async def move(self, params: Move) -> ToolOutput:
        """Move along."""
        self.moves += 1
        over = self.moves == 2
        return ToolOutput(
            blocks=[TextBlock(text=f"moved {params.direction}")],
            reward=1.0 if over else None,
            finished=over,
        )


if __name__ == "__main__":
    Server([Corridor]).run(host="127.0.0.1", port=int(sys.argv[1]))
