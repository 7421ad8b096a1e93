"""A fresh store, of each kind."""

import itertools

import pytest

from verigym.server.jobs.opening import opener

_numbers = itertools.count()


@pytest.fixture
def postgres_url(postgres):
    name = f"jobs{next(_numbers)}"
    postgres.psql(f"CREATE DATABASE {name}")
    yield postgres.url(name)
    postgres.psql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.sqlite"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def open_store(store_url):
    """Opens connections to one store; closes them at the end."""
    made = []

    def open_one():
        made.append(opener(store_url)())
        return made[-1]

    yield open_one
    for store in made:
        store.close()
