"""The live web's adapter, against real HTTP servers on this machine. It has not met the real web here."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

import verigym
from verigym.envs.search.fetch import MAX_BYTES, fetch, is_public
from verigym.envs.search.html_text import html_to_text
from verigym.envs.search.live import Live, LiveWeb
from verigym.envs.search.toolbox import as_call

PAGES = {
    "/": (
        "text/html",
        "<title>Köln &amp; more</title><p>A city on the <a href='/rhine'>Rhine</a>.</p>",
    ),
    "/rhine": ("text/html; charset=latin-1", "<body><p>The river is 1,233 km long. Übung.</p>"),
    "/plain": ("text/plain", "<b>as it is</b>"),
    "/image": ("image/png", "x"),
    "/large": ("text/html", "<p>" + "a" * (3 * MAX_BYTES)),
    "/strange": ("text/html; charset=nonsense", "<p>fine</p>"),
}


@pytest.fixture
def site():
    """The address of a server with pages and a search endpoint; what it was asked; when it may end."""
    over = threading.Event()
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            parts = urlsplit(self.path)
            here = f"http://127.0.0.1:{self.server.server_address[1]}"
            if parts.path == "/search":
                query = parse_qs(parts.query)
                found = [] if query["pageno"] != ["1"] else [here + "/", here + "/rhine"]
                body = {"results": [{"url": u, "title": "Hit", "content": "Rhine"} for u in found]}
                self.answer(200, "application/json", json.dumps(body))
            elif parts.path == "/broken":
                self.answer(200, "application/json", "[1]")
            elif parts.path.startswith("/to"):
                self.send_response(302)
                self.send_header("Location", parts.query)
                self.end_headers()
            elif parts.path == "/slow":
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                while not over.wait(0.05):
                    try:
                        self.wfile.write(b"x")
                    except OSError:
                        return
            elif parts.path in PAGES:
                kind, text = PAGES[parts.path]
                self.answer(200, kind, text)
            else:
                self.answer(404, "text/html", "no")

        def answer(self, status, kind, text):
            body = text.encode("latin-1" if "latin" in kind else "utf-8")
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                return  # the reader has had enough

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def live(base, **kwargs):
    question = {
        "question": "How long is the river on which that city lies, in km?",
        "answer": 1233,
        "units": ["km"],
        "supporting": [[f"{base}/rhine"]],
    }
    return Live([question], LiveWeb(f"{base}/search", allow_private=True, **kwargs))


def test_an_episode_over_http(site):
    base, asked = site
    env = live(base)
    observation, info = env.reset(seed=1)
    assert "How long is the river" in observation
    assert [tool["function"]["name"] for tool in info["tools"]] == [
        "search",
        "open",
        "find",
        "answer",
    ]
    assert f"1. [{base}/] Hit: Rhine..." in env.step(as_call("search", query="city Köln"))[0]
    assert env.step(as_call("search", query="city", skip=10))[0] == "No more pages."
    shown = env.step(as_call("open", page=f"{base}/"))[0]
    assert "Koln & more" in shown
    assert f"Rhine [{base}/rhine]" in shown
    assert "1,233 km" in env.step(as_call("open", page=f"{base}/rhine"))[0]
    asked.clear()
    assert "1,233 km" in env.step(as_call("find", text="KM LONG"))[0]
    assert asked == []  # pages are kept
    step = env.step(as_call("answer", answer="1233 km", citations=[f"{base}/rhine"]))
    assert (step[1], step[2]) == (1.0, True)


def test_each_question_is_played_in_each_split():
    asked = [{"question": f"Who is {n}?", "answers": ["n"]} for n in range(3)]
    env = Live(asked, LiveWeb("http://localhost/search"))
    for split in verigym.SPLITS:
        tasks = [env.sample_task(seed, split=split) for seed in range(30)]
        assert len({task.prompt for task in tasks}) == 3
        assert {task.split for task in tasks} == {split}


@pytest.mark.parametrize(
    "path", ["/none", "/image", "/to?/to?/to?/to?/to?/to?/to?/", "/to?ftp://x/"]
)
def test_a_page_that_cannot_be_had_is_not_there(site, path):
    base, _ = site
    assert fetch(base + path, timeout_s=5, allow_private=True) is None


def test_pages_of_other_forms(site):
    base, _ = site

    def read(path):
        return LiveWeb(base, allow_private=True).open(base + path)

    assert read("/plain").text == "<b>as it is</b>"
    assert "Übung" in read("/rhine").text
    assert read("/strange").text == "fine"
    assert len(read("/large").text) < MAX_BYTES
    assert read("/to?/rhine").text.startswith("The river")


def test_private_addresses_are_refused_also_by_redirect_and_name(site, monkeypatch):
    base, asked = site
    port = int(base.rpartition(":")[2])
    for url in (base, f"http://localhost:{port}/", f"http://[::ffff:127.0.0.1]:{port}/", f"http://2130706433:{port}/", "http://169.254.169.254/", "file:///etc/passwd", f"http://u:p@127.0.0.1:{port}/", "http://", "http://[", "x" * 3000, "http://a..b/", "http://host:99999/"):  # fmt: skip
        assert fetch(url, timeout_s=2, allow_private=False) is None, url
    assert asked == []
    # The first server counts as public here; where it sends us does not.
    real = socket.getaddrinfo
    monkeypatch.setattr(
        "verigym.envs.search.fetch.is_public", lambda address: address == "127.0.0.1"
    )
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *a, **k: real("127.0.0.2" if host == "inner.test" else host, *a, **k),
    )
    assert fetch(f"{base}/to?/rhine", timeout_s=5, allow_private=False) is not None
    asked.clear()
    assert fetch(f"{base}/to?http://inner.test:{port}/", timeout_s=5, allow_private=False) is None
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("10.0.0.1", False),
        ("100.64.0.1", False),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("169.254.1.1", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False),
    ],
)
def test_which_addresses_are_public(address, public):
    assert is_public(address) is public


def test_an_answer_that_trickles_is_cut_off(site):
    base, _ = site
    assert fetch(f"{base}/slow", timeout_s=0.5, allow_private=True) is None


@pytest.mark.parametrize("path", ["/none", "/broken"])
def test_a_search_service_that_fails_is_a_fault_and_no_reward(site, path):
    base, _ = site
    env = live(base)
    env._library = LiveWeb(base + path)
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises(verigym.VerifierFault, match="search_failed"):
        env.step(as_call("search", query="x"))
    assert env.snapshot() == before


@pytest.mark.parametrize(
    "questions",
    [
        [],
        "question",
        ["question"],
        [{"question": "Who?"}],
        [{"answer": "x"}],
        [{"question": " ", "answer": "x"}],
        [{"question": "Who?", "answers": "Ann"}],
        [{"question": "Who?", "answers": []}],
    ],
)
def test_questions_are_checked(questions):
    with pytest.raises(verigym.RequestError, match="question"):
        Live(questions, LiveWeb("http://localhost/search"))


@pytest.mark.parametrize(
    "kwargs", [{"endpoint": "localhost"}, {"endpoint": "http://x", "timeout_s": 0}]
)
def test_a_service_needs_an_address_and_a_limit(kwargs):
    with pytest.raises(verigym.RequestError):
        LiveWeb(**kwargs)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a<br>b</p><script>var x</script><style>p{}</style>c", "a\nb\nc"),
        ("<head><title>T</title><body>x<svg><title>no</title></svg>", "x"),
        ("<ul><li>one<li>two</ul>", "one\ntwo"),
        ("<a href='#top'>here</a> <a href='javascript:x'>j</a> <a href='b'>b</a>", "here j b [http://h/b]"),
        ("<table><tr><td>1<td>2</table>", "1\n2"),
        ("<!-- no --><p>1 &lt; 2&nbsp;", "1 < 2"),
        ("<a href='http://['>x</a><p><div></p></b>y", "x\ny"),
        ("<noscript>a<p>b</noscript>c", "c"),
        ("a < b <c", "a < b <c"),
        ("<SCRIPT>x</Script>y <script>z", "y z"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
        ("<!-- open", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_html_becomes_text(html, text):
    assert html_to_text(html, "http://h/")[1] == text


@pytest.mark.parametrize("piece", ["<", "<a ", "<a href='", "<!--", "<!", "</", "<div>", "<svg>", "</svg>", "&", "<a href=//x>", "<title>"])  # fmt: skip
def test_hostile_pages_take_little_work(piece, monkeypatch):
    # Work is counted as characters that searches look at, not in seconds.
    looked = 0

    class Counting(str):
        __slots__ = ()

        def find(self, what, start=0):
            nonlocal looked
            found = str.find(self, what, start)
            looked += (len(self) if found < 0 else found) - start
            return found

    size = 40_000
    html_to_text(Counting((piece * size)[:size]), "http://h/")
    assert looked <= 10 * size
