"""Tasks of the SQL verifier."""

import pytest

import verigym


@pytest.fixture
def task_of():
    """Make a task of a reference query, a schema and other fields of the reference."""

    def make(query, schema, **rest):
        return verigym.Task(
            id="t",
            env_id="e",
            seed=0,
            prompt="p",
            difficulty="easy",
            reference={"query": query, "schema": schema, **rest},
        )

    return make
