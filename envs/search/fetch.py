"""Fetches a page for a policy, which chooses the address: so it is bounded, and kept off private networks.

Covers: other schemes, passwords in addresses, private, loopback, link-local, multicast and reserved addresses, also behind
redirects and names (the address that was checked is the one that is connected to), endless and slow
answers, other types than text. Does not cover: what a page says, and servers that answer to any request
from this machine's public address.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, quote, urljoin, urlsplit

MAX_BYTES = 1 << 20
MAX_REDIRECTS = 5
MAX_ADDRESS = 2000
_TYPES = ("text/html", "application/xhtml+xml", "text/plain")


@dataclass(frozen=True)
class Fetched:
    """A fetched page: the final address, the media type without parameters, and the text."""

    url: str
    type: str
    text: str


def fetch(url: str, *, timeout_s: float, allow_private: bool) -> Fetched | None:
    """Return the page at `url`, or None if it cannot be had, whatever the reason.

    `timeout_s` is for each request, redirects apart; resolving a name takes what the system's resolver
    takes.
    """
    for _ in range(MAX_REDIRECTS + 1):
        try:
            parts = urlsplit(url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            return None
        known = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        if not known or len(url) > MAX_ADDRESS:
            return None
        try:
            found = _get(parts, port, timeout_s, allow_private)
        except (OSError, http.client.HTTPException, UnicodeError, ValueError):
            # A connection that failed or was cut off, a name that is none, an answer that is no HTTP.
            return None
        if found is None:
            return None
        if isinstance(found, Fetched):
            return found
        url = urljoin(url, found).partition("#")[0]
    return None


def _get(
    parts: SplitResult, port: int, timeout_s: float, allow_private: bool
) -> Fetched | str | None:
    """Make one request: return the page, or the address of a redirect, or None."""
    host = parts.hostname or ""
    places = [place[4] for place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not places or not (allow_private or all(is_public(str(place[0])) for place in places)):
        return None
    raw = socket.create_connection((str(places[0][0]), port), timeout=timeout_s)
    # Bytes that come one by one would each be in time; the timer ends them all.
    late = threading.Event()
    timer = threading.Timer(timeout_s, _hang_up, (raw, late))
    timer.start()
    try:
        stream = raw
        if parts.scheme == "https":
            stream = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
        connection = http.client.HTTPConnection(host, port)
        connection.sock = stream
        path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
        query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
        connection.request(
            "GET",
            f"{path}?{query}" if query else path,
            headers={"User-Agent": "verigym", "Accept": ", ".join(_TYPES)},
        )
        response = connection.getresponse()
        if response.status in (301, 302, 303, 307, 308):
            return response.headers.get("Location")
        kind = response.headers.get_content_type()
        if response.status != 200 or kind not in _TYPES:
            return None
        body = response.read(MAX_BYTES)
        if late.is_set():  # then it ended because we hung up
            return None
        charset = response.headers.get_content_charset() or "utf-8"
        try:
            text = body.decode(charset, "replace")
        except LookupError:
            text = body.decode("utf-8", "replace")
        return Fetched(parts.geturl(), kind, text)
    finally:
        timer.cancel()
        timer.join()
        raw.close()


def is_public(address: str) -> bool:
    """Return True if an IP address is one of the public internet."""
    ip = ip_address(address.partition("%")[0])
    mapped = getattr(ip, "ipv4_mapped", None)
    ip = mapped if mapped is not None else ip
    return ip.is_global and not ip.is_multicast


def _hang_up(raw: socket.socket, late: threading.Event) -> None:
    late.set()
    try:
        raw.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended already
