"""The OpenAPI document says what the routes of environments answer."""

import json
import re

PATHS = {
    "/v1/envs": {"get"},
    "/v1/envs/{env}": {"get"},
    "/v1/envs/{env}/tasks": {"get"},
    "/v1/sessions": {"get", "post"},
    "/v1/sessions/{sid}": {"get", "delete"},
    "/v1/sessions/{sid}/step": {"post"},
    "/v1/sessions/{sid}/reset": {"post"},
    "/v1/sessions/{sid}/renew": {"post"},
}


def test_the_document_lists_the_routes_and_what_they_answer(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        url = f"/v1/sessions/{sid}"
        heard = [
            ("/v1/envs", await http.get("/v1/envs")),
            ("/v1/envs/{env}", await http.get("/v1/envs/stage/obeys-v0")),
            ("/v1/envs/{env}", await http.get("/v1/envs/stage/none")),
            ("/v1/envs/{env}/tasks", await http.get("/v1/envs/stage/obeys-v0/tasks")),
            ("/v1/envs/{env}/tasks", await http.get("/v1/envs/stage/obeys-v0/tasks?seeds=x")),
            ("/v1/sessions", await http.get("/v1/sessions")),
            ("/v1/sessions", await http.post("/v1/sessions", json={"env": "stage/obeys-v0"})),
            ("/v1/sessions", await http.post("/v1/sessions", json={})),
            ("/v1/sessions/{sid}/step", await stage.step(http, sid, 1, "a")),
            ("/v1/sessions/{sid}/step", await stage.step(http, sid, 2, "fault")),
            ("/v1/sessions/{sid}/step", await stage.step(http, sid, 9, "a")),
            ("/v1/sessions/{sid}/reset", await http.post(f"{url}/reset", json={"seq": 2})),
            ("/v1/sessions/{sid}/renew", await http.post(f"{url}/renew")),
            ("/v1/sessions/{sid}", await http.get(url)),
            ("/v1/sessions/{sid}", await http.delete(url)),
            ("/v1/sessions/{sid}", await http.delete(url)),
        ]
        return (await http.get("/openapi.json")).json(), heard

    document, heard = stage.play(main)
    found = {path: set(ways) for path, ways in document["paths"].items() if path in PATHS}
    assert found == PATHS
    schemas = document["components"]["schemas"]
    refs = re.findall(r'"#/components/schemas/([^"]*)"', json.dumps(document))
    assert set(refs) <= set(schemas)
    for path, answer in heard:
        way = document["paths"][path][answer.request.method.lower()]
        said = way["responses"][str(answer.status_code)]
        if not answer.content:
            assert "content" not in said
            continue
        name = said["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert set(answer.json()) <= set(schemas[name]["properties"]), (path, answer.text)
