"""Print the text of a stream of the package openai as it arrives, one piece a line; `chat` or `responses`."""

import json
import sys

import openai

client = openai.OpenAI(max_retries=0)
if sys.argv[1] == "chat":
    for chunk in client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "hi"}], stream=True
    ):
        if chunk.choices and chunk.choices[0].delta.content:
            print(json.dumps(chunk.choices[0].delta.content), flush=True)
else:
    with client.responses.stream(model="m", input="hi") as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                print(json.dumps(event.delta), flush=True)
        assert stream.get_final_response().output_text
print(json.dumps(None), flush=True)
