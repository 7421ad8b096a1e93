"""Tasks and verdicts of `code/stdio`."""

from verigym import Task, make_verifier


def task(tests, **extra):
    return Task(
        id="t",
        env_id="verigym/code/stdio-v0",
        seed=0,
        prompt="p",
        difficulty="easy",
        reference={"tests": tests, **extra},
    )


def case(stdin, stdout, visible=False):
    return {"stdin": stdin, "stdout": stdout, "visible": visible}


ADD = task([case("1 2\n", "3\n", True), case("4000 5000\n", "9000\n"), case("7 8\n", "15\n")])


def judge(program, problem=ADD, **params):
    return make_verifier("code/stdio", **params).verify(problem, program)
