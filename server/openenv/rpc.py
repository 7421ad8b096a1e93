"""`/mcp`: the tools of an environment, by JSON-RPC over HTTP or a WebSocket, or as steps.

Every environment has two. `reset`, `step`, `state` and `close` are names that OpenEnv keeps for itself.
"""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import msgspec
from pydantic import ValidationError

from verigym.server.body import deeper_than
from verigym.server.duplicates import has_duplicates
from verigym.server.openenv.rooms import Room
from verigym.server.openenv.seat import Seat
from verigym.server.openenv.types import CallTool, Object, RpcRequest, errors_of
from verigym.server.refusals import Refusal

ACT = "act"
LOOK = "look"
_TOOLS: tuple[tuple[str, str, Object], ...] = (
    (
        ACT,
        "Say or do something in the environment; gives what is seen then, and the reward.",
        {
            "type": "object",
            "properties": {"message": {"type": "string"}},
            "required": ["message"],
            "additionalProperties": False,
        },
    ),
    (
        LOOK,
        "See again what was seen last; at the start that is the task. Changes nothing.",
        {"type": "object", "properties": {}, "additionalProperties": False},
    ),
)


_encode = msgspec.json.Encoder().encode


class Code(IntEnum):
    """Errors of JSON-RPC 2.0."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    SERVER_ERROR = -32000


class _Wrong(Exception):
    def __init__(self, code: Code, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def tools(schema: str) -> list[Object]:
    """Return the tools; `schema` is the key of their arguments' schema: OpenEnv has two spellings."""
    return [
        {"name": name, "description": about, schema: arguments} for name, about, arguments in _TOOLS
    ]


def load(text: str | bytes, max_depth: int) -> Any:
    """Decode JSON. Raises ValueError."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if deeper_than(data, max_depth):
        raise ValueError(f"arrays and objects may be nested {max_depth} deep")
    said = json.loads(data)
    if has_duplicates(data):
        raise ValueError("an object must not repeat a key")
    return said


def dump(value: Any) -> bytes:
    """Encode JSON."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, or a long integer
        return json.dumps(value, separators=(",", ":")).encode()


def unreadable(message: str) -> Object:
    """Return the response to text that is not JSON."""
    return _error(_Wrong(Code.PARSE_ERROR, message), None)


def failed(message: str, data: Any) -> Object:
    """Return the response if the service cannot serve."""
    return _error(_Wrong(Code.SERVER_ERROR, message, data), None)


async def answer(room: Room, said: Any, seat: Seat | None = None) -> Object:
    """Answer a request in the session of `seat`, or the one that it names, or a new one."""
    try:
        request = RpcRequest.model_validate(said)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in errors_of(error))
        return _error(_Wrong(Code.INVALID_REQUEST, f"Invalid request: {wrong}"), None)
    try:
        result = await _result(room, request, seat)
    except _Wrong as wrong_:
        return _error(wrong_, request.id)
    except Refusal as refusal:
        return _error(_refused(room, refusal), request.id)
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


async def call(seat: Seat, tool: str, arguments: Object) -> Object:
    """Use a tool and return its answer, like that of a step. Raises KeyError if the tool is unknown,
    ValueError if its arguments are invalid."""
    known = {name: schema["properties"] for name, _, schema in _TOOLS}[tool]
    for name in arguments:
        if name not in known:
            raise ValueError(f"{tool} takes no argument {name!r}")
    if tool == LOOK:
        return seat.look()
    message = arguments.get("message")
    if not isinstance(message, str):
        raise ValueError(f"{tool} needs the argument message, a string")
    return await seat.act(message)


def told(answer: Object) -> Object:
    """Return a tool's result in MCP's format."""
    data = {name: value for name, value in answer.items() if name != "observation"}
    data["message"] = answer["observation"]["message"]
    return {
        "content": [{"type": "text", "text": data["message"]}],
        "structured_content": data,
        "meta": None,
        "data": data,
        "is_error": False,
    }


async def as_step(seat: Seat, action: CallTool) -> Object:
    """Use a tool as a step: OpenEnv has its own errors for that."""
    result: Object | None = None
    error: Object | None = None
    rest: Object = {"reward": None, "done": False, "metadata": {}}
    try:
        answer = await call(seat, action.tool_name, action.arguments)
    except KeyError:
        error = {"error_type": "tool_not_found", "message": f"Tool not found: {action.tool_name}"}
    except ValueError as wrong:
        error = {"error_type": "invalid_args", "message": str(wrong)}
    except Refusal as refusal:
        error = {"error_type": "execution_error", "message": refusal.message}
    else:
        result = told(answer)
        rest = {name: answer[name] for name in rest}
    seen = {
        "metadata": rest["metadata"],
        "tool_name": action.tool_name,
        "result": result,
        "error": error,
    }
    return {"observation": seen, **rest}


async def _result(room: Room, request: RpcRequest, seat: Seat | None) -> Object:
    match request.method:
        case "openenv/session/create":
            seat = seat or await room.take()
            return {"session_id": seat.session.id}
        case "openenv/session/close":
            return _close(room, request.params.get("session_id"), seat)
        case "tools/list":
            _named(room, request.params, seat)
            return {"tools": tools("inputSchema")}
        case "tools/call":
            return await _call(room, request.params, seat)
    raise _Wrong(Code.METHOD_NOT_FOUND, f"Method not found: {request.method}")


def _close(room: Room, session: Any, seat: Seat | None) -> Object:
    if not isinstance(session, str) or not session:
        raise _Wrong(Code.INVALID_PARAMS, "Invalid params - 'session_id' is required")
    if seat is not None and seat.session.id == session:
        message = "Cannot close active WebSocket-managed session via MCP method"
        raise _Wrong(Code.INVALID_REQUEST, message)
    try:
        ended = room.end(session)
    except Refusal:
        raise _Wrong(Code.INVALID_PARAMS, f"Unknown session_id: {session}") from None
    return {"session_id": session, "closed": ended, **({} if ended else {"closing": True})}


async def _call(room: Room, params: Object, seat: Seat | None) -> Object:
    tool, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(tool, str) or not tool:
        raise _Wrong(Code.INVALID_PARAMS, "Missing 'name' in params")
    if not isinstance(arguments, dict):
        raise _Wrong(Code.INVALID_PARAMS, "'arguments' must be an object")
    seat = _named(room, params, seat)
    passing = None
    if seat is None:
        seat = passing = await room.take()
    try:
        return told(await call(seat, tool, arguments))
    except KeyError:
        raise _Wrong(Code.INVALID_PARAMS, f"Tool not found: {tool}") from None
    except ValueError as wrong:
        raise _Wrong(Code.INVALID_PARAMS, str(wrong)) from None
    finally:
        if passing is not None:
            passing.leave()


def _named(room: Room, params: Object, seat: Seat | None) -> Seat | None:
    """Return the seat at the session that `params` name, if the socket has none of its own."""
    session = params.get("session_id")
    if seat is not None or session is None:
        return seat
    try:
        return room.seat(str(session))
    except Refusal:
        raise _Wrong(Code.INVALID_PARAMS, f"Unknown session_id: {session}") from None


def _refused(room: Room, refusal: Refusal) -> _Wrong:
    if refusal.status == 429:
        return _Wrong(Code.SERVER_ERROR, refusal.message, room.capacity())
    return _Wrong(Code.INTERNAL_ERROR, refusal.message)


def _error(wrong: _Wrong, id: str | int | None) -> Object:
    error = {"code": int(wrong.code), "message": str(wrong), "data": wrong.data}
    return {"jsonrpc": "2.0", "id": id, "error": error}
