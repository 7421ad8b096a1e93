"""Adapters say what to install if their package is missing."""

import importlib
import importlib.util

import pytest

from verigym.errors import MissingError
from verigym.trainers.exports.packages import TESTED, raise_missing

ADAPTERS = {
    "gem": "gem",
    "inspect_ai": "inspect_ai",
    "nemo_gym": "nemo_gym",
    "prime": "verifiers",
    "skyrl_gym": "skyrl_gym",
    "verl": "verl",
    "verl_credit": "transfer_queue",
}


@pytest.mark.parametrize(("adapter", "package"), ADAPTERS.items())
def test_a_missing_package_is_named_with_its_command(adapter, package):
    if importlib.util.find_spec(package):
        pytest.skip("it is installed")
    with pytest.raises(MissingError, match=f"needs {package}, .* pip install '{TESTED[package]}'"):
        importlib.import_module(f"verigym.trainers.exports.{adapter}")


def test_another_missing_module_stays_what_it_is():
    error = ModuleNotFoundError("x", name="somewhere.else")
    with pytest.raises(ModuleNotFoundError) as found:
        raise_missing(error)
    assert found.value is error
