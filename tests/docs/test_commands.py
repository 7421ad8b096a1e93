"""Commands and snippets of all pages: every command is one that `verigym` takes, every import is one that exists.

Those of the tutorials, of docs/curl.md and of some other pages are run too, by tests of their own.
"""

import ast
import importlib
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from verigym.cli.main import app
from verigym.errors import MissingError

ROOT = Path(__file__).parents[2]
PAGES = [
    page for pattern in ("*.md", "docs/**/*.md", "deploy/**/*.md") for page in ROOT.glob(pattern)
]
BLOCK = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
IDS = [page.relative_to(ROOT).as_posix() for page in PAGES]
EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=IDS)


def blocks(page):
    """Yield kind and text of each block of code."""
    for _, kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        yield kind, text


def commands(page):
    """Yield the words of each command `verigym`, up to a pipe or a comment."""
    for kind, text in blocks(page):
        if kind not in ("", "sh", "bash", "console", "text"):
            continue
        for line in re.sub(r"\\\n\s*", " ", text).splitlines():
            if not (found := re.match(r"(?:\$ )?(?:\w+=\S+ )*(verigym [\w-].*)", line)):
                continue
            text, _, meaning = found[1].partition("  ")
            if meaning.strip() and not meaning.lstrip().startswith("#"):
                yield [*text.split()[:2], "--help"]  # a line of an overview
                continue
            lexer = shlex.shlex(found[1], posix=True, punctuation_chars="|&;<>")
            lexer.whitespace_split = True
            words = []
            try:
                for word in lexer:
                    if set(word) <= set("|&;<>"):
                        break
                    words.append(word)
            except ValueError:  # a quoted text that goes on in the next line
                continue
            yield words


def refusal(words):
    """Return why `verigym` refuses the words, or an empty string. Nothing is run."""
    group, arguments = typer.main.get_command(app), words[1:]
    try:
        context = group.make_context("verigym", list(arguments))
        while hasattr(group, "resolve_command"):
            name, group, arguments = group.resolve_command(context, [*arguments])
            context = group.make_context(name, list(arguments), parent=context)
    except Exception as error:  # noqa: BLE001 - typer brings a click of its own
        if type(error).__name__ == "Exit":  # --help, --version
            return ""
        return f"{type(error).__name__}: {error}"
    return ""


@EVERY_PAGE
def test_commands_are_those_that_the_program_takes(page):
    refused = [(shlex.join(words), why) for words in commands(page) if (why := refusal(words))]
    assert not refused


@pytest.mark.slow
@EVERY_PAGE
def test_snippets_import_what_exists(page):
    for kind, text in blocks(page):
        if kind != "python":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("verigym"):
                check(node)


def check(node):
    """Import what a line of a snippet imports; what needs a package of others may lack it."""
    try:
        module = importlib.import_module(node.module)
    except MissingError:
        return
    except ImportError as error:
        if (error.name or "").startswith("verigym"):
            raise
        return
    for alias in node.names:
        assert hasattr(module, alias.name) or find_spec(f"{node.module}.{alias.name}")
