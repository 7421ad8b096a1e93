"""Use the gateway through the package anthropic: messages, streams, tools, errors."""

import json
import os

import anthropic

TOOLS = [{"name": "add", "description": "Add.", "input_schema": {"type": "object"}}]
client = anthropic.Anthropic(max_retries=0)
said = [{"role": "user", "content": "hi"}]
found = {"version": anthropic.__version__}

reply = client.messages.create(model="m", max_tokens=300, messages=said, tools=TOOLS)
use = next(block for block in reply.content if block.type == "tool_use")
found["call"] = [use.name, use.input]
found["stop_reason"] = reply.stop_reason
said += [
    {"role": "assistant", "content": [block.model_dump() for block in reply.content]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": use.id, "content": "2"}],
    },
]
with client.messages.stream(model="m", max_tokens=300, messages=said, tools=TOOLS) as stream:
    final = stream.get_final_message()
found["stream_call"] = next([b.name, b.input] for b in final.content if b.type == "tool_use")
with client.messages.stream(model="m", max_tokens=300, messages=said[:1]) as stream:
    found["stream_text"] = "".join(stream.text_stream)
found["tokens"] = client.messages.count_tokens(model="m", messages=said[:1]).input_tokens > 0
own_header = anthropic.Anthropic(
    max_retries=0, default_headers={"X-Api-Key": os.environ["ANTHROPIC_API_KEY"]}
)
found["own_header"] = own_header.messages.create(model="m", max_tokens=300, messages=said[:1]).role
for name, given in (
    ("bad", {"client": client, "messages": []}),
    ("key", {"client": anthropic.Anthropic(api_key="x", max_retries=0)}),
):
    try:
        given.pop("client").messages.create(
            **{"model": "m", "max_tokens": 5, "messages": said[:1], **given}
        )
    except anthropic.APIStatusError as error:
        found[name] = [type(error).__name__, error.status_code]
print(json.dumps(found))
