"""schemathesis asks the real service what its OpenAPI document says may be asked, and what may not.

Every route with good and with bad data: no 5xx, no status, type or body that is not in the document.
"""

import json
import subprocess
import sys
import urllib.request

import pytest

from verigym.server.process import ServerProcess

CHECKS = (
    *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
    *("response_schema_conformance",),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A service of everything."""
    log = tmp_path_factory.mktemp("log") / "log"
    options = ("--sandbox", "--sandbox-max-wall-s", "5", "--envs", "*", "--session-lease-s", "5")
    with (
        open(log, "wb") as file,
        ServerProcess(workers=2, timeout_s=5.0, options=options, log=file) as server,
    ):
        yield server
        assert server.stop() == 0
    assert b"Traceback" not in log.read_bytes()


def assert_conforms(url, *options):
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "schemathesis.cli", "run", f"{url}/openapi.json"),
            *("--checks", ",".join(CHECKS), "--suppress-health-check", "all", "--no-color"),
            *("--generation-deterministic", "--no-shrink", "--continue-on-failure"),
            *("--request-timeout", "60", "--warnings", "off", *options),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.slow
def test_a_few_requests_to_every_route(whole):
    assert_conforms(whole.url, "--phases", "fuzzing", "-n", "6")


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_edges_of_every_route(whole):
    assert_conforms(whole.url, "--phases", "examples,coverage", "--max-time", "600")


@pytest.mark.slow
def test_every_status_has_its_meaning_and_its_schema(whole):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{whole.url}/openapi.json") as answer:
        document = json.load(answer)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
            statuses = operation["responses"]
            assert {"400", "401", "403", "422", "429", "500", "503"} <= set(statuses), (
                method,
                path,
            )
            for status, said in statuses.items():
                assert said["description"]
                if int(status) >= 400:
                    schema = said["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Error"}, (method, path, status)
