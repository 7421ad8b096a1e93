"""The page in a real browser, against real services."""

import json
import os
import shutil
from dataclasses import dataclass, field

import httpx2
import pytest
from playwright.sync_api import expect, sync_playwright

from verigym import Task, make_verifier
from verigym.registry import list_verifiers
from verigym.server.page.examples import examples_of
from verigym.server.process import ServerProcess

ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
KEY = "correct-horse-battery"


@pytest.fixture(scope="module")
def browser():
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
    """A page, what it complained about, and whom it asked."""

    page: object
    complaints: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    def open(self, url):
        self.page.goto(url)
        return self.page


@pytest.fixture
def watched(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watched = Watched(context.new_page())
    watched.page.on(
        "console", lambda m: watched.complaints.append(m.text) if m.type != "log" else 0
    )
    watched.page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    watched.page.on("request", lambda request: watched.asked.append(request.url))
    watched.page.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    yield watched
    context.close()


def choose(page, verifier, example):
    page.get_by_role("combobox", name="Verifier").select_option(verifier)
    option = page.locator("#example option", has_text=example)
    option.wait_for(state="attached")
    page.get_by_role("combobox", name="Example").select_option(option.get_attribute("value"))


def test_a_person_tries_a_verifier(service, watched):
    page = watched.open(service.url + "/")
    choose(page, "tools/state", "All orders")
    page.get_by_role("button", name="Judge").click()
    verdict = page.locator("#verdict")
    expect(verdict.locator("#score")).to_have_text("0")
    for text in ("collateral", "rows touched", "goals (weight 0.5)", "tools/state@", "ms, there"):
        expect(verdict).to_contain_text(text)
    expect(verdict.get_by_role("img", name="kept: 0.5")).to_be_visible()
    digest = verdict.locator("dt:text('Digest') + dd").inner_text()
    row = next(row for row in examples_of("tools/state") if row["name"] == "All orders are shipped")
    fields = {"id": "page", "env_id": "page", "seed": 0, "difficulty": "", **row["task"]}
    task = Task.from_json(json.dumps(fields))
    assert digest == make_verifier("tools/state").digest(task, row["submission"])
    page.locator("#curl-details summary").click()
    expect(page.locator("#curl")).to_contain_text("/v1/verify -H")
    choose(page, "tools/state", "is shipped")
    page.get_by_role("textbox", name="Submission").press("Control+Enter")
    expect(verdict.locator("#score")).to_have_text("1")
    assert watched.complaints == []
    assert all(url.startswith((service.url, "data:")) for url in watched.asked)


@pytest.mark.slow
def test_parameters_have_a_form_of_their_schema(service, watched):
    page = watched.open(service.url + "/")
    choose(page, "math/countdown", "used twice")
    page.locator("#params-details summary").click()
    page.get_by_label("use_all").uncheck()
    page.get_by_role("textbox", name="Submission").fill("<answer>3 * 5</answer>")
    page.get_by_role("textbox", name="Reference").fill('{"numbers": [3, 5, 7], "target": 15}')
    page.get_by_role("button", name="Judge").click()
    expect(page.locator("#score")).to_have_text("1")
    choose(page, "games/replay", "shortest")
    page.locator("#params-details summary").click()
    page.get_by_label("max_moves").fill("0.5")
    page.get_by_role("button", name="Judge").click()
    expect(page.get_by_text("A whole number is needed.")).to_be_visible()
    page.get_by_label("max_moves").fill("0")
    page.get_by_role("button", name="Judge").click()
    expect(page.locator("#verdict")).to_contain_text("bad_params")
    page.get_by_role("textbox", name="Reference").fill("{")
    page.get_by_role("button", name="Judge").click()
    expect(page.locator("#reference-error")).to_contain_text("Not JSON")
    expect(page.get_by_role("textbox", name="Reference")).to_be_focused()


def test_hostile_texts_stay_texts(service, watched):
    page = watched.open(service.url + "/")
    choose(page, "qa/answer", "short")
    evil = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    page.get_by_role("textbox", name="Reference").fill(json.dumps({"answer": evil}))
    page.get_by_role("textbox", name="Submission").fill(evil)
    page.get_by_role("button", name="Judge").click()
    expect(page.locator("#score")).to_be_visible()
    page.locator("#curl-details summary").click()
    expect(page.locator("#curl")).to_contain_text("onerror")
    assert page.title() == "Verigym"
    assert page.locator("main img, main script").count() == 0


def test_cards_show_rates_with_intervals(service, watched):
    page = watched.open(service.url + "/#cards")
    table = page.locator("#card table").first
    expect(table).to_contain_text("Right answers rejected")
    row = table.get_by_role("row").nth(1)
    expect(row).to_contain_text("%")
    assert row.get_by_role("img").count() == 2
    page.locator("#card-of").select_option("unruly/obeys")
    expect(page.locator("#card")).to_contain_text("was not audited")
    page.get_by_role("link", name="Sessions").click()
    expect(page.locator("#session-list")).not_to_be_empty()


@pytest.mark.slow  # a service and a browser of its own
def test_a_key_is_asked_for_and_kept_in_the_tab(watched):
    with ServerProcess(verifiers=["math"], workers=1, key=KEY) as server:
        page = watched.open(server.url + "/")
        page.get_by_role("textbox", name="Key").fill("wrong")
        page.get_by_role("button", name="Use").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.get_by_role("textbox", name="Key").fill(KEY)
        page.get_by_role("button", name="Use").click()
        choose(page, "math/answer", "decimal")
        page.get_by_role("button", name="Judge").click()
        expect(page.locator("#score")).to_have_text("1")
        assert page.evaluate("() => [sessionStorage.length, localStorage.length]") == [1, 0]
        assert KEY not in page.content()
        assert not any(KEY in url for url in watched.asked)
        page.reload()
        expect(page.get_by_role("button", name="Key ✓")).to_be_visible()
        expect(page.locator("#example option").first).to_be_attached()
        page.get_by_role("button", name="Key ✓").click()
        page.get_by_role("button", name="Forget").click()
        expect(page.locator("#key-button")).to_have_text("Key")
        assert page.evaluate("() => sessionStorage.length") == 0
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("alert").filter(has_text="A key is needed")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 768])
def test_narrow_screens_need_no_scrolling_sideways(service, watched, width):
    page = watched.page
    page.set_viewport_size({"width": width, "height": 800})
    for part in ("try", "cards", "sessions"):
        watched.open(f"{service.url}/#{part}")
        expect(page.locator(f"#{part}")).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_grounds(service, watched, scheme):
    page = watched.page
    page.emulate_media(color_scheme=scheme)
    watched.open(service.url + "/")
    ratios = page.evaluate(
        """() => {
          const style = getComputedStyle(document.documentElement);
          const light = (name) => {
            const hex = style.getPropertyValue(name).trim().slice(1);
            const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
              .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const pairs = [["--ink", "--page"], ["--ink-2", "--surface"], ["--ink-3", "--page"],
            ["--on-accent", "--accent"], ["--good", "--good-bg"], ["--bad", "--bad-bg"],
            ["--fault", "--fault-bg"], ["--bad", "--surface"]];
          return pairs.map(([a, b]) => [a + b, (Math.max(light(a), light(b)) + 0.05)
            / (Math.min(light(a), light(b)) + 0.05)]);
        }"""
    )
    assert {name: ratio for name, ratio in ratios if ratio < 4.5} == {}


