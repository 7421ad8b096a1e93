"""Options of `verigym serve` and keys of its file, derived from `ServerSettings`."""

import os

import pytest

from verigym.errors import ConfigError
from verigym.server.options import entries, read_settings
from verigym.server.settings import ServerSettings

VALUES = {str: "text", int: 7, float: 7.5, bool: True, list[str]: ["one=two"]}
REAL = {
    "host": "localhost",
    "log_format": "json",
    "log_level": "error",
    "key_env": "MADE_KEY",
    "timeout_s": 5.5,
    "max_timeout_s": 99.5,
    "max_queue": 2000,
}


@pytest.fixture(autouse=True)
def variable(monkeypatch):
    monkeypatch.setenv("MADE_KEY", "k")


@pytest.mark.parametrize("name", entries())
def test_every_setting_is_an_option_and_a_key(name, tmp_path):
    entry = entries()[name]
    assert entry.help.endswith(".")
    value = REAL.get(name, VALUES[entry.given])
    others = {"cert": "tls_key", "key": "tls_cert"}.get(name.removeprefix("tls_"))
    given = {name: value} | ({others: "text"} if others else {})
    if name == "sql_engine":
        given = {name: ["one=postgresql://host"]}
    wanted = read_settings(given)
    os.environ["MADE_KEY"] = "k"
    assert getattr(wanted, entry.field) != getattr(read_settings({}), entry.field)
    file = tmp_path / "serve.toml"
    file.write_text("".join(f"{key} = {toml(one)}\n" for key, one in given.items()))
    assert read_settings({}, file) == wanted


def toml(value):
    return str(value).lower() if isinstance(value, bool) else repr(value)


def test_options_replace_the_values_of_the_file(tmp_path):
    file = tmp_path / "serve.toml"
    file.write_text(
        'verifiers = "math,sql"\nport = 1\nsandbox = true\n[sql_engine]\na = "postgresql://h"\n'
    )
    made = read_settings({"verifiers": ["qa", "text/*"], "sandbox": False, "port": 0}, file)
    assert (made.verifiers, made.port, made.sandbox) == (("qa", "text/*"), 0, False)
    assert made.sql_engines == {"a": "postgresql://h"}
    assert made.envs == ("*",)


def test_a_wrong_option_is_named_as_it_was_given():
    with pytest.raises(ConfigError, match="--session-lease-s must be above 0, got -1"):
        read_settings({"session_lease_s": -1.0})
    with pytest.raises(ConfigError, match="sandbox_max_memory_mib must be at most"):
        ServerSettings(sandbox_max_memory_mib=1 << 60)
    with pytest.raises(ConfigError, match="max_sockets must be a whole number, above 0, got '5'"):
        ServerSettings(max_sockets="5")


def test_a_long_time_limit_raises_the_maximum_unless_that_is_given():
    assert read_settings({"timeout_s": 900.0}).max_timeout_s == 900.0
    with pytest.raises(ConfigError, match="above max_timeout_s 100"):
        read_settings({"timeout_s": 900.0, "max_timeout_s": 100.0})


def test_variables_of_secrets_are_taken_once():
    made = read_settings({"key_env": "MADE_KEY"})
    assert made.key == "k"
    assert "MADE_KEY" not in os.environ
    assert "'k'" not in repr(made)
    with pytest.raises(ConfigError, match="MADE_KEY named by --store is not set"):
        read_settings({"store": "env:MADE_KEY"})
