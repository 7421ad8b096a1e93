"""Draws the pictures of the pages from real runs: python -P docs/site/pictures.py RUN_FOLDER

RUN_FOLDER is one of `verigym train`. Needs the extras `browser` and `server`, and Chromium on PATH. The terminal session is
that of COMMANDS, run here; its picture has no fonts and no links of others.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.text import Text

from verigym.server.process import ServerProcess
from verigym.trainers.report import build

OUT = Path(__file__).parents[1] / "pictures"
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
COMMANDS = (
    "verigym run keydoor --policy random -n 20 --difficulty easy",
    "verigym run keydoor --policy oracle -n 20 --difficulty easy",
    "verigym sandbox run -c 'print(6 * 7)'",
)


def draw_report(browser: Browser, run: Path) -> None:
    """Draw the top of the run's report, and an episode in its credit inspector."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto(build(run).resolve().as_uri())
    page.screenshot(path=OUT / "report.png")
    # Every tenth step a whole group is recorded.
    page.locator("#filters select").first.select_option("20")
    episode = page.locator("details.episode", has_text="success").first
    episode.locator("summary").click()
    episode.locator(".turn button.group").first.click()
    page.set_viewport_size({"width": 1100, "height": 760})
    episode.evaluate("e => window.scrollTo(0, e.getBoundingClientRect().top + scrollY - 8)")
    page.screenshot(path=OUT / "inspector.png")
    page.close()


def draw_service(browser: Browser) -> None:
    """Draw the page of a service with a verdict."""
    with ServerProcess(verifiers=["math", "qa"], workers=1) as server:
        page = browser.new_page(viewport={"width": 1100, "height": 1000})
        page.goto(server.url)
        page.locator("#verifier").select_option("math/answer")
        page.locator("#judge").click()
        page.locator("#verdict", has_text="digest").wait_for()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=OUT / "service.png")
        page.close()


def draw_terminal() -> None:
    """Draw a session with the commands and what they print here."""
    console = Console(record=True, width=100, file=io.StringIO())
    for command in COMMANDS:
        done = subprocess.run(
            shlex.split(command), capture_output=True, text=True, check=True, cwd="/"
        )
        console.print(Text(f"$ {command}", style="bold green"))
        console.print(Text((done.stdout + done.stderr).strip() + "\n"))
    svg = console.export_svg(title="verigym")
    (OUT / "terminal.svg").write_text(
        re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8"
    )


def main() -> None:
    OUT.mkdir(exist_ok=True)
    draw_terminal()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGS)
        draw_service(browser)
        draw_report(browser, Path(sys.argv[1]))
        browser.close()


if __name__ == "__main__":
    main()
