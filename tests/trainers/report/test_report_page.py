"""The report in a real browser."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from verigym.trainers.report.build import build

SECTIONS = (
    "learning",
    "difficulty",
    "signal",
    "step-groups",
    "faults",
    "time",
    "optimiser",
    "transcripts",
    "config",
)
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is not on PATH, and CI needs it: apt-get install chromium")
        pytest.skip("chromium is not on PATH: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGS)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, and everything it complained about or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, file: Path) -> Page:
        self.page.goto(file.as_uri())
        return self.page


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(30_000)
    watched = Watched(page)
    page.on("console", lambda message: watched.complaints.append(message.text))
    page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    page.on("request", lambda request: watched.requests.append(request.url))
    yield watched
    page.close()
    assert watched.complaints == []
    assert all(url.startswith("file:") for url in watched.requests), watched.requests
    assert len(watched.requests) == 1, watched.requests


def test_sections_and_marks(
    tmp_path: Path, make_run: Callable[..., Path], watched: Watched
) -> None:
    page = watched.open(build(make_run(tmp_path / "run")))
    for name in SECTIONS:
        assert page.locator(f"#{name} h2").is_visible(), name
    for name in ("learning", "signal", "time", "step-groups", "difficulty"):
        shown = page.locator(f"#{name} .plot svg:visible")
        assert shown.count() == 1, name
        marks = shown.locator("path.line, path.band, rect.bar, circle.dot")
        assert marks.count() >= 2, name
    assert page.locator("#learning svg:visible path.diamond").count() == 7
    assert page.locator("#learning svg:visible path.band").count() == 1
    assert page.locator("#optimiser figure svg:visible").count() == 9
    assert page.locator("#faults").get_by_text("verifier_unreachable").is_visible()
    assert page.locator(".held").inner_text().count("held out") == 1
    assert page.locator(".tile").first.inner_text().startswith("Success on test")
    # The styles took effect, so the content policy lets our own through.
    colour = page.locator("#learning svg:visible path.line").first.evaluate(
        "e => getComputedStyle(e).stroke"
    )
    assert colour not in ("none", "")


@pytest.mark.slow
def test_hover_tells_the_figures(
    tmp_path: Path, make_run: Callable[..., Path], watched: Watched
) -> None:
    page = watched.open(build(make_run(tmp_path / "run")))
    tip = page.locator("#tip")
    assert not tip.is_visible()
    page.locator("#learning svg:visible .eval").nth(3).hover()
    assert "split test" in tip.inner_text()
    page.locator("#time svg:visible rect.bar").first.hover()
    assert "generation" in tip.inner_text()


@pytest.mark.slow
def test_the_inspector_sets_a_step_group_side_by_side(
    tmp_path: Path, make_run: Callable[..., Path], watched: Watched
) -> None:
    run = make_run(tmp_path / "run")
    page = watched.open(build(run))
    page.locator("#filters select").first.select_option("30")
    lines = [
        json.loads(line)["episode"]
        for line in (run / "episodes/step-000030.jsonl").read_text().splitlines()
    ]
    first = page.locator("details.episode").first
    first.locator("summary").click()
    strip = first.locator(".strip")
    strip.locator("button").first.wait_for()
    assert strip.locator("button").count() == len(lines[0]["turns"])
    assert strip.locator(".outcome").inner_text() in ("success", "failure")
    strip.locator("button").nth(1).hover()
    assert page.locator("#tip").inner_text().startswith("turn 2: ")
    key, group = lines[0]["turns"][0]["state_key"], lines[0]["group_id"]
    actions = [
        turn["action"]
        for line in lines
        for turn in line["turns"]
        if line["group_id"] == group and turn["state_key"] == key
    ]
    turn = first.locator(".turn").first
    turn.locator("button.group").click()
    rows = turn.locator(".members tr")
    assert rows.count() == 1 + len(actions)
    assert [
        rows.nth(i + 1).locator("td").nth(2).inner_text() for i in range(len(actions))
    ] == actions
    assert turn.locator(".members .this").count() == 1
    turn.locator("button.group").click()
    assert turn.locator(".members").count() == 0


@pytest.mark.slow
def test_transcript_shows_credit_and_token_gaps(
    tmp_path: Path, make_run: Callable[..., Path], watched: Watched
) -> None:
    run = make_run(tmp_path / "run")
    page = watched.open(build(run))
    page.locator("#filters select").first.select_option("30")
    line = json.loads((run / "episodes/step-000030.jsonl").read_text().splitlines()[0])
    first, turn, credit = (
        page.locator("details.episode").first,
        line["episode"]["turns"][0],
        line["credit"][0],
    )
    assert first.locator(".turn").count() == 0  # drawn when opened
    first.locator("summary").click()
    shown = first.locator(".turn").first
    shown.wait_for()
    assert first.locator(".turn").count() == len(line["episode"]["turns"])
    assert shown.locator("pre.observation").inner_text() == turn["observation"]
    assert shown.locator("pre.action").inner_text() == turn["action"]
    head = shown.locator("header").inner_text().replace("−", "-")
    assert "reward 0" in head
    assert turn["state_key"][:10] in head
    for name in ("episode_advantage", "step_advantage", "advantage"):
        assert f"{credit[name]:+.3f}" in head, name
    tokens = shown.locator(".token")
    assert tokens.count() == len(turn["response_ids"])
    gaps = tokens.evaluate_all("all => all.map(t => t.dataset.gap ?? null)")
    for gap, mask, now, then in zip(
        gaps, turn["mask"], line["train_logprobs"][0], turn["logprobs"], strict=True
    ):
        # A token that was forced was not sampled, so it has no gap.
        assert (gap is None) == (mask == 0)
        assert gap is None or float(gap) == pytest.approx(now - then, abs=3e-5)
    assert tokens.evaluate_all("all => all.map(t => +t.dataset.mask)") == turn["mask"]
    tokens.nth(1).hover()
    text = page.locator("#tip").inner_text()
    assert f"token {turn['response_ids'][1]}" in text
    assert "mask 1" in text
    assert f"sampled {turn['logprobs'][1]:.4f} nats" in text
    assert "gap " in text


def test_hostile_text_stays_text(
    tmp_path: Path,
    make_run: Callable[..., Path],
    spoil: Callable[..., None],
    hostile: str,
    watched: Watched,
) -> None:
    run = make_run(tmp_path / "run", n_steps=10)
    spoil(run, step=10)
    header = json.loads((run / "run.json").read_text())
    header["name"] = header["env_id"] = header["config"][hostile] = hostile
    header["versions"] = {hostile: hostile}
    header["stages"].append({"name": hostile, "success_rate": 0.5, "episodes": 2})
    (run / "run.json").write_text(json.dumps(header))
    row = {"step": 10, "split": hostile, "success_rate": 0.5, "episodes": 4, "faults": {hostile: 2}}
    row["by_difficulty"] = {hostile: {"n": 4, "success_rate": 0.5}}
    with (run / "eval.jsonl").open("a") as stream:
        stream.write(json.dumps(row) + "\n")
    page = watched.open(build(run))
    episode = page.locator("details.episode").filter(has_text="hostile")
    episode.locator("summary").click()
    shown = episode.locator("pre.observation")
    shown.wait_for()
    assert shown.evaluate("e => e.textContent") == hostile
    assert episode.locator(".tokens .token").first.evaluate("e => e.textContent") == hostile
    faulted = page.locator("details.episode").filter(has_text="faulted")
    faulted.locator("summary").click()
    assert faulted.locator(".invalid").inner_text().startswith("Faulted: verifier_unreachable")
    assert page.title() != "owned"
    assert (
        page.evaluate("document.querySelectorAll('img, iframe, link, object, embed').length") == 0
    )
    assert page.evaluate("document.scripts.length") == 2
    # The row that tried to end the page early did not: what follows it is still there.
    assert page.locator("#config h2").is_visible()


@pytest.mark.slow
def test_phone_and_dark(tmp_path: Path, make_run: Callable[..., Path], watched: Watched) -> None:
    file = build(make_run(tmp_path / "run"))
    watched.page.set_viewport_size({"width": 360, "height": 740})
    watched.page.emulate_media(color_scheme="dark")
    page = watched.open(file)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#learning .plot svg:visible").count() == 1
    assert "w340" in (page.locator("#learning .plot svg:visible").get_attribute("class") or "")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(17, 17, 16)"


@pytest.mark.slow
def test_several_runs(tmp_path: Path, make_run: Callable[..., Path], watched: Watched) -> None:
    for algorithm in ("gigpo", "grpo"):
        for seed in range(2):
            make_run(tmp_path / f"{algorithm}-{seed}", algorithm=algorithm, seed=seed, n_steps=20)
    page = watched.open(build(tmp_path))
    assert page.title().startswith("GiGPO against GRPO: 4 runs")
    lines = page.locator("#learning svg:visible path.line")
    assert lines.count() == 2
    assert page.locator("#learning .legend").inner_text().count("2 seeds") == 2
    assert "± " in page.locator(".tile").first.inner_text()
    page.locator("#step-groups details summary").first.click()
    assert page.locator("#step-groups details svg:visible").count() == 1


def test_empty_run(tmp_path: Path, watched: Watched) -> None:
    (tmp_path / "run.json").write_text("{}")
    page = watched.open(build(tmp_path))
    for name in SECTIONS:
        assert page.locator(f"#{name} h2").is_visible(), name
    assert "metrics.jsonl cannot be read" in page.locator("#notes").inner_text()
