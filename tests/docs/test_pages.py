"""Pages: every relative link leads to a file and a heading that exist, and the tests that they name do."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in (
        "*.md",
        ".github/**/*.md",
        "docs/**/*.md",
        "deploy/**/*.md",
        "examples/typescript/*.md",
    )
    for page in ROOT.glob(pattern)
)
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
NAMED_TESTS = re.compile(r"\]\(\.\./(tests/[\w/]+\.py)\): ((?:`\w+`(?:, )?)+)")


def anchors(page):
    """Return the anchors that GitHub gives the headings of a page."""
    found, seen = set(), {}
    for heading in HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        number = seen.setdefault(anchor, 0)
        seen[anchor] += 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
    dead = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = unquote(link).partition("#")
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            dead.append(link)
    assert not dead, f"{page.relative_to(ROOT)}: these links lead nowhere: {dead}"


def test_every_page_is_on_the_site():
    docs = ROOT / "docs"
    listed = set()
    for page in (docs / "index.md", docs / "cards.md", docs / "decisions" / "README.md"):
        for tree in re.findall(
            r"^```{toctree}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL
        ):
            for entry in tree.split():
                if not entry.startswith(":"):
                    listed |= {found.resolve() for found in page.parent.glob(f"{entry}.md")}
    missing = set(docs.rglob("*.md")) - listed - {docs / "index.md"}
    assert not missing, f"name these pages in a toctree of docs/index.md: {sorted(missing)}"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason="pip install 'verigym[docs]'")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "--quiet",
            "--fail-on-warning",
            "--keep-going",
            "-c",
            str(ROOT / "docs" / "site"),
            "-d",
            str(tmp_path / "trees"),
            str(ROOT),
            str(tmp_path / "site"),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    reference = tmp_path / "site" / "docs" / "reference"
    commands = (reference / "commands.html").read_text(encoding="utf-8")
    assert "verigym sandbox run" in commands
    assert "--fail-below" in commands
    keys = (reference / "configuration.html").read_text(encoding="utf-8")
    assert "[policy.lora]" in keys
    assert "GHPO" in keys
    assert "reset" in (reference / "python.html").read_text(encoding="utf-8")
    changes = (tmp_path / "site" / "docs" / "versions.html").read_text(encoding="utf-8")
    assert "code/function" in changes
    assert "games/keydoor" in (reference / "catalogue.html").read_text(encoding="utf-8")


def test_the_laws_name_tests_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    laws = page.partition("## Laws")[2].partition("\n## ")[0]
    numbers = re.findall(r"^\| (\d+) \|", laws, re.MULTILINE)
    assert numbers == [str(n) for n in range(1, 11)]
    for row in re.findall(r"^\| \d+ \|.*$", laws, re.MULTILINE):
        named = NAMED_TESTS.findall(row)
        assert named, f"a law without a test: {row}"
        for place, names in named:
            tree = ast.parse((ROOT / place).read_text(encoding="utf-8"))
            functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert set(re.findall(r"\w+", names)) <= functions, f"{place} lacks one of {names}"


def test_every_decision_is_in_the_index():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    records = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    assert [name for _, name in re.findall(r"\[(.*?)\]\((\d{4}-.*?\.md)\)", index)] == [
        record.name for record in records
    ]
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 60, f"{record.name} is too long for a record"
        assert re.search(r"^Date: \d{4}-\d\d-\d\d\. Status: ", text, re.MULTILINE), record.name
        headings = ["Context", "Decision", "Tried or ruled out", "Consequences"]
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == headings, record.name


@pytest.mark.parametrize(
    "form",
    sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")),
    ids=lambda form: form.name,
)
def test_issue_forms_are_what_github_reads(form):
    read = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= read.keys()
    fields = [field for field in read["body"] if field["type"] != "markdown"]
    assert fields
    assert len({field["id"] for field in fields}) == len(fields)
    for field in fields:
        assert field["type"] in ("input", "textarea", "dropdown", "checkboxes")
        assert field["attributes"]["label"]


def test_the_citation_has_what_its_format_requires():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{citation["version"]}"' in pyproject
    assert f'license = "{citation["license"]}"' in pyproject
