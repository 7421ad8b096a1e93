"""OpenEnv's wire format as pydantic types; their errors and JSON Schemas are part of it.

Names and limits of the fields are OpenEnv's; those of `Action`, `Observation` and `State` beyond its
base classes are this project's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    ValidationError,
    WrapValidator,
)

Object = dict[str, Any]


def _any_text(value: Any, check: Callable[[Any], str]) -> str:
    # Half a pair of surrogates is no text to pydantic; to an environment it is an invalid move.
    return value if isinstance(value, str) else check(value)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Action(_Strict):
    """One turn of the agent: any text; text that the environment cannot use is an invalid move."""

    metadata: Object = Field(default_factory=dict, description="Not used")
    message: Annotated[str, WrapValidator(_any_text)] = Field(
        description="What the agent says or does"
    )


class ListTools(_Strict):
    """Action that lists the tools."""

    metadata: Object = Field(default_factory=dict)
    type: Literal["list_tools"]


class CallTool(_Strict):
    """Action that uses a tool."""

    metadata: Object = Field(default_factory=dict)
    type: Literal["call_tool"]
    tool_name: str
    arguments: Object = Field(default_factory=dict)


class Observation(_Strict):
    """Observation of the agent. `reward` is null if nothing happened; `metadata["fault"]` then gives the
    cause, and the same action may be sent again."""

    done: bool = Field(default=False, description="Whether the episode has ended")
    reward: float | None = Field(default=None, description="The verdict's score, or 0")
    metadata: Object = Field(
        default_factory=dict,
        description="terminated, truncated, task_id, state_key, valid_action, legal_actions, "
        "verdict; or fault",
    )
    message: str = Field(description="The prompt after a reset, then what the agent sees")


class State(_Open):
    """Progress of the episode."""

    episode_id: str | None = Field(default=None, description="As given to reset, or drawn")
    step_count: int = Field(default=0, ge=0, description="Actions since the reset")
    env_id: str | None = Field(default=None, description="The environment's full id")
    task_id: str | None = Field(default=None, description="The task being played")
    state_key: str | None = Field(
        default=None, description="Digest of the true state, without history"
    )


Seed = Annotated[int, Field(ge=0, lt=2**63)]


class Reset(_Open):
    """Choice of the task to play; unknown fields are ignored."""

    seed: Seed | None = None
    episode_id: Annotated[str, Field(max_length=255)] | None = None
    split: str | None = None
    index: Seed | None = None
    """Index of a task in the task API, which is its seed."""
    difficulty: StrictInt | str | None = None


class StepRequest(_Open):
    """A step over HTTP, without a session: in a new environment, reset with `seed` and the options."""

    action: Object
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    request_id: Annotated[str, Field(max_length=255)] | None = None


class ResetMessage(_Strict):
    type: Literal["reset"] = "reset"
    data: Object = Field(default_factory=dict)


class StepMessage(_Strict):
    type: Literal["step"] = "step"
    data: Object


class StateMessage(_Strict):
    type: Literal["state"] = "state"


class CloseMessage(_Strict):
    type: Literal["close"] = "close"


class McpMessage(_Strict):
    type: Literal["mcp"] = "mcp"
    data: Object


class Split(_Strict):
    split: str


class TaskIndex(Split):
    index: int


class TaskRange(Split):
    start: int | None = None
    stop: int | None = None


class RpcRequest(_Strict):
    """JSON-RPC 2.0."""

    jsonrpc: Literal["2.0"]
    method: str
    params: Object = Field(default_factory=dict)
    id: str | int | None = None


def errors_of(error: ValidationError) -> list[Object]:
    """Return the type, path and message of each error, without the input."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [{"type": one["type"], "loc": list(one["loc"]), "msg": one["msg"]} for one in found]