@pytest.mark.slow
def test_every_control_has_a_name(service, watched):
    page = watched.open(service.url + "/")
    choose(page, "sql/query", "Off by one")
    page.locator("#params-details summary").click()
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, select, textarea, button")]
          .filter((node) => !(node.labels?.length || node.textContent.trim())).map((node) => node.id)"""
    )
    assert unnamed == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))


def test_its_files_are_the_only_ones_and_come_with_a_strict_policy(service):
    with httpx2.Client(base_url=service.url) as http:
        index = http.get("/")
        policy = index.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        for odd in ("__init__.py", "examples.jsonl", "..%2Fapp.py", "%2e%2e%2fapp.py", "x.js"):
            assert http.get(f"/page/{odd}").status_code == 404, odd
        script = http.get("/page/page.js")
        assert script.headers["content-type"].startswith("text/javascript")


@pytest.mark.slow
def test_examples_say_what_their_verifiers_say():
    for name in list_verifiers():
        for row in examples_of(name):
            if name == "judge/rubric":
                continue  # needs a judge
            fields = {"id": "t", "env_id": "", "seed": 0, "difficulty": "", **row["task"]}
            task = Task.from_json(json.dumps(fields))
            verdict = make_verifier(name, **row["params"]).verify(task, row["submission"])
            assert verdict.score is not None, (name, row["name"], verdict)
            assert (verdict.score >= 0.5) == bool(row["label"]), (name, row["name"], verdict)


def test_every_verifier_of_ours_has_an_example(service):
    for name in list_verifiers():
        rows = examples_of(name)
        assert rows, name
        answer = httpx2.get(f"{service.url}/v1/verifiers/{name}/examples")
        assert answer.json() == {"examples": rows}
    answer = httpx2.get(f"{service.url}/v1/verifiers/math/nothing/examples")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_verifier")
