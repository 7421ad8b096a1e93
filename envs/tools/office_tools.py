"""The tools of the office: mails, a calendar, contacts and files, as SQL over four tables."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from verigym.canonical import JSON
from verigym.envs.tools.cases.desk_tools import today
from verigym.envs.tools.people import TODAY
from verigym.envs.tools.tool import Refused, Tool, insert, one, rows, text, texts, whole
from verigym.envs.tools.world import World

ME = "me@north.example"
FOLDERS = ("inbox", "archive", "projects", "receipts", "sent")

Db = sqlite3.Connection

_MAILS = "SELECT id, folder, sender, recipient, subject, day FROM mails"
_BOUND = 40


def list_mails(db: Db, folder: str, sender: str = "", words: str = "") -> JSON:
    """Return the mails without their bodies."""
    return rows(
        db,
        f"{_MAILS} WHERE folder = ? AND instr(lower(sender), lower(?)) "
        f"AND instr(lower(subject || ' ' || body), lower(?)) ORDER BY id LIMIT {_BOUND}",
        *(folder, sender, words),
    )


def read_mail(db: Db, mail: int) -> JSON:
    """Return a mail with its body."""
    return _mail(db, mail)


def send_mail(db: Db, to: str, subject: str, body: str, day: str = TODAY) -> JSON:
    """Send a mail, which is kept in the folder `sent`."""
    if to.count("@") != 1:
        raise Refused(f"to must be one mail address, got {to[:60]!a}")
    number = insert(
        db,
        "mails",
        folder="sent",
        sender=ME,
        recipient=to,
        subject=subject,
        day=day,
        body=body,
    )
    return {"sent": number}


def move_mail(db: Db, mail: int, folder: str) -> JSON:
    """Move a mail into another folder."""
    _mail(db, mail)
    db.execute("UPDATE mails SET folder = ? WHERE id = ?", (folder, mail))
    return {"moved": mail, "to": folder}


def delete_mail(db: Db, mail: int) -> JSON:
    """Delete a mail."""
    _mail(db, mail)
    db.execute("DELETE FROM mails WHERE id = ?", (mail,))
    return {"deleted": mail}


def empty_folder(db: Db, folder: str) -> JSON:
    """Delete all mails of a folder."""
    return {"deleted": db.execute("DELETE FROM mails WHERE folder = ?", (folder,)).rowcount}


def archive_sender(db: Db, sender: str) -> JSON:
    """Archive every mail of a sender, whatever its folder."""
    found = db.execute("UPDATE mails SET folder = 'archive' WHERE sender = ?", (sender,))
    return {"moved": found.rowcount}


def list_events(db: Db, day: str = "", words: str = "") -> JSON:
    """Return the events of a day, or all events."""
    return rows(
        db,
        "SELECT * FROM events WHERE (? = '' OR day = ?) AND instr(lower(title), lower(?)) "
        f"ORDER BY day, start, id LIMIT {_BOUND}",
        *(day, day, words),
    )


def create_event(db: Db, title: str, day: str, start: str, end: str, guests: list[str]) -> JSON:
    """Create an event; its guests are kept sorted."""
    _check_times(day, start, end)
    number = insert(
        db,
        "events",
        title=title,
        day=day,
        start=start,
        finish=end,
        guests=_joined(guests),
    )
    return {"created": number}


def move_event(db: Db, event: int, day: str, start: str, end: str) -> JSON:
    """Move an event to another time."""
    _event(db, event)
    _check_times(day, start, end)
    db.execute(
        "UPDATE events SET day = ?, start = ?, finish = ? WHERE id = ?", (day, start, end, event)
    )
    return {"moved": event}


def cancel_event(db: Db, event: int) -> JSON:
    """Cancel an event without a message to its guests."""
    _event(db, event)
    db.execute("DELETE FROM events WHERE id = ?", (event,))
    return {"cancelled": event}


def clear_day(db: Db, day: str) -> JSON:
    """Delete every event of a day."""
    return {"cancelled": db.execute("DELETE FROM events WHERE day = ?", (day,)).rowcount}


def find_contacts(db: Db, words: str = "") -> JSON:
    """Find contacts by any part of name, address or firm."""
    return rows(
        db,
        "SELECT * FROM contacts WHERE instr(lower(name || ' ' || email || ' ' || firm), lower(?)) "
        f"ORDER BY id LIMIT {_BOUND}",
        words,
    )


def update_contact(db: Db, contact: int, phone: str = "", email: str = "", firm: str = "") -> JSON:
    """Update the fields that are given."""
    one(db, f"there is no contact {contact}", "SELECT id FROM contacts WHERE id = ?", contact)
    given = {"phone": phone, "email": email, "firm": firm}
    for column, value in given.items():
        if value:
            db.execute(f"UPDATE contacts SET {column} = ? WHERE id = ?", (value, contact))
    return {"updated": contact}


def delete_contact(db: Db, contact: int) -> JSON:
    """Delete a contact."""
    one(db, f"there is no contact {contact}", "SELECT id FROM contacts WHERE id = ?", contact)
    db.execute("DELETE FROM contacts WHERE id = ?", (contact,))
    return {"deleted": contact}


def list_files(db: Db, folder: str = "/") -> JSON:
    """Return the files without their contents."""
    return rows(
        db,
        "SELECT path, kilobytes, changed, shared FROM files WHERE substr(path, 1, length(?)) = ? "
        f"ORDER BY path LIMIT {_BOUND}",
        *(folder, folder),
    )


def read_file(db: Db, path: str) -> JSON:
    """Return a file with its content."""
    return _file(db, path)


def write_file(db: Db, path: str, content: str, day: str = TODAY) -> JSON:
    """Create a file, or replace its content."""
    if not path.startswith("/"):
        raise Refused(f"path must begin with /, got {path[:60]!a}")
    size = 1 + len(content) // 1024
    if rows(db, "SELECT id FROM files WHERE path = ?", path):
        db.execute(
            "UPDATE files SET content = ?, kilobytes = ?, changed = ? WHERE path = ?",
            (content, size, day, path),
        )
    else:
        insert(
            db,
            "files",
            path=path,
            kilobytes=size,
            changed=day,
            shared="",
            content=content,
        )
    return {"written": path}


def delete_file(db: Db, path: str) -> JSON:
    """Delete a file."""
    _file(db, path)
    db.execute("DELETE FROM files WHERE path = ?", (path,))
    return {"deleted": path}


def move_file(db: Db, path: str, to: str) -> JSON:
    """Move a file; nothing is overwritten."""
    _file(db, path)
    if not to.startswith("/"):
        raise Refused(f"to must begin with /, got {to[:60]!a}")
    if rows(db, "SELECT id FROM files WHERE path = ?", to):
        raise Refused(f"there is a file {to[:60]!a} already")
    db.execute("UPDATE files SET path = ? WHERE path = ?", (to, path))
    return {"moved": path, "to": to}


def share_file(db: Db, path: str, email: str) -> JSON:
    """Share a file with one more person."""
    found = _file(db, path)
    shared = _joined([*filter(None, found["shared"].split(", ")), email])
    db.execute("UPDATE files SET shared = ? WHERE path = ?", (shared, path))
    return {"path": path, "shared": shared}


def share_folder(db: Db, folder: str, email: str) -> JSON:
    """Share every file of a folder."""
    found = rows(db, "SELECT path FROM files WHERE substr(path, 1, length(?)) = ?", folder, folder)
    for file in found:
        share_file(db, file["path"], email)
    return {"shared": len(found)}


def _mail(db: Db, mail: int) -> dict[str, JSON]:
    return one(db, f"there is no mail {mail}", "SELECT * FROM mails WHERE id = ?", mail)


def _event(db: Db, event: int) -> dict[str, JSON]:
    return one(db, f"there is no event {event}", "SELECT * FROM events WHERE id = ?", event)


def _file(db: Db, path: str) -> dict[str, str]:
    return one(db, f"there is no file {path[:60]!a}", "SELECT * FROM files WHERE path = ?", path)


def _joined(names: list[str]) -> str:
    return ", ".join(sorted({name.strip() for name in names}))


def _check_times(day: str, start: str, end: str) -> None:
    if len(day) != 10 or not day.startswith("2026-"):
        raise Refused(f"day must be like 2026-03-02, got {day[:20]!a}")
    for name, time in (("start", start), ("end", end)):
        hours, colon, minutes = time.partition(":")
        if not (colon and len(time) == 5 and (hours + minutes).isdecimal() and time < "24:00"):
            raise Refused(f"{name} must be like 09:30, got {time[:20]!a}")
    if end <= start:
        raise Refused(f"end must be after start, got {start} to {end}")


_FOLDER = text("Which folder.", *FOLDERS)
_MAIL = {"mail": whole("Its id.")}
_EVENT = {"event": whole("Its id.")}
_PATH = {"path": text("Its full path.")}
_WHEN = {
    "day": text("A date, like 2026-03-02."),
    "start": text("A time, like 09:00."),
    "end": text("A time, like 10:00."),
}
_WORDS = text("Only those that hold this text.")
_EMAIL = text("A mail address.")
_M, _E, _C, _F = ("mails",), ("events",), ("contacts",), ("files",)

_TOOLS = (
    Tool(
        "list_mails",
        "List the mails of a folder, without their bodies.",
        {"folder": _FOLDER, "sender": text("Only those whose sender holds this."), "words": _WORDS},
        *(list_mails, _M, (), frozenset({"sender", "words"})),
    ),
    Tool("read_mail", "Read a mail.", _MAIL, read_mail, _M),
    Tool(
        "send_mail",
        "Send a mail to one address.",
        {"to": _EMAIL, "subject": text("Its subject."), "body": text("Its text.")},
        *(send_mail, _M, _M),
    ),
    Tool("move_mail", "Move a mail to a folder.", {**_MAIL, "folder": _FOLDER}, move_mail, _M, _M),
    Tool("delete_mail", "Delete a mail for good.", _MAIL, delete_mail, _M, _M),
    Tool(
        "empty_folder", "Delete all mails of a folder.", {"folder": _FOLDER}, empty_folder, _M, _M
    ),
    Tool(
        "archive_sender",
        "Move all mails of a sender, from every folder, to the archive.",
        {"sender": _EMAIL},
        *(archive_sender, _M, _M),
    ),
    Tool(
        "list_events",
        "List the events of a day, or all.",
        {"day": _WHEN["day"], "words": _WORDS},
        *(list_events, _E, (), frozenset({"day", "words"})),
    ),
    Tool(
        "create_event",
        "Put an event into the calendar; nobody is told.",
        {"title": text("Its title."), **_WHEN, "guests": texts("Mail addresses of the guests.")},
        *(create_event, _E, _E),
    ),
    Tool("move_event", "Give an event another time.", {**_EVENT, **_WHEN}, move_event, _E, _E),
    Tool(
        "cancel_event",
        "Take an event off the calendar; nobody is told.",
        _EVENT,
        cancel_event,
        _E,
        _E,
    ),
    Tool("clear_day", "Cancel all events of a day.", {"day": _WHEN["day"]}, clear_day, _E, _E),
    Tool(
        "find_contacts",
        "Find contacts by a part of name, address or firm; all without it.",
        {"words": _WORDS},
        *(find_contacts, _C, (), frozenset({"words"})),
    ),
    Tool(
        "update_contact",
        "Change phone, address or firm of a contact.",
        {
            "contact": whole("Its id."),
            "phone": text("The new number."),
            "email": _EMAIL,
            "firm": text("The new firm."),
        },
        *(update_contact, _C, _C, frozenset({"phone", "email", "firm"})),
    ),
    Tool(
        "delete_contact", "Delete a contact.", {"contact": whole("Its id.")}, delete_contact, _C, _C
    ),
    Tool(
        "list_files",
        "List the files whose path begins with a folder, without their contents.",
        {"folder": text("Such as /reports/; all without it.")},
        *(list_files, _F, (), frozenset({"folder"})),
    ),
    Tool("read_file", "Read a file.", _PATH, read_file, _F),
    Tool(
        "write_file",
        "Write a file, new or over the old one.",
        {**_PATH, "content": text("All of its text.")},
        *(write_file, _F, _F),
    ),
    Tool("delete_file", "Delete a file for good.", _PATH, delete_file, _F, _F),
    Tool(
        "move_file",
        "Move or rename a file.",
        {**_PATH, "to": text("Its new path.")},
        move_file,
        _F,
        _F,
    ),
    Tool(
        "share_file",
        "Share a file with one more person.",
        {**_PATH, "email": _EMAIL},
        share_file,
        _F,
        _F,
    ),
    Tool(
        "share_folder",
        "Share every file below a folder with a person.",
        {"folder": text("Such as /reports/."), "email": _EMAIL},
        *(share_folder, _F, _F),
    ),
)


def _dated(tool: Tool) -> Tool:
    """Return the tool as it is at a desk, whose clock gives the day that it writes."""

    def run(db: Db, **arguments: JSON) -> JSON:
        return tool.run(db, day=today(db), **arguments)

    return replace(tool, run=run, tables=(*tool.tables, "clock"))


DATED = tuple(_dated(tool) for tool in _TOOLS if tool.name in ("send_mail", "write_file"))
"""Tools that write the day, as they are at a desk."""

OFFICE = World(
    "office",
    {
        "mails": ("id", "folder", "sender", "recipient", "subject", "day", "body"),
        "events": ("id", "title", "day", "start", "finish", "guests"),
        "contacts": ("id", "name", "email", "phone", "firm"),
        "files": ("id", "path", "kilobytes", "changed", "shared", "content"),
    },
    {tool.name: tool for tool in _TOOLS},
)
