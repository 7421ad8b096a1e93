"""Use the gateway through litellm: its routes to OpenAI's, vLLM's and Anthropic's servers."""

import json
import os

import litellm

litellm.suppress_debug_info = True
openai_url, anthropic_url = os.environ["OPENAI_BASE_URL"], os.environ["ANTHROPIC_BASE_URL"]
key = os.environ["OPENAI_API_KEY"]
said = [{"role": "user", "content": "hi"}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
]
found = {}
for route, url in (
    ("openai", openai_url),
    ("hosted_vllm", openai_url),
    ("anthropic", anthropic_url),
):
    options = {"model": f"{route}/m", "api_base": url, "api_key": key, "num_retries": 0}
    reply = litellm.completion(messages=said, tools=TOOLS, **options)
    found[route] = reply.choices[0].message.tool_calls[0].function.name
    found[f"{route}_stream"] = "".join(
        chunk.choices[0].delta.content or ""
        for chunk in litellm.completion(messages=said, stream=True, **options)
        if chunk.choices
    )
answer = litellm.responses(model="openai/m", api_base=openai_url, api_key=key, input="hi")
found["responses"] = answer.output[-1].content[0].text
print(json.dumps(found))
