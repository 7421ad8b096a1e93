"""Print the text of a stream of the package anthropic as it arrives, one piece a line."""

import json

import anthropic

client = anthropic.Anthropic(max_retries=0)
said = [{"role": "user", "content": "hi"}]
with client.messages.stream(model="m", max_tokens=300, messages=said) as stream:
    for text in stream.text_stream:
        print(json.dumps(text), flush=True)
    assert stream.get_final_message().stop_reason == "end_turn"
print(json.dumps(None), flush=True)
