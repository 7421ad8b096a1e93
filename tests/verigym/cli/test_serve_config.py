"""`verigym serve --config`: options from a file."""

import json
import subprocess
import sys

import pytest
import typer

from verigym.cli.serve import serve
from verigym.client import Client
from verigym.errors import ConfigError, RequestError

SERVE = [sys.executable, "-P", "-m", "verigym", "serve", "--config"]


@pytest.mark.slow
def test_a_file_gives_the_options_and_the_command_line_wins(tmp_path):
    config = tmp_path / "serve.toml"
    config.write_text(
        'port = 1\nworkers = 1\nverifiers = "math/countdown"\nenvs = ["none"]\nsandbox = true\n'
    )
    with subprocess.Popen(
        [*SERVE, str(config), "--port", "0", "--no-sandbox", "--json", "--until-stdin-closes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        url = json.loads(process.stdout.readline())["url"]
        client = Client(url)
        assert [info.id for info in client.verifiers()] == ["math/countdown"]
        with pytest.raises(RequestError):
            client.envs()
        client.close()
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("prot = 1", "no setting is called 'prot'; did you mean 'port'"),
        ('port = "x"', "port must be a whole number, .* got 'x'"),
        ("port = 65536", "port must be at least 0 and at most 65535, got 65536"),
        ("max_sessions = true", "max_sessions must be a whole number, above 0, got True"),
        ("drain_s = nan", "drain_s must be above 0, got nan"),
        ("sandbox = 1", "sandbox must be true or false, got 1"),
        ("verifiers = [1]", r"verifiers must be a list, got \[1\]"),
        ('log_level = "loud"', "log_level must be one of 'debug', "),
        ('sql_engine = ["a=postgresql://h", "a=postgresql://i"]', "each name once"),
        ("config = 'other.toml'", "no setting is called 'config'"),
        ("port = ", "serve.toml"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, complaint):
    app = typer.Typer()
    app.command()(serve)
    config = tmp_path / "serve.toml"
    config.write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        app(["--config", str(config)], standalone_mode=False)


def test_a_missing_file_is_refused(tmp_path):
    done = subprocess.run(
        [*SERVE, str(tmp_path / "none.toml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "none.toml" in done.stderr
    assert "Traceback" not in done.stderr
