"""Use the gateway through the package openai: chat, responses, streams, tools, errors."""

import json

import openai

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add.",
            "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
        },
    }
]
FLAT = [{"type": "function", **TOOLS[0]["function"], "strict": False}]
client = openai.OpenAI(max_retries=0)
said = [{"role": "user", "content": "hi"}]
found = {"version": openai.__version__}

reply = client.chat.completions.create(model="m", messages=said, tools=TOOLS, logprobs=True)
call = reply.choices[0].message.tool_calls[0]
found["chat_call"] = [call.function.name, json.loads(call.function.arguments)]
found["logprobs"] = len(reply.choices[0].logprobs.content) == reply.usage.completion_tokens
said += [
    reply.choices[0].message.model_dump(exclude_none=True),
    {"role": "tool", "tool_call_id": call.id, "content": "2"},
]
chunks = list(
    client.chat.completions.create(
        model="m", messages=said, tools=TOOLS, stream=True, stream_options={"include_usage": True}
    )
)
calls = [
    c.choices[0].delta.tool_calls for c in chunks if c.choices and c.choices[0].delta.tool_calls
]
found["chat_stream_call"] = [calls[0][0].function.name, json.loads(calls[0][0].function.arguments)]
found["chat_stream_usage"] = chunks[-1].usage.total_tokens > 0
found["chat_stream_text"] = "".join(
    c.choices[0].delta.content or ""
    for c in client.chat.completions.create(model="m", messages=said[:1], stream=True)
    if c.choices
)

answer = client.responses.create(model="m", input="hi", tools=FLAT)
item = next(item for item in answer.output if item.type == "function_call")
found["responses_call"] = [item.name, json.loads(item.arguments)]
after = client.responses.create(
    model="m",
    previous_response_id=answer.id,
    tools=FLAT,
    input=[{"type": "function_call_output", "call_id": item.call_id, "output": "2"}],
)
found["responses_status"] = after.status
with client.responses.stream(model="m", input="hi") as stream:
    events = [event.type for event in stream]
    found["responses_stream_text"] = stream.get_final_response().output_text
found["responses_stream_events"] = events[0], events[-1]
found["models"] = [model.id for model in client.models.list()]
for name, given in (
    ("bad", {"client": client, "n": 2}),
    ("key", {"client": openai.OpenAI(api_key="wrong", max_retries=0)}),
):
    try:
        given.pop("client").chat.completions.create(model="m", messages=said[:1], **given)
    except openai.APIStatusError as error:
        found[name] = [type(error).__name__, error.status_code]
print(json.dumps(found))
