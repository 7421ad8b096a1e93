"""The same sites in a real headless Chromium, over HTTP on the loopback interface.

A session is a value, so the browser is only brought to the state of a session: if it is elsewhere,
the page is reloaded and the input is entered again. Needs `verigym[browser]` and Chromium on PATH.
Covers: labels, forms, submission and redirects as a browser does them. Does not cover: scripts,
layout.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from verigym.envs.web.browsing import BrowserAction, BrowserSession, BrowserState, Site, target
from verigym.envs.web.pages import Control, WebPage, as_html, as_text, started
from verigym.errors import MissingError
from verigym.missing import raise_explained
from verigym.verdict import Status, VerifierFault, fault

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_TIMEOUT_MS = 20_000
_MAX_FORM = 1 << 20

# What stands in the document now, in order: texts, and controls with what they hold.
_READ = """() => ({title: document.title, parts: [...document.querySelectorAll('form p, form [data-role]')].map(
  e => e.tagName === 'P' ? e.textContent : {
    role: e.dataset.role, name: e.dataset.role === 'button' ? e.value : e.name,
    label: e.labels && e.labels.length ? e.labels[0].textContent : e.textContent,
    value: ['checkbox', 'radio'].includes(e.dataset.role) ? (e.checked ? 'on' : '') :
      e.dataset.role === 'button' ? '' : e.value,
    options: e.options ? [...e.options].map(o => o.textContent) : []})})"""


class Chromium:
    """One browser with one page, and the server it talks to. `close` ends both.

    Any thread may use it: Playwright's objects belong to the thread that made them, so all calls run in one of its own.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="verigym-chromium")
        try:
            self._browser = self._thread.submit(_Browser).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def close(self) -> None:
        """End the browser and the server."""
        try:
            self._thread.submit(self._browser.close).result()
        finally:
            self._thread.shutdown()

    def show(self, site: Site, session: BrowserSession) -> str:
        """Return the accessibility text of the page that a session is at, as the browser has it."""
        return self._thread.submit(self._browser.show, site, session).result()

    def act(
        self, site: Site, session: BrowserSession, action: BrowserAction
    ) -> tuple[BrowserSession, bool]:
        """Return the session after an action, and whether the action could be done."""
        return self._thread.submit(self._browser.act, site, session, action).result()


class _Browser:
    """The browser, used from one thread."""

    def __init__(self) -> None:
        try:
            from playwright.sync_api import Error, sync_playwright
        except ImportError as error:
            raise_explained(error, "browser='chromium'")
        found = next((path for name in _NAMES if (path := shutil.which(name))), None)
        if found is None:
            raise MissingError(
                f"browser='chromium' needs one of {', '.join(_NAMES)} on PATH; on Debian: "
                "apt-get install chromium"
            )
        self._error = Error
        self._server = _Server()
        self._playwright = sync_playwright().start()
        self._at: BrowserSession | None = None
        try:
            self._browser = self._playwright.chromium.launch(executable_path=found, args=_ARGS)
            self._page = self._browser.new_page()
        except Error as error:
            self._playwright.stop()
            self._server.close()
            raise _failed(error) from error
        self._page.set_default_timeout(_TIMEOUT_MS)

    def close(self) -> None:
        try:
            self._browser.close()
        finally:
            self._playwright.stop()
            self._server.close()

    def show(self, site: Site, session: BrowserSession) -> str:
        try:
            self._go(site, session)
            return as_text(self._read(), {})
        except self._error as error:
            raise self._lost(error) from error

    def act(
        self, site: Site, session: BrowserSession, action: BrowserAction
    ) -> tuple[BrowserSession, bool]:
        try:
            self._go(site, session)
            control = target(self._read(), action)
            if isinstance(control, str):
                return replace(session, note=f"Nothing was done: {control}."), False
            self._do(control, f"#c{action.number}", action.text)
            # Where the browser is now: what the server has, and what differs from a fresh page.
            place = self._server.place
            first = started(site.show(place))
            draft = {n: v for n, v in started(self._read()).items() if first[n] != v}
        except self._error as error:
            raise self._lost(error) from error
        self._at = BrowserSession(place, draft)
        return self._at, True

    def _go(self, site: Site, session: BrowserSession) -> None:
        wanted = replace(session, note="")
        if self._at == wanted and self._server.site is site:
            return
        self._at = None
        self._server.site, self._server.place = site, session.place
        self._page.goto(self._server.url)
        values = started(site.show(session.place))
        for number, control in enumerate(site.show(session.place).controls(), 1):
            entered = session.draft.get(control.name)
            if entered is None or (control.role == "radio" and control.label != entered):
                continue
            if control.role != "checkbox" or entered != values[control.name]:
                self._do(control, f"#c{number}", entered)
        self._at = wanted

    def _do(self, control: Control, where: str, text: str) -> None:
        if control.role == "textbox":
            self._page.fill(where, text)
        elif control.role == "combobox":
            self._page.select_option(where, label=text)
        elif control.role == "button":
            with self._page.expect_navigation():
                self._page.click(where)
        else:
            self._page.click(where)

    def _read(self) -> WebPage:
        read: dict[str, Any] = self._page.evaluate(_READ)
        parts = [
            part
            if isinstance(part, str)
            else Control(**{**part, "options": tuple(part["options"])})
            for part in read["parts"]
        ]
        return WebPage(read["title"], tuple(parts))

    def _lost(self, error: Exception) -> VerifierFault:
        self._at = None  # wherever it is now
        return _failed(error)


def _failed(error: Exception) -> VerifierFault:
    return VerifierFault(fault(Status.INFRA, "browser_failed", str(error)[:300]))


class _Server:
    """Serves the page of `site` at `place` under a secret path, and takes its form."""

    def __init__(self) -> None:
        self.site: Site | None = None
        self.place = BrowserState({})
        path = f"/{secrets.token_urlsafe(12)}"
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != path or owner.site is None:
                    self.send_error(404)
                    return
                body = as_html(owner.site.show(owner.place)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                if self.path != path or owner.site is None or length > _MAX_FORM:
                    self.send_error(404)
                    return
                sent = parse_qs(self.rfile.read(length).decode(), keep_blank_values=True)
                fields = {name: values[-1] for name, values in sent.items()}
                button = fields.pop("button", "")
                owner.place = owner.site.submit(owner.place, button, fields)
                self.send_response(303)
                self.send_header("Location", path)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}{path}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
